/** The end of a bulk run: writes the results and the summary, and fails with the worst outcome. */
import type { RowProblem } from "../../bulk/check-rows.ts";
import { writeResults, type Sink } from "../../bulk/results.ts";
import { problemsText, requestOf, type Row } from "../../bulk/row.ts";
import type { Rows } from "../../bulk/rows.ts";
import type { Result } from "../../bulk/sent-rows.ts";
import type { Context } from "../../context.ts";
import { hint, paylink, PaylinkError, type FailureCode, type Hint } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import type { Sums } from "../../domain/money.ts";
import { renderServiceName } from "../../render/account.ts";
import { count, linksOf, renderSums, renderTally, rowsOf, type Tally } from "../../render/bulk.ts";
import { renderHint } from "../../render/hint.ts";
import { safeText } from "../../render/safe-text.ts";
import type { PlannedList } from "./list.ts";

/** Where the results go. */
export interface ResultsOutput {
  readonly format: Rows["format"];
  readonly sink: Sink;
  /** Undefined for standard output. */
  readonly path: string | undefined;
}

export interface RunEnd {
  /** What stopped the run before its last row; undefined if nothing did. */
  readonly reason: unknown;
  /** Where the service's answers broke the specification. */
  readonly violations: readonly RowProblem[];
  /** Of the links that this run created. */
  readonly sums: Sums;
}

/** Rows that are named on the terminal; all of them are in the results. */
const NAMED = 20;

const KEEP_RESULTS = hint`paylink could not remember the last rows, which the next run calls unknown. These results have them: keep a copy.`;
const CONTINUE = hint`Run the same command again to continue: no row is sent twice.`;

/** Throws what stopped the run, or else the worst outcome. */
export async function finishRun(
  context: Context,
  list: PlannedList,
  output: ResultsOutput,
  { reason, violations, sums }: RunEnd,
): Promise<void> {
  const { out, now } = context;
  const { rows, build, sent, checked } = list;
  const tally: Record<keyof Tally, number> = { created: 0, sent_before: 0, ...NO_LINK };
  const named: string[] = [];
  const results = sent.results();
  const resultOf = (row: Row): Result => {
    const { value: found = NO_RESULT } = results.next();
    const { status, isEarlier } = found;
    const error = status === "invalid" ? problemsText(requestOf(row, build, now()).problems) : found.error;
    tally[status === "created" && isEarlier === 1 ? "sent_before" : status]++;
    if (FAILED.has(status) && named.length < NAMED)
      named.push(`  line ${row.line}  ${status}  ${safeText(error ?? "")}`);
    return { ...found, error };
  };
  await writeResults(output.format, { rows, checked, resultOf }, output.sink);
  const failed = tally.refused + tally.not_reached + tally.unknown;
  if (named.length > 0) out.note(named.join("\n"));
  if (failed > named.length) out.note(`  and ${count(failed - named.length)} more, in the results`);
  const { path } = output;
  if (out.json) {
    const summary = await summaryOf(context, list, sums);
    out.data(stringifyJson({ ...summary, ...tally, violations, output: path }));
  } else {
    const service = await context.settings();
    const isOnStdout = path === undefined;
    const paint = isOnStdout ? out.notePaint : out.paint;
    const lines = [
      renderTally(tally, paint),
      ...(tally.created > 0 ? [`${linksOf(tally.created)}: ${renderSums(sums.list())}`] : []),
      ...(isOnStdout ? [] : [`Results in ${path}`]),
      renderServiceName(service, paint),
      ...(tally.created > 0 ? [renderHint(SEE_LINKS, context.named)] : []),
    ];
    if (isOnStdout) out.note(lines.join("\n"));
    else out.data(lines.join("\n"));
  }
  // Without --json, an interruption has no message that gives this advice.
  if (reason instanceof PaylinkError && reason.exit >= 100 && tally.not_sent > 0)
    out.note(renderHint(CONTINUE));
  const failure = failureOf(reason, tally, sent.hasUnwritten() ? [KEEP_RESULTS, CONTINUE] : [CONTINUE]);
  if (failure !== undefined) throw failure;
}

const NO_LINK = { refused: 0, not_reached: 0, unknown: 0, invalid: 0, not_sent: 0 };

/** For the type alone: every row has a result. */
const NO_RESULT: Result = { status: "not_sent", id: null, url: null, error: null, isEarlier: 0 };

/** What the summaries of a run and of a dry run have in common. */
export async function summaryOf({ settings }: Context, { checked, plan }: PlannedList, sums: Sums) {
  const service = await settings();
  return {
    type: "summary",
    profile: service.profile ?? null,
    service: service.get("baseUrl") ?? null,
    rows: plan.rows,
    // As text: programs read JSON numbers as binary fractions.
    sums: Object.fromEntries(sums.list().map(({ currency, amount }) => [currency, amount])),
    unsent_columns: checked.unsent,
    warnings: checked.warnings,
  };
}

const SEE_LINKS = hint`To see the links: ${paylink("links", "list", "--since", "1h")}`;

const FAILED: ReadonlySet<string> = new Set(["refused", "not_reached", "unknown"]);

function failureOf(reason: unknown, tally: Tally, next: readonly Hint[]): unknown {
  const details = { ...tally };
  if (reason instanceof PaylinkError) {
    const { code, message, problems } = reason;
    const left = tally.not_sent === 0 ? "" : `, with ${rowsOf(tally.not_sent)} not sent`;
    return new PaylinkError(code, `The run was stopped${left}. ${message}`, {
      problems,
      details: { ...reason.details, ...details },
      hints: [...reason.hints, ...next],
      cause: reason,
    });
  }
  if (reason !== undefined) return reason;
  for (const [status, failure, words, step] of WORST_FIRST)
    if (tally[status] > 0)
      return new PaylinkError(failure, words(rowsOf(tally[status])), { details, hints: [step] });
  return undefined;
}

const FIX_ROWS = hint`Fix these rows, then run the same command again: no other row is sent twice.`;
const LOOK = hint`Look for them at the service. To send those that have no link there: --retry-unknown`;

/** Unknown outcomes come first: a link may exist that the user does not know of. */
const WORST_FIRST: readonly (readonly [keyof Tally, FailureCode, (rows: string) => string, Hint])[] = [
  ["unknown", "outcome_unknown", (rows) => `${rows} may or may not have a link.`, LOOK],
  [
    "not_reached",
    "not_reached",
    (rows) => `${rows} did not reach the service: no link was created.`,
    CONTINUE,
  ],
  ["refused", "refused", (rows) => `The service refused ${rows}: no link was created.`, FIX_ROWS],
  ["invalid", "usage", (rows) => `${rows} could not be sent: no link was created.`, FIX_ROWS],
];
