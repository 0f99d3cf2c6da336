/** `paylink trigger`: its argument and help, and what runs it. */
import { Argument } from "@commander-js/extra-typings";
import { TAMPERING_NAMES } from "../../check/tampering-names.ts";
import { examples, type Declare } from "../declare.ts";
import { triggerFlags } from "./flags.ts";

export const declareTrigger: Declare = (command, execute) => {
  triggerFlags(command)
    .addArgument(
      // The options reader names a wrong outcome together with every other problem.
      new Argument("<outcome>", "the result of the payment")
        .choices(["approved", "declined", "cancelled"])
        .argParser((outcome: string) => outcome),
    )
    .action((outcome, flags) =>
      execute(command, async (context) => {
        const { triggerOptions } = await import("./options.ts");
        const { trigger } = await import("./trigger.ts");
        return trigger(context, triggerOptions(outcome, flags, await context.settings()));
      }),
    );
  command.addHelpText("after", `\nKinds of --tamper, by what they change:\n${KINDS.join("\n")}\n${EXITS}`);
  examples(command, [
    "paylink trigger approved",
    "paylink trigger declined --amount 12.50 --link reusable --reference DONATION",
    "paylink trigger approved --tamper body",
    'paylink trigger approved --cover "content-digest @method @target-uri" --no-created',
    "paylink trigger approved --count 3 --times 2 --set cardScheme=MASTERCARD",
  ]);
};

const KINDS = Object.entries(TAMPERING_NAMES).map(
  ([part, names]) => `  ${part.padEnd(11)}${names.join(", ")}`,
);

const EXITS = `
Exit code 4: the endpoint refused a well-formed webhook. Exit code 7: it accepted a tampered one.`;
