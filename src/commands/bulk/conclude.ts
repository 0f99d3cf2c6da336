/** The end of a bulk run: the results in their file, the summary, and the worst outcome as the way the command ends. */
import type { Outcome } from "../../bulk/outcome.ts";
import { writeResults, type Result } from "../../bulk/results.ts";
import type { Row } from "../../bulk/row.ts";
import { requestOf } from "../../bulk/row-request.ts";
import type { Context } from "../../context.ts";
import { PaylinkError, type FailureCode } from "../../domain/errors.ts";
import { count, renderTally, rowsOf, type Tally } from "../../render/bulk-progress.ts";
import { safeText } from "../../render/safe-text.ts";
import type { Claim, End, List, SendParts } from "./list.ts";

/** Rows that are named on the terminal; all of them are in the results. */
const NAMED = 20;

const GO_ON = "Run the same command again to go on: no row is sent twice.";

export async function conclude(
  list: List,
  { ledger, journal, checked, earlier }: Claim,
  { reason, breaches }: End,
  { output }: SendParts,
  context: Context,
): Promise<void> {
  const { out, now, signal } = context;
  const tally = { created: 0, earlier, refused: 0, not_reached: 0, unknown: 0, invalid: 0, not_sent: 0 };
  const named: string[] = [];
  const resultOf = (row: Row): Result => {
    const result = invalidity(row) ?? ledger.outcome(row.index);
    tally[result.status]++;
    const line = `  line ${row.line}  ${result.status}  ${safeText(result.error ?? "")}`;
    if (TOLD.has(result.status) && named.length < NAMED) named.push(line);
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
  const told = tally.refused + tally.not_reached + tally.unknown;
  if (named.length > 0 && !out.json) out.note(named.join("\n"));
  if (told > named.length && !out.json) out.note(`  and ${count(told - named.length)} more, in ${output}`);
  const rows = checked.asks.length;
  const { warnings } = checked;
  if (out.json) out.data(JSON.stringify({ type: "summary", rows, ...tally, warnings, breaches, output }));
  else out.data(`${renderTally(tally, out.paint)}\nResults in ${output}`);
  if (signal.aborted) return void (tally.not_sent > 0 && out.note(GO_ON));
  if (rows > 0 && earlier === rows) out.note(sendAgain(journal));
  const failure = failureOf(reason, tally);
  if (failure !== undefined) throw failure;
}

/** Nothing is sent twice by itself; who means to has to say so. */
const sendAgain = (journal: string): string =>
  [
    "Every row had its link before this run, and nothing was sent. To give every row a second link on purpose,",
    `remove the journal of this list, ${journal}, and run the same command again.`,
  ].join("\n");

const TOLD: ReadonlySet<Result["status"]> = new Set<Outcome["status"]>(["refused", "not_reached", "unknown"]);

/** What ended the run, or else the worst outcome; the unknown ones are worst, since money may hang on them. */
function failureOf(reason: unknown, tally: Tally): unknown {
  const details = { ...tally };
  if (reason instanceof PaylinkError) {
    const { code, message, problems } = reason;
    return new PaylinkError(code, `The run was stopped, ${rowsOf(tally.not_sent)} not sent. ${message}`, {
      problems,
      details: { ...reason.details, ...details },
      hint: [reason.hint, GO_ON].join("\n"),
      cause: reason,
    });
  }
  if (reason !== undefined) return reason;
  const worst = WORST.find(({ status }) => tally[status] > 0);
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

const WORST: readonly Worst[] = [
  {
    status: "unknown",
    code: "outcome_unknown",
    says: "may or may not have a link",
    hint: "Look for them at the service. What has no link there is sent again with --retry-unknown.",
  },
  {
    status: "not_reached",
    code: "not_reached",
    says: "did not reach the service and have no link",
    hint: GO_ON,
  },
  {
    status: "refused",
    code: "refused",
    says: "the service refused, and they have no link",
    hint: "Mend these rows where they stand, then run the same command again: no other row is sent twice.",
  },
  {
    status: "invalid",
    code: "usage",
    says: "could not be sent",
    hint: "Mend these rows where they stand, then run the same command again: no other row is sent twice.",
  },
];
