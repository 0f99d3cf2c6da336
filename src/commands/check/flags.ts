/** The argument and the flags of `paylink check`. */
import { LISTENER_URL } from "../../domain/known-services.ts";
import { argument, flag, group, text, toggle, type ValuesOf, verbatim } from "../command.ts";
import { parseCover, parseTarget } from "../flag-values.ts";
import { booksMapFlag, signingKeyFlag, timeoutFlag } from "../shared-flags.ts";

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
