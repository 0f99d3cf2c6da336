/** `paylink bulk`: its argument and help, and what runs it. */
import { type Mapping, parseMapping, standingMappings } from "../../lists/columns.ts";
import type { CurrencyEvidence } from "../../lists/currencies.ts";
import { AGAIN } from "../../bulk/plan.ts";
import type { BuildRequest } from "../../bulk/row.ts";
import { canonicalAddress } from "../../values/addresses.ts";
import { memberAt, type JsonNumber } from "../../values/json.ts";
import { accepted, refused, type Parsed } from "../../values/parse-result.ts";
import type { Context } from "../../context.ts";
import {
  flag,
  group,
  oneOf,
  repeatable,
  toggle,
  type ReadValues,
  type Usage,
  type ValuesOf,
  argument,
  command,
  text,
} from "../command.ts";
import { parseCount, parseLookBack, parseRate, parseTimeout } from "../flag-values.ts";
import { requestFlags, reusableNeeded } from "../request-flags.ts";
import { headerLineFlag, parseOnlyLater } from "../shared-flags.ts";

const MAX_CONCURRENCY = 256;

export const bulkFlags = {
  ...requestFlags,
  ...group("The list:", {
    map: repeatable(
      "--map <column=field>",
      "send this column as the field, or leave it out (Colour=); repeatable",
      parseMapping,
      { example: "Invoice=invoiceId" },
    ),
    only: repeatable(
      "--only <column=value>",
      "send only the rows that have this value in the column; repeatable",
      parseOnlyLater,
      { example: "Status=Open" },
    ),
    headerLine: headerLineFlag,
    decimalComma: toggle("--decimal-comma", "read the list's amounts as 10,50 and 1.234,50"),
    allowDuplicates: toggle(
      "--allow-duplicates",
      "send rows even if they repeat another row or its order number (also in another spelling), each of them once",
    ),
  }),
  ...group("The run:", {
    output: flag(
      "-o, --output <file>",
      "write the results to this .csv or .jsonl file; - for stdout (default: beside the input)",
      parseOutput,
      { example: "links.csv" },
    ),
    force: toggle("--force", "overwrite a results file that paylink did not write"),
    concurrency: flag("--concurrency <n>", "requests at the same time", parseCount(1, MAX_CONCURRENCY), {
      default: "8",
    }),
    rate: flag("--rate <n/s>", "at most this many requests per second", parseRate, { example: "20" }),
    timeout: {
      ...flag(
        "--timeout <duration>",
        "how long the command may take (default: until all is sent)",
        parseTimeout,
        {
          example: "10m",
        },
      ),
      // A row whose request is cut short may or may not have a link.
      limits: (timeLimit: Context["timeLimit"], milliseconds: number) =>
        timeLimit.stopAfter(milliseconds, "The results have what was sent."),
    },
    dryRun: toggle("--dry-run", "check every row, show what would be sent, and send nothing"),
    skipInvalid: toggle("--skip-invalid", "send the valid rows even if others are invalid"),
    lookBack: flag(
      "--look-back <duration>",
      "how old links of the service may be that count as sent; 0 to ask for known links alone",
      parseLookBack,
      { default: "90d" },
    ),
    again: flag(
      "--again <which>",
      "send rows once more: unknown, ended (cancelled, or expired unpaid), expired, changed (the earlier links are cancelled first) or all",
      oneOf(AGAIN),
    ),
  }),
};

interface BulkValues extends ValuesOf<typeof bulkFlags> {
  readonly file: string;
}

function parseOutput(path: string): Parsed<string> {
  return /^-$|\.(?:csv|jsonl|ndjson)$/i.test(path)
    ? accepted(path)
    : refused("must end in .csv or .jsonl, or be - for stdout");
}

export interface BulkOptions extends BulkValues {
  /** Completes the rows with flags, base file and settings. */
  readonly build: BuildRequest;
  /** What a flag, or the base request, says of the currency. */
  readonly currencyEvidence: CurrencyEvidence | undefined;
  /** What the setting `columns` says of the list's columns. */
  readonly columns: readonly Mapping[];
  /** The field that nothing but the account fills, so that it says nothing of what a row asks for. */
  readonly accountFields: ReadonlySet<string>;
  /** The base URL of the service, in its canonical spelling; undefined without an account, which only checks the rows. */
  readonly service: string | undefined;
}

/** Throws `no_profile` if a list is to be sent and there is no account. */
export async function bulkOptions(
  { all: values, ifRead }: ReadValues<BulkValues>,
  { problems }: Usage,
  context: Context,
): Promise<BulkOptions | undefined> {
  const [
    { parseAmount, COMMA_ADVICE },
    { noAccount },
    { readBaseRequest },
    { requestBuilder },
    { meantByFloat, ungrouped },
  ] = await Promise.all([
    import("../../domain/money.ts"),
    import("../../service/open-client.ts"),
    import("../../service/base-request.ts"),
    import("../../service/request.ts"),
    import("../../lists/amounts.ts"),
  ]);
  ifRead(["map"], ({ map }) => {
    for (const [place, { name }] of map.entries())
      if (map.findIndex((other) => other.name === name) < place)
        problems.push({ at: "--map", message: `names the column ${name} twice` });
  });
  const base = await ifRead(["from", "file"], async ({ from, file }) => {
    const isStdinTaken = from === "-" && file === "-";
    if (isStdinTaken) problems.push({ at: "--from", message: "must be a file if the rows come from stdin" });
    return from === undefined || isStdinTaken ? undefined : readBaseRequest(from, context.readFile);
  });
  problems.push(...(base?.problems ?? []));
  for (const { at, message } of base?.warnings ?? []) context.out.warn(`${at} ${message}`);
  ifRead(["output"], ({ output }) => {
    if (output === "-" && context.out.json)
      problems.push({
        at: "--output",
        message: "must be a file with --json, which prints every row on stdout",
      });
  });
  if (values === undefined) return undefined;
  const settings = await context.settings();
  const address = settings.get("baseUrl");
  const { decimalComma, dryRun } = values;
  if (address === undefined && !dryRun && problems.length === 0) throw noAccount();
  const amountFrom = (text: string): Parsed<JsonNumber> => {
    const mark = decimalComma ? "," : ".";
    const amount = parseAmount(ungrouped(text, mark), mark);
    const meant = amount.ok ? meantByFloat(amount.value.value, undefined) : undefined;
    if (meant !== undefined)
      return refused(`has the decimals that a program with binary numbers adds to ${meant}: write ${meant}`);
    // Only the flag says what a comma means.
    return amount.ok || decimalComma || !text.includes(",") ? amount : refused(COMMA_ADVICE);
  };
  const build = requestBuilder({ flags: values, base: base?.value, settings, amountFrom });
  const currency = values.currency ?? memberAt(base?.value, "currency");
  return {
    ...values,
    columns: standingMappings(settings.get("columns")),
    build,
    currencyEvidence:
      typeof currency === "string"
        ? {
            of: values.currency === undefined ? "--from" : "--currency",
            spelled: currency,
            currencies: [currency.trim().toUpperCase()],
          }
        : undefined,
    accountFields: new Set(
      (values.customerName ?? memberAt(base?.value, "customerName")) === undefined ? ["customerName"] : [],
    ),
    service: address === undefined ? undefined : canonicalAddress(address),
  };
}

export default command({
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

A list that says what became of its rows is believed: rows whose state, balance or paid amount (Status, Balance, Amount Due, Paid, Offen, as accounting programs call them) says paid, refunded, void, a draft or nothing due stop the run, until --only "Status=Open" chooses others, or --map "Status=" leaves the column out. Rows that were not chosen are skipped in the results. Lines above the header are left out with --header-line. For a list of every month, store what its columns are: paylink config set columns "Invoice No.=invoiceId,Total=amount,Status="

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
