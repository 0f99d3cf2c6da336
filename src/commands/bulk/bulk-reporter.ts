/** What a bulk run shows: each row for scripts; progress, columns and warnings for people. */
import type { RowProblem } from "../../bulk/check-rows.ts";
import type { Row } from "../../bulk/row.ts";
import type { Outcome } from "../../bulk/sent-rows.ts";
import type { Context } from "../../context.ts";
import type { PaylinkError, Problem } from "../../domain/errors.ts";
import { length, renderProgress, renderRowProblem, rowsOf } from "../../render/bulk.ts";
import { problemJson } from "../../render/error-message.ts";
import { safeText } from "../../render/safe-text.ts";

/** Milliseconds between two drawings of the bar, and between two lines if there is no terminal. */
const REDRAW = 100;
const LINE = 5000;

export type Reporter = ReturnType<typeof createReporter>;

export function createReporter({ out, now }: Context) {
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
    checked: (): void => {
      checkedRows++;
      line ??= () => `${rowsOf(checkedRows)} checked`;
    },
    /** A row cannot be sent, for scripts. */
    invalid: ({ line }: Row, problems: readonly Problem[]): void => {
      const found = { type: "row", line, status: "invalid", problems: problems.map(problemJson) };
      if (out.json) out.lines([JSON.stringify(found)]);
    },
    /** With `--json` they are in the summary. */
    warnings: (warnings: readonly RowProblem[]): void => {
      if (!out.json) for (const warning of warnings) out.warn(renderRowProblem(warning));
    },
    /** Sending begins: the number of all rows, and of the rows that are done already. */
    begin: (total: number, done: number): void => {
      Object.assign(state, { total, done, begun: clock() });
      line = () => renderProgress({ ...state, elapsed: clock() - state.begun, waiting: waiting() }, out.live);
    },
    settled: ({ line }: Row, outcome: Outcome): void => {
      state.done++;
      state.doneNow++;
      if (outcome.status !== "created") state.failed++;
      if (out.json) out.lines([JSON.stringify({ type: "row", line, ...outcome })]);
    },
    paused: (milliseconds: number, { message }: PaylinkError): void => {
      state.until = clock() + milliseconds;
      // With --json the message is in the rows.
      if (!out.json && message !== state.cause) out.warn(safeText(message));
      state.cause = message;
      if (!out.live) out.note(`The run waits ${length(milliseconds / 1000)} and tries again.`);
    },
    /** Removes the progress line. */
    end: (): void => {
      clearInterval(timer);
      out.progress(undefined);
    },
  };
}
