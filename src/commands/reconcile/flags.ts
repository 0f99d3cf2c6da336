/** The flags of `paylink reconcile`, in the order in which its help shows them. */
import { parseCurrency } from "../../domain/money.ts";
import { flag, lines, repeatable, toggle } from "../command.ts";
import { parseEnd, parsePast } from "../flag-values.ts";
import {
  booksMapFlag,
  csvFlag,
  eventStoreFlag as db,
  headerLineFlag,
  parseOnly,
  quietFlag,
  serviceKeyFlag,
  terminalFlag,
  timeoutFlag,
} from "../shared-flags.ts";

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
    parseOnly,
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
