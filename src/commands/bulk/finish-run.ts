/** The end of a bulk run: writes the results and the summary, and fails with the worst outcome. */
import type { Outcome } from "../../bulk/outcome.ts";
import { writeResults, type Result } from "../../bulk/results.ts";
import type { Row } from "../../bulk/row.ts";
import { requestOf } from "../../bulk/row-request.ts";
import type { RowWarning } from "../../bulk/row-warnings.ts";
import type { Context } from "../../context.ts";
import { PaylinkError, type FailureCode } from "../../domain/errors.ts";
import { count, renderTally, rowsOf, type Tally } from "../../render/bulk-progress.ts";
import { renderServiceName } from "../../render/service-name.ts";
import { safeText } from "../../render/safe-text.ts";
import type { Claim } from "./claim-journal.ts";
import type { List } from "./open-list.ts";

export interface RunEnd {
  /** What stopped the run before its last row; undefined if nothing did. */
  readonly reason: unknown;
  /** Where the service's answers broke the specification. */
  readonly breaches: readonly RowWarning[];
}

/** Rows that are named on the terminal; all of them are in the results. */
const NAMED = 20;

const CONTINUE = "Run the same command again to continue: no row is sent twice.";

/** Throws what stopped the run, or else the worst outcome. */
export async function finishRun(
  { out, now, signal, settings }: Context,
  list: List,
  { ledger, path: journal, checked, earlier }: Claim,
  { reason, breaches }: RunEnd,
  output: string,
): Promise<void> {
  const tally = { created: 0, earlier, refused: 0, not_reached: 0, unknown: 0, invalid: 0, not_sent: 0 };
  const named: string[] = [];
  const resultOf = (row: Row): Result => {
    const result = invalidity(row) ?? ledger.outcome(row.index);
    tally[result.status]++;
    const line = `  line ${row.line}  ${result.status}  ${safeText(result.error ?? "")}`;
    if (FAILED.has(result.status) && named.length < NAMED) named.push(line);
    return result;
  };
  const invalidity = (row: Row): Result | undefined => {
    if (!checked.invalid.has(row.index)) return undefined;
    const { problems } = requestOf(row, list.build, now());
    return {
      status: "invalid",
      error: problems.map(({ at, message }) => `${at} ${message}`.trim()).join("; "),
    };
  };
  await writeResults({ path: output, rows: list.rows, checked, resultOf });
  const failed = tally.refused + tally.not_reached + tally.unknown;
  if (named.length > 0) out.note(named.join("\n"));
  if (failed > named.length) out.note(`  and ${count(failed - named.length)} more, in ${output}`);
  const rows = checked.asks.length;
  const { warnings } = checked;
  if (out.json) out.data(JSON.stringify({ type: "summary", rows, ...tally, warnings, breaches, output }));
  else {
    const service = renderServiceName(await settings(), out.paint);
    out.data(`${renderTally(tally, out.paint)}\nResults in ${output}\n${service}`);
  }
  if (signal.aborted) {
    if (tally.not_sent > 0) out.note(CONTINUE);
    throw failureOf(signal.reason, tally);
  }
  if (rows > 0 && earlier === rows) out.note(nothingLeft(journal));
  const failure = failureOf(reason, tally);
  if (failure !== undefined) throw failure;
}

const nothingLeft = (journal: string): string =>
  [
    "Every row had its link before this run, so nothing was sent. To give every row a second link on purpose,",
    `delete the journal of this list, ${journal}, and run the same command again.`,
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
      `The run was stopped, with ${rowsOf(tally.not_sent)} not sent. ${message}`,
      {
        problems,
        details: { ...reason.details, ...details },
        hint: reason.hint === undefined ? CONTINUE : `${reason.hint}\n${CONTINUE}`,
        cause: reason,
      },
    );
  }
  if (reason !== undefined) return reason;
  const worst = WORST_FIRST.find(({ status }) => tally[status] > 0);
  if (worst === undefined) return undefined;
  const { code, status, says, hint } = worst;
  return new PaylinkError(code, `${rowsOf(tally[status])} ${says}.`, { details, hint });
}

interface Worst {
  readonly status: keyof Tally;
  readonly code: FailureCode;
  readonly says: string;
  readonly hint: string;
}

const FIX_IN_PLACE =
  "Fix these rows in the same lines, then run the same command again: no other row is sent twice.";

/** Unknown outcomes come first: a link may exist that nobody knows of. */
const WORST_FIRST: readonly Worst[] = [
  {
    status: "unknown",
    code: "outcome_unknown",
    says: "may or may not have a link",
    hint: "Look for them at the service. To send those that have no link there: --retry-unknown",
  },
  {
    status: "not_reached",
    code: "not_reached",
    says: "did not reach the service: no link was created",
    hint: CONTINUE,
  },
  {
    status: "refused",
    code: "refused",
    says: "refused by the service: no link was created",
    hint: FIX_IN_PLACE,
  },
  {
    status: "invalid",
    code: "usage",
    says: "could not be sent",
    hint: FIX_IN_PLACE,
  },
];
