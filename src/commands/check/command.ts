/** `paylink check`: its help, and what runs it. */
import { LISTENER_URL } from "../../domain/known-services.ts";
import { argument, flag, group, text, toggle, type ValuesOf, verbatim, command } from "../command.ts";
import { parseCover, parseTarget } from "../flag-values.ts";
import { booksMapFlag, signingKeyFlag, timeoutFlag, checkLocal } from "../shared-flags.ts";

export const checkArguments = {
  url: argument(
    "<url>",
    "the webhook endpoint: 3000, 3000/hook, localhost:3000/hook, /hook or a URL",
    parseTarget,
    { example: LISTENER_URL },
  ),
};

export const checkFlags = {
  ...group("Webhooks:", {
    signWith: signingKeyFlag,
    cover: flag(
      "--cover <components>",
      "sign exactly these components, and require the endpoint to accept that",
      parseCover,
      { example: '"@method @target-uri content-digest"' },
    ),
    allowRemote: toggle("--allow-remote", "check an endpoint on another machine"),
    timeout: timeoutFlag("10s for each webhook", "Not every case was tried."),
  }),
  ...group("Books:", {
    books: flag(
      "--books <command>",
      "afterwards, run this command in the shell (at most 10s); it prints what your application has booked as paid, as CSV with a header or JSON lines: order number, amount, currency",
      verbatim,
      { example: "./booked.sh" },
    ),
    orders: flag(
      "--orders <file>",
      "pay these orders, which your application knows and waits for: order number, amount, currency",
      text,
      { example: "orders.csv" },
    ),
    map: booksMapFlag,
  }),
  ...group("Report:", {
    junit: flag("--junit <file>", "write JUnit XML to a file", text, { example: "webhooks.xml" }),
  }),
};

export type CheckOptions = ValuesOf<typeof checkArguments> & ValuesOf<typeof checkFlags>;

const CHECK_NOTES = [
  "Signatures cover header fields only, as those of the real service do. Derived components (@method, @target-uri) are tried too: an endpoint that refuses them gets a warning, unless --cover names them.",
  "Cases that pass are counted; --debug lists each. As long as no genuine webhook is accepted, its refusals prove nothing, so only the likely cause of that is shown.",
  "With --books, each payment that the endpoint accepted must be booked exactly once, with its amount. Copies, declined payments and forged ones must not be booked; a part may be booked as a part. Other bookings are ignored. An application that books only orders that it knows needs --orders: its orders also get second payments, and of four orders or more, three get a payment of another amount, of another currency or of a part alone. None of these may be booked as the order.",
  "Exit code 7: the endpoint failed. Exit code 10: what is booked is wrong.",
];

export default command({
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
