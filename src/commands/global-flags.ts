/** Checks the flags that every command takes, before the command runs. */
import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { parseProfileName } from "../settings/profile-names.ts";
import { createFlagReader } from "./flag-reader.ts";

/** Flags that choose what people see: with `--json` they would have no effect. */
const TEXT_FLAGS = ["quiet", "qr", "compact", "tap"] as const;

/** Throws `usage`. */
export function checkGlobalFlags(
  command: CommandUnknownOpts,
  { out, profile, env }: Pick<Context, "out" | "profile" | "env">,
): void {
  const reader = createFlagReader();
  reader.read("--profile", profile, parseProfileName);
  reader.read("PAYLINK_PROFILE", env["PAYLINK_PROFILE"] || undefined, parseProfileName);
  const flags: Readonly<Record<string, unknown>> = command.opts();
  for (const name of TEXT_FLAGS) reader.exclude(`--${name}`, flags[name], { "--json": out.json });
  reader.finish("Nothing was done.");
}
