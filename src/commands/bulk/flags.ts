/** The flags of `paylink bulk`, and what a run needs of them, of the base file and of the settings. */
import { type Mapping, parseMapping, parseMappings } from "../../lists/columns.ts";
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
} from "../command.ts";
import { parseCount, parseLookBack, parseRate, parseTimeout } from "../flag-values.ts";
import { requestFlags } from "../request-flags.ts";
import { headerLineFlag, parseOnly } from "../shared-flags.ts";

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
      parseOnly,
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
    { meantByFloat },
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
    const amount = parseAmount(text, decimalComma ? "," : ".");
    const meant = amount.ok ? meantByFloat(amount.value.value, undefined) : undefined;
    if (meant !== undefined)
      return refused(`has the decimals that a program with binary numbers adds to ${meant}: write ${meant}`);
    // Only the flag says what a comma means.
    return amount.ok || decimalComma || !text.includes(",") ? amount : refused(COMMA_ADVICE);
  };
  const columns = parseMappings(settings.get("columns") ?? "");
  const build = requestBuilder({ flags: values, base: base?.value, settings, amountFrom });
  const currency = values.currency ?? memberAt(base?.value, "currency");
  return {
    ...values,
    columns: columns.ok ? columns.value : [],
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
