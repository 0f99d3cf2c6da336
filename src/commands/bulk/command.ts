/** `paylink bulk`: its argument and help, and what runs it. */
import { argument, command, excludes, text } from "../command.ts";
import { reusableNeeded } from "../request-flags.ts";
import { bulkFlags, bulkOptions } from "./flags.ts";

export const bulk = command({
  summary: "create one payment link per row of a spreadsheet, each exactly once",
  examples: [
    `printf 'amount,customerName\\n10,Ada\\n20,Bob\\n' | paylink bulk - --currency EUR`,
    `printf 'amount\\n10\\n20\\n' > orders.csv && paylink bulk orders.csv --rate 20`,
    `echo '{"amount": 10, "customerName": "Ada"}' | paylink bulk - --dry-run`,
  ],
  notes: `Headers are field names, in any case: amount, currency, customerName, invoiceId, expirationDate, …;
nested ones with dots: linkOptions.mode, paymentSettings.callbackUrl, customerDetails.email.
Every flag above is the default for rows that leave its field empty. Other columns are copied to the results
and not sent; a column that means a field (Invoice, customer, E-mail) is an error until it has the field's name
or a --map. On a terminal, the list is shown and confirmed before it is sent; --yes skips that, and nothing is asked
about a list from stdin. A date with points has its day first (03.04.2026 is 3 April), and ends that day, local time.
A row that was sent once, from any list, is sent again only with --again. A row of unknown outcome is sent again by the next run if the service recognises keys:
paylink config set idempotencyHeader <header>.`,
  arguments: {
    file: argument("<file>", "CSV with the request's fields as headers, or JSON lines; - for stdin", text, {
      example: "orders.csv",
    }),
  },
  flags: bulkFlags,
  rules: [reusableNeeded, excludes(["again"], ["newRows"])],
  consequence: "Nothing was sent.",
  prepare: bulkOptions,
  run: async (context, options) => (await import("./bulk.ts")).bulk(context, options),
});
