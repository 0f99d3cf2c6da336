/** The errors of a list whose rows were sent before: from this list and changed since, or from another list. */
import type { Ledger } from "../../bulk/row-ledger.ts";
import type { NumberList } from "../../bulk/number-list.ts";
import type { Outcome } from "../../bulk/outcome.ts";
import type { Rows } from "../../bulk/rows.ts";
import type { SentBefore } from "../../bulk/sent-before.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { count, rowsOf } from "../../render/bulk-progress.ts";

/** Rows that are named one by one; the rest are counted. */
const NAMED = 10;

/** Throws `input_changed` if a row that was sent is different now: its link may be for another customer. */
export async function refuseChanges(rows: Rows, ledger: Ledger, asks: NumberList): Promise<void> {
  const { count: changed, first } = ledger.changes(asks, NAMED);
  if (changed === 0) return;
  const lines = await linesOf(rows, new Set(first.map(({ row }) => row)));
  const problems = first.map(({ row, outcome }) => {
    const line = lines.get(row);
    const link = linkOf(outcome);
    return line === undefined
      ? { at: `row ${row + 1}`, message: `is missing; it ${link}` }
      : { at: `line ${line}`, message: `has changed; it ${link}` };
  });
  throw new PaylinkError("input_changed", "The list has changed since it was sent. This run sent nothing.", {
    problems: withRest(problems, changed),
    details: { changed },
    hint: [
      "Restore the rows that were sent; you may fix the others and add new ones at the end.",
      "If this is another list: --new-rows sends every row that was not sent before, and the changed ones.",
      "To send every row, including those that have a link already: --again",
    ].join("\n"),
  });
}

/** The error of a list with rows that were sent from another list to the same service. */
export async function sentBeforeError(rows: Rows, sent: SentBefore, total: number): Promise<PaylinkError> {
  const first = sent.first(NAMED);
  const lines = await linesOf(rows, new Set(first));
  const problems = first.map((row) => ({
    at: `line ${lines.get(row) ?? row + 1}`,
    message: linkOf(sent.outcome(row)),
  }));
  const others = total - sent.count;
  return new PaylinkError(
    "sent_before",
    `${rowsOf(sent.count)} of ${count(total)} ${sent.count === 1 ? "was" : "were"} sent before, from another list. This run sent nothing.`,
    {
      problems: withRest(problems, sent.count),
      details: { rows: total, sent_before: sent.count },
      hint: [
        ...(others > 0 ? [`To send only the others (${rowsOf(others)}): --new-rows`] : []),
        "To send every row once more, which creates second links: --again",
      ].join("\n"),
    },
  );
}

const linkOf = ({ url }: Outcome): string => (url === undefined ? "may have a link" : `has the link ${url}`);

const withRest = (problems: readonly Problem[], total: number): readonly Problem[] =>
  total > problems.length
    ? [...problems, { at: "", message: `and ${count(total - problems.length)} more` }]
    : problems;

async function linesOf(rows: Rows, wanted: ReadonlySet<number>): Promise<Map<number, number>> {
  const lines = new Map<number, number>();
  for await (const { index, line } of rows.read()) {
    if (wanted.has(index)) lines.set(index, line);
    if (lines.size === wanted.size) break;
  }
  return lines;
}
