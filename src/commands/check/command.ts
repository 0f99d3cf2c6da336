/** `paylink check`: its help, and what runs it. */
import { LISTENER_URL } from "../../domain/own-addresses.ts";
import { command } from "../command.ts";
import { checkLocal } from "../shared-flags.ts";
import { checkArguments, checkFlags } from "./flags.ts";

const CHECK_NOTES = [
  "Signatures cover header fields only, as those of the real service do. Derived components (@method, @target-uri) are tried too: an endpoint that refuses them gets a warning, unless --cover names them.",
  "With --books, each payment that the endpoint accepted must be booked exactly once, with its amount. Copies, declined payments and forged ones must not be booked. Other bookings are ignored. An application that books only orders that it knows needs --orders: besides its payment, each order also gets payments of another amount and currency and a second payment, which must not be booked.",
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
