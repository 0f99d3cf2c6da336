/** `paylink trigger`: its help, the rules between its flags, and what runs it. */
import { TAMPERING_NAMES } from "../../sender/tampering-names.ts";
import { command, excludes, needs } from "../command.ts";
import { triggerArguments, triggerFlags } from "./flags.ts";

const TAMPER_KINDS = Object.entries(TAMPERING_NAMES).map(
  ([part, names]) => `  ${part.padEnd(11)}${names.join(", ")}`,
);

const EXITS = `
Exit code 4: the endpoint refused a well-formed webhook. Exit code 7: it accepted a tampered one.`;

export const trigger = command({
  examples: [
    "paylink trigger approved",
    "paylink trigger declined --amount 12.50 --link reusable --reference DONATION",
    "paylink trigger approved --tamper body",
    'paylink trigger approved --cover "content-digest @method @target-uri" --no-created',
    "paylink trigger --from $(paylink events list --limit 1 --quiet) --set cardScheme=AMEX",
    "paylink trigger approved --count 3 --set cardScheme=MASTERCARD",
  ],
  notes: `Kinds of --tamper, by what they change:\n${TAMPER_KINDS.join("\n")}\n${EXITS}`,
  arguments: triggerArguments,
  flags: triggerFlags,
  rules: [
    excludes(["quiet", "timeout"], ["dryRun"], "sends nothing"),
    excludes(["link"], ["from"], "has the reference of its own link"),
    needs(["sameUti", "db"], ["from"]),
  ],
  consequence: "Nothing was sent.",
  prepare: async (read, usage, context) =>
    (await import("./trigger.ts")).triggerOptions(read, usage, context),
  run: async (context, options) => (await import("./trigger.ts")).trigger(context, options),
});
