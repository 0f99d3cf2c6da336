/** `paylink trigger`: its help, the rules between its flags, and what runs it. */
import { TAMPERING_NAMES } from "../../sender/tampering-names.ts";
import { SAMPLE_OUTCOMES } from "../../domain/outcome.ts";
import {
  argument,
  flag,
  group,
  oneOf,
  repeatable,
  text,
  toggle,
  command,
  excludes,
  needs,
} from "../command.ts";
import { parseCount, parseCover, parseTarget } from "../flag-values.ts";
import { eventStoreFlag, quietFlag, signingKeyFlag, timeoutFlag } from "../shared-flags.ts";

const MAX_COUNT = 9_999_999;

export const triggerFlags = {
  ...group("Endpoint:", {
    to: flag(
      "--to <target>",
      "3000, 3000/hook, localhost:3000/hook, /hook or a URL (default: where listen listens)",
      parseTarget,
      { example: "3000" },
    ),
    signWith: signingKeyFlag,
    allowRemote: toggle("--allow-remote", "post to another machine"),
  }),
  ...group("A stored event:", {
    from: flag(
      "--from <event>",
      "take the record of a stored event, named by its uti, id or order number, in place of a sample",
      text,
      { example: "$(paylink events list --limit 1 --quiet)" },
    ),
    sameUti: toggle("--same-uti", "keep its uti, as in a webhook that is delivered again"),
    db: eventStoreFlag,
  }),
  ...group("Payment:", {
    link: flag("--link <kind>", "the link that was paid", oneOf(["one-time", "reusable", "subscription"]), {
      default: "one-time",
    }),
    amount: flag(
      "--amount <decimal>",
      "the amount (default: 10, or 0 for a subscription; with --from, the event's)",
      async (typed) => (await import("../../domain/money.ts")).parseAmount(typed),
      { example: "12.50" },
    ),
    currency: flag(
      "--currency <code>",
      "the currency (default: EUR; with --from, the event's)",
      async (typed) => (await import("../../domain/money.ts")).parseCurrency(typed),
      { example: "EUR" },
    ),
    reference: flag(
      "--reference <text>",
      "the order number; the reference of a reusable link begins with it",
      text,
      { example: "DONATION" },
    ),
    set: repeatable(
      "--set <field=value>",
      "any field of the record; repeatable",
      Object.assign(async (typed: string) => (await import("./record-field.ts")).parseField(typed), {
        takes: "lines",
      } as const),
      { example: "cardScheme=MASTERCARD" },
    ),
  }),
  ...group("Sending:", {
    count: flag("--count <n>", "how many webhooks, each for a different payment", parseCount(1, MAX_COUNT), {
      default: "1",
    }),
    tamper: flag(
      "--tamper <kind>",
      "tamper with it, so that it must be refused; the kinds are below",
      oneOf(Object.values(TAMPERING_NAMES).flat()),
      { example: "body" },
    ),
    cover: flag(
      "--cover <components>",
      "the header fields and derived components to sign (default: content-digest content-length content-type)",
      parseCover,
      { example: '"content-digest @method"' },
    ),
    created: toggle("--no-created", "leave created out of the signature"),
    timeout: timeoutFlag(
      "10s for each webhook",
      "Not every webhook was sent and answered; the last one may have arrived.",
    ),
    dryRun: toggle("--dry-run", "print the exact bytes and send nothing"),
    quiet: quietFlag("the uti of each webhook that was answered"),
  }),
};

export const triggerArguments = {
  outcome: argument(
    "[outcome]",
    "the result of the payment (default with --from: the event's own)",
    oneOf(SAMPLE_OUTCOMES),
  ),
};

const TAMPER_KINDS = Object.entries(TAMPERING_NAMES).map(
  ([part, names]) => `  ${part.padEnd(11)}${names.join(", ")}`,
);

const EXITS = `
Exit code 4: the endpoint refused a well-formed webhook. Exit code 7: it accepted a tampered one.`;

export default command({
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
