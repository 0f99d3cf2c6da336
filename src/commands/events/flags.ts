/** The flags of `paylink events` and its subcommands. */
import { collect, oneOf, type FlagsOf, type NewCommand } from "../declare.ts";

export const databaseFlag = (command: NewCommand) =>
  command.option(
    "--db <file or URL>",
    "where events are kept: a file or postgres://… (default: in paylink's data folder)",
  );

export const filterFlags = (command: NewCommand) =>
  databaseFlag(command)
    .addOption(
      oneOf("--outcome <outcome>", "only payments with this outcome", [
        "approved",
        "declined",
        "cancelled",
        "unclear",
      ]),
    )
    .option("--reference <text>", "only records whose reference contains this text")
    .option("--since <when>", "received at or after this time: ISO 8601, or a time ago (2h, 7d)")
    .option("--until <when>", "received before this time")
    .option("--limit <count>", "at most this many, the newest ones");

export const listFlags = (command: NewCommand) =>
  filterFlags(command)
    .option("--failed", "only those that listen --ack stored could not forward")
    .option("--rejected", "list rejected webhooks instead")
    .option("-q, --quiet", "print only the utis (for rejected webhooks, the ids)");

export const replayFlags = (command: NewCommand) =>
  filterFlags(command)
    .option("--all", "every event that passes the filter, in order of arrival")
    .option("--failed", "with --all: only those that listen --ack stored could not forward")
    .option(
      "--to <target>",
      "your application: 3000, 3000/hook, /hook or a URL; repeatable for single outcomes: declined=3001/failed",
      collect,
    )
    .option("--insecure", "accept a self-signed certificate from the target");

export const pruneFlags = (command: NewCommand) =>
  databaseFlag(command).requiredOption(
    "--before <when>",
    "delete what was received before this time: ISO 8601, or a time ago (30d)",
  );

export type FilterFlags = FlagsOf<typeof filterFlags>;
export type ListFlags = FlagsOf<typeof listFlags>;
export type ReplayFlags = FlagsOf<typeof replayFlags>;
export type PruneFlags = FlagsOf<typeof pruneFlags>;
