/** The flags of `paylink links` and its subcommands. */
import { oneOf, type FlagsOf, type NewCommand } from "../declare.ts";

const STATUSES = ["active", "viewed", "attempted", "paid", "expired", "cancelled"];

/** The default of `--since`. */
export const SINCE = "7d";

export const timeoutFlag = (command: NewCommand) =>
  command.option("--timeout <duration>", "how long the command may take (default: 30s for each request)");

export const linkFlags = (command: NewCommand) =>
  timeoutFlag(command).option("-q, --quiet", "print only the URL of each link");

export const listFlags = (command: NewCommand) =>
  linkFlags(command)
    .addOption(oneOf("--status <status>", "only links with this status", STATUSES))
    .option(
      "--since <when>",
      `created at or after this time: ISO 8601, or a time ago (2h, 30d) (default: ${SINCE})`,
    )
    .option("--until <when>", "created before this time")
    .option("--limit <count>", "at most this many, the newest ones")
    .option("--terminal-id <id>", "list the links of this terminal (default: the account's)");

export const updateFlags = (command: NewCommand) =>
  linkFlags(command)
    .option("--description <text>", "what the customer reads about the payment")
    .option("--expires <when>", "when it expires: ISO 8601, or a time from now (36h, 7d)");

export type TimeoutFlags = FlagsOf<typeof timeoutFlag>;
export type LinkFlags = FlagsOf<typeof linkFlags>;
export type ListFlags = FlagsOf<typeof listFlags>;
export type UpdateFlags = FlagsOf<typeof updateFlags>;
