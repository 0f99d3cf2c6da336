/** `paylink check`: its help, and what runs it. */
import { LISTENER_URL } from "../../domain/addresses.ts";
import { command } from "../command.ts";
import { checkLocal } from "../shared-flags.ts";
import { checkArguments, checkFlags } from "./flags.ts";

export const check = command({
  examples: [
    `paylink check ${LISTENER_URL}`,
    `paylink check ${LISTENER_URL} --junit webhooks.xml`,
    `paylink check ${LISTENER_URL} --cover "@method @target-uri content-digest"`,
  ],
  notes:
    "Signatures cover header fields only, as those of the real service do. Derived components (@method, @target-uri) are tried too: an endpoint that refuses them gets a warning, unless --cover names them.",
  arguments: checkArguments,
  flags: checkFlags,
  consequence: "Nothing was checked.",
  check: ({ url, allowRemote }, usage) => checkLocal("<url>", url, allowRemote, usage),
  run: async (context, values) => (await import("./check.ts")).checkEndpoint(context, values),
});
