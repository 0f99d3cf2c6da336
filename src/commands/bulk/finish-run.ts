/** The end of a bulk run: writes the results and the summary, and fails with the worst outcome. */
import { unsentColumns, type Checked, type RowProblem } from "../../bulk/check-rows.ts";
import type { Outcome } from "../../bulk/memory.ts";
import { writeResults, type Result, type Sink } from "../../bulk/results.ts";
import type { Rows } from "../../bulk/rows.ts";
import { requestOf, type Row } from "../../bulk/row.ts";
import type { Context } from "../../context.ts";
import { hint, paylink, PaylinkError, type FailureCode, type Hint } from "../../domain/errors.ts";
import { isJsonNumber } from "../../domain/json.ts";
import { Sums } from "../../domain/money.ts";
import { count, linksOf, renderSums, renderTally, rowsOf, type Tally } from "../../render/bulk.ts";
import { renderHint } from "../../render/hint.ts";
import { renderServiceName } from "../../render/account.ts";
import { safeText } from "../../render/safe-text.ts";
import type { Claim } from "./claim.ts";
import type { List } from "./list.ts";

export interface RunEnd {
  /** What stopped the run before its last row; undefined if nothing did. */
  readonly reason: unknown;
  /** Where the service's answers broke the specification. */
  readonly violations: readonly RowProblem[];
}

/** Where the results go. */
export interface ResultsOutput {
  readonly format: Rows["format"];
  readonly sink: Sink;
  /** Undefined for standard output. */
  readonly path: string | undefined;
}

interface Ended {
  readonly checked: Checked;
  readonly end: RunEnd;
  readonly output: ResultsOutput;
}

/** Rows that are named on the terminal; all of them are in the results. */
const NAMED = 20;

const CONTINUE = hint`Run the same command again to continue: no row is sent twice.`;

/** Throws what stopped the run, or else the worst outcome. */
export async function finishRun(
  { out, signal, settings }: Context,
  list: List,
  { sent, earlier, invalid }: Claim,
  { checked, end, output }: Ended,
): Promise<void> {
  const { reason, violations } = end;
  const tally = {
    created: 0,
    earlier,
    sent_before: 0,
    refused: 0,
    not_reached: 0,
    unknown: 0,
    invalid: 0,
    not_sent: 0,
  };
  const { asked, digests, warnings } = checked;
  // The check has added it up, unless some rows have no link.
  const isWhole = asked.rows === digests.length && sent.countCreated() === digests.length;
  const sums = isWhole ? asked.sums : new Sums();
  const addUp = (row: Row): void => {
    // A row counts as it was sent, although its expiry may have passed since.
    const { amount, currency } = requestOf(row, list.build, list.now()).draft;
    if (isJsonNumber(amount) && typeof currency === "string") sums.add(amount, currency);
  };
  const named: string[] = [];
  const resultOf = (row: Row): Result => {
    const result = invalidity(row) ?? sent.outcome(row.index);
    tally[result.status]++;
    if (result.status === "created" && !isWhole) addUp(row);
    if (FAILED.has(result.status) && named.length < NAMED)
      named.push(`  line ${row.line}  ${result.status}  ${safeText(result.error ?? "")}`);
    return result;
  };
  const invalidity = (row: Row): Result | undefined => {
    if (!invalid.has(row.index)) return undefined;
    const { problems } = requestOf(row, list.build, list.now());
    return {
      status: "invalid",
      error: problems.map(({ at, message }) => `${at} ${message}`.trim()).join("; "),
    };
  };
  await writeResults(output.format, { rows: list.rows, checked, resultOf }, output.sink);
  const failed = tally.refused + tally.not_reached + tally.unknown;
  if (named.length > 0) out.note(named.join("\n"));
  if (failed > named.length) out.note(`  and ${count(failed - named.length)} more, in the results`);
  const rows = digests.length;
  const { path } = output;
  const service = await settings();
  if (out.json)
    out.data(
      JSON.stringify({
        type: "summary",
        profile: service.profile ?? null,
        service: service.get("baseUrl"),
        rows,
        ...tally,
        sums: sumsJson(sums),
        unsent_columns: unsentColumns(checked),
        warnings,
        violations,
        output: path,
      }),
    );
  else {
    const isOnStdout = path === undefined;
    const paint = isOnStdout ? out.notePaint : out.paint;
    const lines = [
      renderTally(tally, paint),
      ...(tally.created > 0 ? [`${linksOf(tally.created)}: ${renderSums(sums.list())}`] : []),
      ...(isOnStdout ? [] : [`Results in ${path}`]),
      renderServiceName(service, paint),
      ...(tally.created > tally.earlier ? [renderHint(SEE_LINKS, { profile: service.named })] : []),
    ];
    if (isOnStdout) out.note(lines.join("\n"));
    else out.data(lines.join("\n"));
  }
  if (signal.aborted) {
    if (tally.not_sent > 0) out.note(renderHint(CONTINUE));
    throw failureOf(signal.reason, tally);
  }
  if (rows > 0 && earlier + tally.sent_before === rows) out.note(NOTHING_LEFT);
  const failure = failureOf(reason, tally);
  if (failure !== undefined) throw failure;
}

/** By currency, as text: programs read JSON numbers as binary fractions. */
export const sumsJson = (sums: Sums): Readonly<Record<string, string>> =>
  Object.fromEntries(sums.list().map(({ currency, amount }) => [currency, amount]));

const SEE_LINKS = hint`To see the links: ${paylink("links", "list", "--since", "1h")}`;

const NOTHING_LEFT = [
  "Every row was sent before this run, so nothing was sent.",
  "To send every row once more, which creates second links: --again",
].join("\n");

const FAILED: ReadonlySet<Result["status"]> = new Set<Outcome["status"]>([
  "refused",
  "not_reached",
  "unknown",
]);

function failureOf(reason: unknown, tally: Tally): unknown {
  const details = { ...tally };
  if (reason instanceof PaylinkError) {
    const { code, message, problems } = reason;
    return new PaylinkError(
      code,
      `The run was stopped${tally.not_sent === 0 ? "" : `, with ${rowsOf(tally.not_sent)} not sent`}. ${message}`,
      {
        problems,
        details: { ...reason.details, ...details },
        hints: [...reason.hints, CONTINUE],
        cause: reason,
      },
    );
  }
  if (reason !== undefined) return reason;
  const worst = WORST_FIRST.find(({ status }) => tally[status] > 0);
  if (worst === undefined) return undefined;
  const { code, status, messageFor, step } = worst;
  return new PaylinkError(code, messageFor(rowsOf(tally[status])), {
    details,
    hints: [step],
  });
}

interface Worst {
  readonly status: keyof Tally;
  readonly code: FailureCode;
  readonly messageFor: (rows: string) => string;
  readonly step: Hint;
}

const FIX_IN_PLACE = hint`Fix these rows without moving them to other lines, then run the same command again: no other row is sent twice.`;

/** Unknown outcomes come first: a link may exist that the user does not know of. */
const WORST_FIRST: readonly Worst[] = [
  {
    status: "unknown",
    code: "outcome_unknown",
    messageFor: (rows) => `${rows} may or may not have a link.`,
    step: hint`Look for them at the service. To send those that have no link there: --retry-unknown`,
  },
  {
    status: "not_reached",
    code: "not_reached",
    messageFor: (rows) => `${rows} did not reach the service: no link was created.`,
    step: CONTINUE,
  },
  {
    status: "refused",
    code: "refused",
    messageFor: (rows) => `The service refused ${rows}: no link was created.`,
    step: FIX_IN_PLACE,
  },
  {
    status: "invalid",
    code: "usage",
    messageFor: (rows) => `${rows} could not be sent: no link was created.`,
    step: FIX_IN_PLACE,
  },
];
