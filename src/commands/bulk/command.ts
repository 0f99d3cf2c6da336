/** `paylink bulk`: its argument and help, and what runs it. */
import { argument, command, text } from "../command.ts";
import { reusableNeeded } from "../request-flags.ts";
import { bulkFlags, bulkOptions } from "./flags.ts";

export const bulk = command({
  examples: [
    `printf 'amount,customerName\\n10,Ada\\n20,Bob\\n' | paylink bulk - --currency EUR`,
    `printf 'amount\\n10\\n20\\n' > orders.csv && paylink bulk orders.csv --rate 20`,
    `echo '{"amount": 10, "customerName": "Ada"}' | paylink bulk - --dry-run`,
  ],
  notes: `The headers of the CSV are field names, in any case: amount, currency, customerName, invoiceId, expirationDate, …; nested ones have dots: linkOptions.mode, paymentSettings.callbackUrl, customerDetails.email. A flag above is the default for rows that leave its field empty. Other columns are copied to the results and not sent; a column that means a field (Invoice, customer, E-mail) is an error until it has the field's name or a --map.

On a terminal, paylink shows the list and asks before it sends; with --yes, or if the list comes from stdin, it does not ask.

paylink remembers every row that it sent until the link has expired. Stopped, killed, renamed, sorted or grown: the same command sends the rows that were not sent. A row is what it asks for, with the defaults of flags and profile. A row whose order number was sent with other values stops the run; --again sends every row once more.`,
  arguments: {
    file: argument("<file>", "CSV with the request's fields as headers, or JSON lines; - for stdin", text, {
      example: "orders.csv",
    }),
  },
  flags: bulkFlags,
  rules: [reusableNeeded],
  consequence: "Nothing was sent.",
  prepare: bulkOptions,
  run: async (context, options) => (await import("./bulk.ts")).bulk(context, options),
});
