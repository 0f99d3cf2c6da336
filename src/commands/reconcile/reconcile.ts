/** `paylink reconcile`: compares what was paid, what arrived, what was accepted and what is booked, and prints what differs. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { type CommandLine, paylink } from "../../domain/hint.ts";
import { JsonNumber, stringifyJson } from "../../values/json.ts";
import { standingMappings } from "../../lists/columns.ts";
import { sumJson } from "../../orders/order-json.ts";
import { type Books, readBooks } from "../../reconcile/books.ts";
import { type Finding, type FindingName, FINDINGS, isDifference } from "../../reconcile/findings.ts";
import { Suggestions } from "../../reconcile/near-numbers.ts";
import { compareOrders, type Counted, isDifferent, type Summary } from "../../reconcile/summary.ts";
import { renderServiceName } from "../../render/account.ts";
import { renderCommand, renderHint } from "../../render/hint.ts";
import { fitLines, formatLocal, wrap } from "../../render/layout.ts";
import {
  booksRemarks,
  callbackText,
  differencesText,
  findingText,
  hasNoWebhook,
  headingText,
  nextStep,
  suggestionText,
  NOTHING_RECEIVED,
  reusableText,
  summaryText,
} from "../../render/reconcile.ts";
import { csvRecord } from "../../render/csv-listing.ts";
import { safeText } from "../../render/safe-text.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import type { ValuesOf } from "../command.ts";
import { openOrderSources } from "../order-sources.ts";
import { collectSides, type Collected } from "./collect.ts";
import type { reconcileFlags } from "./command.ts";
import { DEFAULT_PERIOD } from "../shared-flags.ts";

type ReconcileValues = ValuesOf<typeof reconcileFlags>;

/** Throws `records_differ` after everything is printed. */
export async function reconcileAll(context: Context, values: ReconcileValues): Promise<number> {
  const { out, now } = context;
  const since = values.since ?? new Date(now().getTime() - DEFAULT_PERIOD);
  const books = await booksOf(context, values);
  const sources = await openOrderSources(context, values);
  const collected = await collectSides(sources, { since, until: values.until }, books?.lines);
  if (collected.keysOfAll.size > 1)
    out.warn(
      `No webhook key is configured, so what any key has verified counts as arrived: this event store has webhooks of ${collected.keysOfAll.size} keys. Name those of this account with --key.`,
    );
  const callback = callbackText(sources.settings.get("callbackUrl"));
  const found: Finding[] = [];
  const { orders } = collected;
  const words: FindingWords = {
    callback,
    suggestions: new Suggestions(
      books === undefined ? [] : orders.bookedAlone(),
      books === undefined ? [] : orders.unbooked(),
    ),
    named: context.named,
  };
  const summary = await compareOrders(collected.orders, collected.known, async (finding) => {
    if (!out.json) found.push(finding);
    else out.lines([stringifyJson({ type: "finding", ...findingColumns(finding, words) })]);
    await out.drained();
  });
  const period = { since, until: values.until ?? now() };
  if (out.json) out.data(summaryLine(summary, period, { books, nothingReceived: collected.nothingReceived }));
  else if (values.quiet) out.lines(orderNumbers(found));
  else if (values.csv) out.lines([CSV_HEADER, ...found.map((finding) => findingCsv(finding, words))]);
  else
    printReport(context, {
      books,
      summary,
      found,
      words,
      period,
      collected,
      settings: sources.settings,
    });
  if (!isDifferent(summary)) return 0;
  throw new PaylinkError("records_differ", `${differencesText(summary)}.`);
}

async function booksOf(context: Context, values: ReconcileValues): Promise<Books | undefined> {
  const { readFile, out, signal } = context;
  const { books, map, only, headerLine, currency, decimalComma } = values;
  if (books === undefined) return undefined;
  const settings = await context.settings();
  const read = await readBooks(await readFile(books, "--books"), {
    map,
    standing: standingMappings(settings.get("columns")),
    only,
    headerLine,
    currency,
    decimalComma,
    signal,
  });
  for (const { at, message } of read.warnings) out.warn(`${at} ${message}`);
  return read;
}

/** The columns of a finding, each by its name. */
const findingColumns = (finding: Finding, words: FindingWords) => ({
  finding: finding.finding,
  invoiceId: finding.orderNumber,
  amount: finding.money && new JsonNumber(finding.money.amount),
  currency: finding.money && finding.money.currency,
  link: finding.link,
  uti: finding.uti,
  detail: detailOf(finding, words),
  next: nextText(finding, words) ?? null,
});

const CSV_HEADER = "finding,invoiceId,amount,currency,link,uti,detail,next";

const findingCsv = (finding: Finding, words: FindingWords): string =>
  csvRecord(Object.values(findingColumns(finding, words)).map((value) => value?.toString() ?? ""));

interface WholePeriod {
  readonly since: Date;
  readonly until: Date;
}

function summaryLine(
  { paid, agree, reusable, findings }: Summary,
  { since, until }: WholePeriod,
  { books, nothingReceived }: { readonly books: Books | undefined } & Pick<Collected, "nothingReceived">,
): string {
  const json = ({ count, sums }: Counted) => ({ count, sums: sums.map(sumJson) });
  return stringifyJson({
    type: "summary",
    since: since.toISOString(),
    until: until.toISOString(),
    paid: json(paid),
    agree: json(agree),
    reusable: json(reusable),
    ...(books === undefined ? {} : { unnamed: json(books.unnamed) }),
    ...(nothingReceived === undefined ? {} : { notice: NOTHING_RECEIVED[nothingReceived] }),
    findings: Object.fromEntries(Object.entries(findings).map(([name, one]) => [name, json(one)])),
  });
}

/** Of what differs, each once. */
const orderNumbers = (found: readonly Finding[]): string[] => [
  ...new Set(
    found.flatMap(({ finding, orderNumber }) =>
      isDifference(finding) && orderNumber !== null ? [safeText(orderNumber)] : [],
    ),
  ),
];

interface Report {
  readonly books: Books | undefined;
  readonly summary: Summary;
  readonly found: readonly Finding[];
  readonly words: FindingWords;
  readonly period: WholePeriod;
  readonly collected: Collected;
  readonly settings: ResolvedSettings;
}

/** A summary first: people read the first lines. Then the findings of each kind under a line with their sum. */
function printReport(context: Context, report: Report): void {
  const { out } = context;
  const { books, summary, found, words, period, collected, settings } = report;
  if (collected.nothingReceived !== undefined) out.lines([NOTHING_RECEIVED[collected.nothingReceived]]);
  out.data(fitLines(out.paint.bold(summaryText(summary)), out.lineWidth));
  if (books !== undefined)
    for (const remark of booksRemarks(books)) out.data(wrap(safeText(remark), out.lineWidth));
  for (const name of FINDINGS) {
    const counted = summary.findings[name];
    if (counted === undefined) continue;
    out.lines(["", headingText(name, counted), ...findingTexts(name, found, words, context)]);
    if (name === "missed") out.lines([`  ${wrap(safeText(words.callback), out.lineWidth - 2, 2)}`]);
  }
  const reusable = reusableText(summary);
  if (reusable !== undefined) out.note(reusable);
  out.note(
    `Paid from ${formatLocal(period.since)} to ${formatLocal(period.until)}; the service lists links for a year after their creation.`,
  );
  out.note(renderServiceName(settings, out.notePaint));
  if (found.length === 0 && summary.paid.count === 0) out.note("To compare a longer period: --since 30d");
}

function* findingTexts(
  name: FindingName,
  found: readonly Finding[],
  words: FindingWords,
  { out: { lineWidth } }: Context,
): Generator<string> {
  for (const finding of found) {
    if (finding.finding !== name) continue;
    yield `  ${wrap(safeText(meaningOf(finding, words)), lineWidth - 2, 2)}`;
    const next = nextCommand(finding, words);
    if (next !== undefined) yield `    ${renderHint([next], words.named)}`;
  }
}

/** What the words of a finding need besides: an order number of the other side may be nearly the same. */
interface FindingWords {
  /** Where the profile asks webhooks to be sent to, in words. */
  readonly callback: string;
  readonly suggestions: Suggestions;
  readonly named: Context["named"];
}

/** What it means, as sentences. */
function meaningOf(finding: Finding, { suggestions }: FindingWords): string {
  const near = suggestions.for(finding);
  return near === undefined
    ? findingText(finding)
    : `${findingText(finding)} ${suggestionText(finding, near)}`;
}

/** The same where the callback address is not said once for all. */
const detailOf = (finding: Finding, words: FindingWords): string =>
  hasNoWebhook(finding) ? `${meaningOf(finding, words)} ${words.callback}` : meaningOf(finding, words);

function nextCommand(finding: Finding, { suggestions }: FindingWords): CommandLine | undefined {
  const near = finding.finding === "booked only" ? suggestions.for(finding) : undefined;
  return near === undefined ? nextStep(finding) : paylink`reconcile ${near}`;
}

function nextText(finding: Finding, words: FindingWords): string | undefined {
  const next = nextCommand(finding, words);
  return next && renderCommand(next, words.named);
}
