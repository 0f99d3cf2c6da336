/** What a bulk run shows: each row for scripts; progress, columns and warnings for people. */
import { durationWords } from "../../values/time.ts";
import { plural } from "../../values/plural.ts";
import type { RowProblem } from "../../lists/row-problems.ts";
import type { RowOutcome } from "../../bulk/outcome.ts";
import type { Context } from "../../context.ts";
import type { PaylinkError } from "../../domain/errors.ts";
import { renderProgress, renderRowProblem } from "../../render/bulk.ts";
import { safeText } from "../../render/safe-text.ts";

/** Milliseconds between two drawings of the bar, and between two lines if there is no terminal. */
const REDRAW = 100;
const LINE = 60_000;

export interface Reporter {
  /** A row was checked. */
  readonly checked: () => void;
  /** With `--json` they are in the summary. */
  readonly warnings: (warnings: readonly RowProblem[]) => void;
  /** Sending begins: the number of all rows, and of the rows that are done already. */
  readonly begin: (total: number, done: number) => void;
  readonly settled: (line: number, outcome: RowOutcome) => void;
  /** The run waits for `milliseconds`, because of a failure. */
  readonly paused: (milliseconds: number, cause: PaylinkError) => void;
  /** Removes the progress line while something else is shown. */
  readonly hide: () => void;
  /** Removes it for good. */
  readonly end: () => void;
}

export function createReporter({ out, timers }: Pick<Context, "out" | "timers">): Reporter {
  let line: (() => string) | undefined;
  let checkedRows = 0;
  const draw = (): void => {
    if (line === undefined) return;
    if (out.live) out.progress(line());
    else out.note(line());
  };
  const timer = setInterval(draw, out.live ? REDRAW : LINE);
  const clock = timers.elapsed;
  const state = { total: 0, done: 0, doneNow: 0, failed: 0, begun: clock(), until: 0, cause: "" };
  const waiting = (): string | undefined =>
    state.until > clock() ? `waiting ${durationWords(state.until - clock())} for the service` : undefined;
  const hide = (): void => {
    line = undefined;
    out.progress(undefined);
  };
  return {
    checked: () => {
      checkedRows++;
      line ??= () => `${plural(checkedRows, "row")} checked`;
    },
    warnings: (warnings) => {
      if (!out.json) for (const warning of warnings) out.warn(renderRowProblem(warning));
    },
    begin: (total, done) => {
      Object.assign(state, { total, done, begun: clock() });
      line = () => renderProgress({ ...state, elapsed: clock() - state.begun, waiting: waiting() }, out.live);
      if (out.live) draw();
    },
    settled: (line, { status, id, url, error }) => {
      state.done++;
      state.doneNow++;
      if (status !== "created") state.failed++;
      if (out.json) out.lines([JSON.stringify({ type: "row", line, status, id, url, error })]);
    },
    paused: (milliseconds, { message }) => {
      state.until = clock() + milliseconds;
      // With --json the message is in the rows.
      if (!out.json && message !== state.cause) out.warn(safeText(message));
      state.cause = message;
      if (!out.live) out.note(`The run waits ${durationWords(milliseconds)} and tries again.`);
    },
    hide,
    end: () => {
      clearInterval(timer);
      hide();
    },
  };
}
