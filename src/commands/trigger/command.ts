/** `paylink trigger`: its flags and help. */
import { Argument, Option } from "commander";
import { TAMPERING_NAMES } from "../../webhooks/tampering-names.ts";
import { collect, examples, oneOf, type Register } from "../declare.ts";

export interface TriggerFlags {
  readonly to?: string;
  readonly key?: string;
  readonly link: "one-time" | "reusable" | "subscription";
  readonly amount?: string;
  readonly currency?: string;
  readonly reference?: string;
  readonly set?: readonly string[];
  readonly count: string;
  readonly times: string;
  readonly rate?: string;
  readonly tamper?: string;
  readonly dryRun?: boolean;
  readonly allowRemote?: boolean;
}

export const registerTrigger: Register = (program, start) => {
  const command = program
    .command("trigger")
    .addArgument(
      new Argument("<outcome>", "what became of the payment").choices(["approved", "declined", "cancelled"]),
    )
    .description("post a well-formed, signed sample webhook to an endpoint on this machine")
    .optionsGroup("Where, and by whom:")
    .option("--to <url>", "the endpoint (default: where listen listens)")
    .option("--key <private key>", "the file of the key to sign with (default: the sandbox's)")
    .option("--allow-remote", "post to another machine")
    .optionsGroup("What it reports:")
    .addOption(
      new Option("--link <kind>", "the link that was paid")
        .choices(["one-time", "reusable", "subscription"])
        .default("one-time"),
    )
    .option("--amount <decimal>", "the amount (default: 10, or 0 for a subscription)")
    .option("--currency <code>", "the currency (default: EUR)")
    .option("--reference <text>", "the merchant's order number; the base of a reusable link's")
    .option("--set <field=value>", "any field of the record; repeatable", collect)
    .optionsGroup("How:")
    .option("--count <n>", "so many webhooks, each another payment", "1")
    .option("--times <n>", "each one so often, the same bytes again", "1")
    .option("--rate <n/s>", "at most so many a second")
    .addOption(
      oneOf(
        "--tamper <kind>",
        "tamper with it, so that it must be rejected; the kinds are below",
        Object.values(TAMPERING_NAMES).flat(),
      ),
    )
    .option("--dry-run", "print the exact bytes and send nothing")
    .action(async (outcome: "approved" | "declined" | "cancelled", flags: TriggerFlags) => {
      const { trigger } = await import("./trigger.ts");
      await trigger(await start(command), outcome, flags);
    });
  command.addHelpText("after", `\nKinds of --tamper, by what they change:\n${KINDS.join("\n")}`);
  examples(command, [
    "paylink trigger approved",
    "paylink trigger declined --amount 12.50 --link reusable --reference DONATION",
    "paylink trigger approved --tamper body",
    "paylink trigger approved --count 3 --times 2 --set cardScheme=MASTERCARD",
  ]);
};

const KINDS = Object.entries(TAMPERING_NAMES).map(
  ([what, names]) => `  ${what.padEnd(11)}${names.join(", ")}`,
);
