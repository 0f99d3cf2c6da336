/** `paylink create`: its help, the rules between its flags, and what runs it. */
import { command, excludes } from "../command.ts";
import { reusableNeeded } from "../request-flags.ts";
import { createFlags } from "./flags.ts";

const OUTPUT_FLAGS = ["wait", "open", "quiet", "qr"] as const;

export const create = command({
  examples: [
    "paylink create --amount 10 --currency EUR",
    "paylink create --reusable --min-amount 5 --max-amount 500 --invoice-id DONATION",
    "paylink create --subscription --invoice-id SUB-1",
    "paylink create --amount 10 --currency EUR --wait --timeout 60s",
    "paylink create --amount 10 --currency EUR --dry-run",
  ],
  flags: createFlags,
  rules: [reusableNeeded, excludes(["dryRun"], ["curl", ...OUTPUT_FLAGS]), excludes(["curl"], OUTPUT_FLAGS)],
  consequence: "Nothing was sent.",
  prepare: async (read, usage, context) => (await import("./create.ts")).createOptions(read, usage, context),
  run: async (context, options) => (await import("./create.ts")).create(context, options),
});
