/** Shows a bulk run: its list before it is sent, its progress, its warnings and the number of rows with each outcome. */
import { durationWords } from "../values/time.ts";
import { linesText, plural, wordFor, formatCount } from "../values/plural.ts";
import type { PaymentLinkRequest } from "../domain/payment-link-shapes.ts";
import type { Problem } from "../domain/errors.ts";
import { groupedAmount, type Sum } from "../domain/money.ts";
import { isJsonObject, memberAt, stringifyJson } from "../values/json.ts";
import type { LinkFieldPath } from "../domain/payment-link-fields.ts";
import { linkFieldAt, fieldLabel, fieldsShownIn } from "../domain/payment-link-field-lookup.ts";
import { OPEN_STATUSES } from "../domain/payment-link-reply.ts";
import { isDate } from "../domain/payment-link-types.ts";
import { renderServiceName, type ShownService } from "./account.ts";
import { localTime, renderBar, renderListing, NO_VALUE } from "./layout.ts";
import { linkAmount } from "./link.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";

const ROW_WORDS = {
  created: "created",
  // With the link of an earlier run.
  sent_before: "sent before",
  refused: "refused",
  not_reached: "not reached",
  unknown: "unknown",
  // `--again` was meant for them.
  left: "left as before",
  invalid: "invalid",
  skipped: "skipped",
  not_sent: "not sent",
} as const;
const ROW_KINDS = Object.keys(ROW_WORDS) as (keyof typeof ROW_WORDS)[];

/** The number of rows with each outcome. */
export type Tally = Readonly<Record<keyof typeof ROW_WORDS, number>>;

interface ShownProblem extends Problem {
  /** The first lines. */
  readonly lines: readonly number[];
  readonly rows: number;
}

/** `line 3, amount`, or `lines 2, 3, 4 and 506 more, amount`. */
function rowPlace({ at, lines, rows }: ShownProblem): string {
  const place = linesText(lines, rows);
  return at === "" ? place : `${place}, ${safeText(at)}`;
}

/** A problem of any number of rows, on one line. */
export const renderRowProblem = (problem: ShownProblem): string =>
  `${rowPlace(problem)}  ${safeText(problem.message)}`;

/** `EUR 1,234.50 and USD 20.00` */
export const renderSums = (sums: readonly Sum[]): string =>
  new Intl.ListFormat("en-GB").format(
    sums.map(({ currency, amount }) => groupedAmount(amount, currency).trim()),
  );

export interface ShownList {
  /** The links that are sent, their sums, and the first of them. */
  readonly links: number;
  readonly sums: readonly Sum[];
  readonly first: readonly PaymentLinkRequest[];
  /** Undefined without an account. */
  readonly service: ShownService | undefined;
}

/** What a customer sees of a link. */
const PREVIEW = fieldsShownIn("preview");

function previewText(path: LinkFieldPath, request: PaymentLinkRequest): string | undefined {
  if (path === "amount") return linkAmount(request);
  const value = isJsonObject(request) ? memberAt(request, path) : undefined;
  if (typeof value !== "string") return value === undefined ? undefined : stringifyJson(value);
  return isDate(linkFieldAt(path).type) ? localTime(value) : value;
}

/** What a person looks at before a list is sent. */
export function renderList(list: ShownList, paint: Paint, width: number): string {
  const { links, sums, first, service } = list;
  const shown = PREVIEW.filter((path) => first.some((request) => previewText(path, request) !== undefined));
  const table = renderListing(
    shown.map(fieldLabel),
    first.map((request) =>
      shown.map((path) => ({
        text: previewText(path, request) ?? NO_VALUE,
        right: path === "amount",
        isWhole: isDate(linkFieldAt(path).type),
      })),
    ),
    { paint, lineWidth: width - PREVIEW_INDENT.length },
  );
  const rest = links - first.length;
  return [
    paint.bold(`${plural(links, "link")}${sums.length === 0 ? "" : `, ${renderSums(sums)}`}`),
    ...(service === undefined ? [] : [renderServiceName(service, paint)]),
    ...(first.length === 0 ? [] : table.split("\n").map((line) => PREVIEW_INDENT + line)),
    ...(first.length === 0 || rest === 0 ? [] : [`${PREVIEW_INDENT}and ${formatCount(rest)} more`]),
  ].join("\n");
}

const PREVIEW_INDENT = "  ";

const OPEN: ReadonlySet<string> = new Set(OPEN_STATUSES);

interface SentRow {
  readonly link: { readonly state: string; readonly status: string | undefined } | undefined;
}

/** How many rows that were sent before have a link in each state, the most telling first. */
export function sentBeforeStates(rows: readonly SentRow[]): [state: string, rows: number][] {
  const counts = new Map<string, number>();
  for (const { link } of rows) {
    if (link === undefined) continue;
    const status =
      link.state === "created"
        ? (link.status ?? "created")
        : link.state === "in flight"
          ? link.state
          : "unknown";
    const word = OPEN.has(status) ? "open" : status;
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return STATE_ORDER.flatMap((state) => (counts.has(state) ? [[state, counts.get(state) ?? 0]] : []));
}

const STATE_ORDER = ["paid", "open", "expired", "cancelled", "created", "unknown", "in flight"];

/** `412 of 500 rows were sent before: 300 paid, 80 open, 32 expired.` */
export function sentBeforeOf(sent: number, rows: number, states: readonly [string, number][]): string {
  const isKnown = states.some(([state]) => state !== "created");
  const what = isKnown
    ? states.map(([state, number]) => `${formatCount(number)} ${state}`).join(", ")
    : "their links are in the results";
  return sent === rows
    ? `Every row was sent before, so nothing is sent: ${isKnown ? what : "the links are in the results"}.`
    : `${formatCount(sent)} of ${plural(rows, "row")} ${wordFor(sent, "was", "were")} sent before: ${what}.`;
}

const NEUTRAL: ReadonlySet<string> = new Set(["not_sent", "sent_before", "skipped"]);

export function renderTally(tally: Tally, paint: Paint): string {
  const total = ROW_KINDS.reduce((sum, kind) => sum + tally[kind], 0);
  const parts = ROW_KINDS.filter((kind) => tally[kind] > 0).map((kind) => {
    const words = `${formatCount(tally[kind])} ${ROW_WORDS[kind]}`;
    if (NEUTRAL.has(kind)) return words;
    return kind === "created" ? paint.green(words) : paint.red(words);
  });
  return `${plural(total, "row")}: ${parts.join(", ") || "nothing to do"}`;
}

export interface BulkProgress {
  readonly done: number;
  readonly total: number;
  /** The rows of this run that have no link. */
  readonly failed: number;
  /** Milliseconds since the run began, and the rows done in this time. */
  readonly elapsed: number;
  readonly doneNow: number;
  /** What the run waits for, in words. */
  readonly waiting: string | undefined;
}

/** One line, with a bar if the line is redrawn in place. */
export function renderProgress(progress: BulkProgress, bar: boolean): string {
  const { done, total, failed, elapsed, doneNow, waiting } = progress;
  const share = total === 0 ? 1 : done / total;
  const rate = elapsed > 0 ? (doneNow * 1000) / elapsed : 0;
  const parts = [
    `${formatCount(done)} of ${formatCount(total)} (${Math.floor(share * 100)}%)`,
    `${rate < 10 ? rate.toFixed(1) : formatCount(Math.round(rate))}/s`,
    ...(rate > 0 && done < total ? [`${durationWords(((total - done) / rate) * 1000)} left`] : []),
    ...(failed > 0 ? [`${formatCount(failed)} without a link`] : []),
    ...(waiting === undefined ? [] : [waiting]),
  ];
  return `${bar ? `${renderBar(share)}  ` : ""}${parts.join("  ")}`;
}
