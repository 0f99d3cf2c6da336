/** `paylink reconcile`: its arguments, its help, and what runs it. */
import { parseCurrency } from "../../domain/money.ts";
import { flag, lines, repeatable, toggle, argument, command, excludes, type Parser } from "../command.ts";
import { parseEnd, parsePast } from "../flag-values.ts";
import {
  booksMapFlag,
  csvFlag,
  eventStoreFlag as db,
  headerLineFlag,
  parseOnlyLater,
  quietFlag,
  serviceKeyFlag,
  terminalFlag,
  timeoutFlag,
  checkPeriod,
} from "../shared-flags.ts";
import { parseWebAddress } from "../../values/addresses.ts";
import { accepted, refused } from "../../values/parse-result.ts";

export const reconcileFlags = {
  since: flag(
    "--since <when>",
    "paid at or after this time: a date, ISO 8601, or a time ago (2d) (default: 7d)",
    parsePast,
    { example: "2d" },
  ),
  until: flag("--until <when>", "paid before this time, or by the end of this day", parseEnd, {
    example: "1h",
  }),
  books: flag(
    "--books <file>",
    "what you booked as paid, CSV or JSON lines: order number, amount, currency; - for stdin",
    lines,
    { example: "booked.csv" },
  ),
  map: booksMapFlag,
  only: repeatable(
    "--only <column=value>",
    "read only the lines of the books that have this value in the column; repeatable",
    parseOnlyLater,
    { example: "Status=Paid" },
  ),
  headerLine: headerLineFlag,
  currency: flag("--currency <code>", "the currency of books that name none", parseCurrency, {
    example: "EUR",
  }),
  decimalComma: toggle("--decimal-comma", "read the amounts of the books as 10,50 and 1.234,50"),
  terminalId: terminalFlag,
  key: serviceKeyFlag,
  timeout: timeoutFlag("30s for each request", "Not everything was compared."),
  csv: csvFlag,
  quiet: quietFlag("the order numbers of what differs"),
  db,
};

/** An order number, or the id of a link, which its URL has as parameter `r`. */
const parseOrder: Parser<string> = (typed) => {
  const order = parseWebAddress(typed.trim())?.searchParams.get("r") ?? typed.trim();
  return order === "" ? refused("must be an order number, or the id or the URL of a link") : accepted(order);
};

const BOOKS = ["books", "map", "only", "headerLine", "currency", "decimalComma"] as const;

export default command({
  examples: [
    "paylink reconcile --since 2d",
    "paylink reconcile $(paylink links list --limit 1 --quiet)",
    "paylink events list --outcome approved --all --json | paylink reconcile --books -",
    "paylink reconcile --json",
  ],
  notes: `paylink reconcile compares what the service says was paid, which webhooks arrived, what your application accepted and, with --books, what you booked. It sends and changes nothing. The exit code is 0 if all agree, and 10 if not.

missed: paid, but no webhook for it arrived. refused: only a rejected webhook names its order number. undelivered: your application has not accepted it. differs: amounts or currencies disagree. twice: paid or booked more than once. payable: it is paid, and another link of it can still be paid. not booked, booked only: the books lack it, or nobody paid it. not known: nobody can say whether its webhook arrived. unmatched does not count as a difference: a payment of no known link, one from before the event store began, a part whose rest is not paid yet, a charge to a stored card, whose link itself asked for nothing, or, with --books, a payment without an order number.

Books from a database: psql -c "copy (select order_number, amount, currency from paid) to stdout csv header" | paylink reconcile --books -

Books are read by what their columns are called, in the words of accounting programs, shops and banks, and the first lines say which were read: a state decides (paid, open, void, refunded), and so do columns of what was paid, of what is due, and of money in and out. --map says it otherwise (Balance=due, Soll/Haben=sign:H), for every month with paylink config set columns. Lines without an order number are summed up apart. An order number in a text is found where it is whole; one that is nearly that of a link is a suggestion.

The lines of an order are added up. The service does not list refunds, so an order with one differs: leave refunds out of the books.

With order numbers, it shows all that happened to each: paylink reconcile INV-1`,
  arguments: {
    orders: argument(
      "[order...]",
      "show all that happened to these orders instead: order numbers, or ids or URLs of links",
      parseOrder,
      { example: "$(paylink links list --limit 1 --quiet)" },
    ),
  },
  flags: reconcileFlags,
  rules: [
    excludes(["csv"], ["quiet"]),
    excludes(
      ["since", "until", ...BOOKS, "quiet", "csv"],
      ["orders"],
      "shows all that happened to these orders",
    ),
  ],
  consequence: "Nothing was compared.",
  check: ({ ifRead }, usage, { now }) => {
    ifRead(["since", "until"], (period) => {
      checkPeriod(period, usage);
      if (period.since !== undefined && period.since > now())
        usage.problems.push({ at: "--since", message: "must be in the past" });
    });
    ifRead(BOOKS, ({ books, map, only, headerLine, currency, decimalComma }) => {
      const forBooks = [
        ["--map", map.length > 0],
        ["--only", only.length > 0],
        ["--header-line", headerLine !== undefined],
        ["--currency", currency !== undefined],
        ["--decimal-comma", decimalComma],
      ] as const;
      for (const [at, isGiven] of forBooks)
        if (isGiven && books === undefined)
          usage.problems.push({ at, message: "needs --books: it says how they are read" });
    });
  },
  run: async (context, { orders, ...values }) =>
    orders.length > 0
      ? (await import("./timeline.ts")).showTimelines(context, orders, values)
      : (await import("./reconcile.ts")).reconcileAll(context, values),
});
