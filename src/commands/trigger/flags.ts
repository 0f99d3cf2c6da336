/** The flags of `paylink trigger`. */
import { TAMPERING_NAMES } from "../../check/tampering-names.ts";
import { collect, oneOf, type FlagsOf, type NewCommand } from "../declare.ts";

export const triggerFlags = (command: NewCommand) =>
  command
    .optionsGroup("Endpoint:")
    .option(
      "--to <target>",
      "3000, 3000/hook, localhost:3000/hook, /hook or a URL (default: where listen listens)",
    )
    .option("--key <file>", "the private key to sign with (default: the sandbox's)")
    .option("--allow-remote", "post to another machine")
    .optionsGroup("Payment:")
    .addOption(
      oneOf("--link <kind>", "the link that was paid", ["one-time", "reusable", "subscription"]).default(
        "one-time",
      ),
    )
    .option("--amount <decimal>", "the amount (default: 10, or 0 for a subscription)")
    .option("--currency <code>", "the currency (default: EUR)")
    .option("--reference <text>", "the merchant's order number; the base of a reusable link's reference")
    .option("--set <field=value>", "any field of the record; repeatable", collect)
    .optionsGroup("Sending:")
    .option("--count <n>", "how many webhooks, each for another payment", "1")
    .option("--times <n>", "how many times to send each one, with the same bytes", "1")
    .option("--rate <n/s>", "at most this many a second")
    .addOption(
      oneOf(
        "--tamper <kind>",
        "tamper with it, so that it must be refused; the kinds are below",
        Object.values(TAMPERING_NAMES).flat(),
      ),
    )
    .option(
      "--cover <components>",
      "what the signature covers (default: content-digest content-length content-type)",
    )
    .option("--no-created", "leave created out of the signature")
    .option("--dry-run", "print the exact bytes and send nothing");

export type TriggerFlags = FlagsOf<typeof triggerFlags>;
