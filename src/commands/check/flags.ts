/** The flags of `paylink check`. */
import type { FlagsOf, NewCommand } from "../declare.ts";

export const checkFlags = (command: NewCommand) =>
  command
    .optionsGroup("Webhooks:")
    .option("--key <file>", "the private key to sign with (default: the sandbox's)")
    .option("--cover <components>", "sign exactly these components, and require the endpoint to accept that")
    .option("--allow-remote", "check an endpoint on another machine")
    .optionsGroup("Report:")
    .option("--tap", "print TAP on stdout")
    .option("--junit <file>", "write JUnit XML to a file");

export type CheckFlags = FlagsOf<typeof checkFlags>;
