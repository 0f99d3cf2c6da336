/** What a bulk run shows: each row for scripts; progress, columns and warnings for people. */
import type { Checked, RowProblem } from "../../bulk/check-rows.ts";
import type { Row } from "../../bulk/row.ts";
import type { Outcome } from "../../bulk/sent-rows.ts";
import type { Context } from "../../context.ts";
import type { PaylinkError, Problem } from "../../domain/errors.ts";
import { SandboxNotRunning } from "../../http/exchange.ts";
import { length, renderProgress, renderRowProblem, rowsOf } from "../../render/bulk.ts";
import { problemJson } from "../../render/error-message.ts";
import { safeText } from "../../render/safe-text.ts";

/** Milliseconds between two drawings of the bar, and between two lines if there is no terminal. */
const REDRAW = 100;
const LINE = 5000;

export interface Reporter {
  /** A row was checked. */
  readonly checked: () => void;
  /** A row cannot be sent, for scripts. */
  readonly invalid: (row: Row, problems: readonly Problem[]) => void;
  /** Names the columns that are not sent: one of them may be misspelled. */
  readonly columns: (checked: Pick<Checked, "unsent">) => void;
  readonly warnings: (warnings: readonly RowProblem[]) => void;
  /** Sending begins: the number of all rows, and of the rows that are done already. */
  readonly begin: (total: number, done: number) => void;
  readonly settled: (row: Row, outcome: Outcome) => void;
  readonly paused: (milliseconds: number, cause: PaylinkError) => void;
  /** Removes the progress line. */
  readonly end: () => void;
}

export function createReporter({ out, now }: Context): Reporter {
  let line: (() => string) | undefined;
  let checkedRows = 0;
  const timer = setInterval(
    () => {
      if (line === undefined) return;
      if (out.live) out.progress(line());
      else out.note(line());
    },
    out.live ? REDRAW : LINE,
  );
  const clock = (): number => now().getTime();
  const state = { total: 0, done: 0, doneNow: 0, failed: 0, begun: clock(), until: 0, cause: "" };
  const waiting = (): string | undefined =>
    state.until > clock() ? `waiting ${length((state.until - clock()) / 1000)} for the service` : undefined;
  return {
    checked: () => {
      checkedRows++;
      line ??= () => `${rowsOf(checkedRows)} checked`;
    },
    invalid: (row, problems) => {
      const line = { type: "row", line: row.line, status: "invalid", problems: problems.map(problemJson) };
      if (out.json) out.lines([JSON.stringify(line)]);
    },
    columns: ({ unsent }) => {
      if (unsent.length > 0)
        out.note(`Copied to the results, and not sent: ${unsent.map(safeText).join(", ")}`);
    },
    warnings: (warnings) => {
      // With --json they are in the summary.
      if (out.json) return;
      for (const warning of warnings) out.warn(renderRowProblem(warning));
    },
    begin: (total, done) => {
      Object.assign(state, { total, done, begun: clock() });
      line = () => renderProgress({ ...state, elapsed: clock() - state.begun, waiting: waiting() }, out.live);
    },
    settled: (row, outcome) => {
      state.done++;
      state.doneNow++;
      if (outcome.status !== "created") state.failed++;
      if (out.json) out.lines([JSON.stringify({ type: "row", line: row.line, ...outcome })]);
    },
    paused: (milliseconds, { message, cause }) => {
      state.until = clock() + milliseconds;
      // With --json the message is in the rows.
      if (!out.json && message !== state.cause)
        out.warn(
          `${safeText(message)}${cause instanceof SandboxNotRunning ? " Start it: paylink sandbox" : ""}`,
        );
      state.cause = message;
      if (!out.live) out.note(`The run waits ${length(milliseconds / 1000)} and tries again.`);
    },
    end: () => {
      clearInterval(timer);
      out.progress(undefined);
    },
  };
}
