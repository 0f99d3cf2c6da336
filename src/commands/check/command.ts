/** `paylink check`: its help, and what runs it. */
import { LISTENER_URL } from "../../domain/own-addresses.ts";
import { command } from "../command.ts";
import { checkLocal } from "../shared-flags.ts";
import { checkArguments, checkFlags } from "./flags.ts";

const CHECK_NOTES = [
  "Signatures cover header fields only, as those of the real service do. Derived components (@method, @target-uri) are tried too: an endpoint that refuses them gets a warning, unless --cover names them.",
  "With --books, each payment that the endpoint accepted must be booked once, with its amount, and nothing else of what was sent: no copy that arrived at the same time, nothing declined or forged. Other bookings are left alone. An application that books only orders that it knows needs --orders: each order gets, besides its payment, others of another amount and currency, and a second one, which must not be booked.",
  "Exit code 7: the endpoint failed. Exit code 10: what is booked is wrong.",
];

export const check = command({
  examples: [
    `paylink check ${LISTENER_URL}`,
    `paylink check ${LISTENER_URL} --junit webhooks.xml`,
    `paylink check ${LISTENER_URL} --books "paylink events list --outcome approved --all --json"`,
    `paylink check ${LISTENER_URL} --cover "@method @target-uri content-digest"`,
  ],
  notes: CHECK_NOTES.join("\n\n"),
  arguments: checkArguments,
  flags: checkFlags,
  consequence: "Nothing was checked.",
  check: ({ ifRead }, usage) =>
    ifRead(["url", "allowRemote"], ({ url, allowRemote }) => checkLocal("<url>", url, allowRemote, usage)),
  run: async (context, values) => (await import("./check.ts")).checkEndpoint(context, values),
});
