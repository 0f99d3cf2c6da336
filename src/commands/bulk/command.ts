/** `paylink bulk`: its argument and help, and what runs it. */
import { argument, command, text } from "../command.ts";
import { reusableNeeded } from "../request-flags.ts";
import { bulkFlags, bulkOptions } from "./flags.ts";

export const bulk = command({
  examples: [
    `printf 'amount,customerName\\n10,Ada\\n20,Bob\\n' | paylink bulk - --currency EUR`,
    `printf 'amount\\n10\\n20\\n' > orders.csv && paylink bulk orders.csv --rate 20`,
    `printf 'amount\\n10\\n20\\n' > orders.csv && paylink bulk orders.csv --again expired --yes`,
    `echo '{"amount": 10, "customerName": "Ada"}' | paylink bulk - --dry-run`,
  ],
  notes: `The headers of the CSV are field names, in any case: amount, currency, customerName, invoiceId, expirationDate, …; nested ones have dots: linkOptions.mode, paymentSettings.callbackUrl, customerDetails.email. A flag above is the default for rows that leave its field empty. Other columns are copied to the results and not sent; a column that means a field (Invoice, customer, E-mail) is an error until it has the field's name or a --map.

On a terminal, paylink shows the list and asks before it sends; with --yes, or if the list comes from stdin, it does not ask.

A row is identified by its order number; without one, by what it asks for: amount, currency, customer, description and the other fields, but not its addresses or expiry. A row that was sent is remembered for 400 days, in the event store's database if that is PostgreSQL (PAYLINK_DB), so that colleagues and CI jobs share it, else in a file of this machine; the results of an earlier run count too, beside the list or as the list. After a run was stopped or killed, or the list was renamed, sorted or extended, the same command sends the rows that were not sent, and says what became of the others.

Before anything is sent, the links of the list's order numbers are read from the service, whoever made them (--look-back): an order that has a link is not sent again. Where they cannot be read, nothing is sent.

A row whose order number was sent with another amount, currency, kind or type stops the run. --again changed cancels all its links that can still be paid, and sends it; --again unknown sends rows whose outcome is unknown and for which the service has no link; --again ended, rows whose links were cancelled or have expired; --again expired, only those whose links have expired; --again all, every row once more. All but the last leave a row whose order has another link that is paid, or can be. A row of a results file is compared with what the service says its link was created for; one whose link is that of another order stops the run. So does an order number that was sent in another spelling (005 and 5, 1001 and 1001.0), unless --allow-duplicates says that both are meant. What links list prints (--json, --csv) is a list of links that exist.

A list that says what became of its rows is believed: rows whose state, balance or paid amount (Status, Balance, Amount Due, Paid, Offen, as accounting programs call them) says paid, void, a draft or nothing due stop the run, until --only "Status=Open" chooses others, or --map "Status=" leaves the column out. Rows that were not chosen are skipped in the results. Lines above the header are left out with --header-line. For a list of every month, store what its columns are: paylink config set columns "Invoice No.=invoiceId,Total=amount,Status="

A currency that the list names, in a column, a header (Amount (GBP)) or a cell (€10), must be that of the row: where it is unclear, or --currency says another one, nothing is sent.`,
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
