/** `paylink check`: its argument and help, and what runs it. */
import { LISTENER_URL } from "../../domain/addresses.ts";
import { type Declare, examples } from "../declare.ts";
import { checkFlags } from "./flags.ts";

export const declareCheck: Declare = (command, execute) => {
  checkFlags(command)
    .argument("<url>", "the webhook endpoint")
    .action((url, flags) =>
      execute(command, async (context) => {
        const { check, checkOptions } = await import("./check.ts");
        return check(context, checkOptions(url, flags));
      }),
    );
  command.addHelpText(
    "after",
    `
Signatures cover header fields only, as those of the real service do. Derived components (@method, @target-uri)
are tried too: an endpoint that refuses them gets a warning, unless --cover names them.`,
  );
  examples(command, [
    `paylink check ${LISTENER_URL}`,
    `paylink check ${LISTENER_URL} --junit webhooks.xml`,
    `paylink check ${LISTENER_URL} --cover "@method @target-uri content-digest"`,
  ]);
};
