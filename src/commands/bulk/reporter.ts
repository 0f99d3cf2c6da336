/** What a bulk run shows while it goes on: each row for scripts, a bar or a line every few seconds for people. */
import type { Outcome } from "../../bulk/outcome.ts";
import type { Row } from "../../bulk/row.ts";
import type { Context } from "../../context.ts";
import type { Problem } from "../../domain/errors.ts";
import { length, renderProgress, rowsOf } from "../../render/bulk-progress.ts";
import { safeText } from "../../render/safe-text.ts";

/** Milliseconds between two drawings of the bar, and between two lines where there is none. */
const REDRAW = 100;
const LINE = 5000;

export interface Reporter {
  /** A row was checked. */
  readonly checked: (row: Row, problems: readonly Problem[]) => void;
  /** The sending begins, with so many rows in all and so many that are done already. */
  readonly begin: (total: number, done: number) => void;
  readonly settled: (row: Row, outcome: Outcome) => void;
  readonly paused: (milliseconds: number) => void;
  /** Takes the progress away. */
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
  const state = { total: 0, done: 0, doneNow: 0, failed: 0, begun: clock(), until: 0 };
  const waiting = (): string | undefined =>
    state.until > clock() ? `waiting ${length((state.until - clock()) / 1000)} for the service` : undefined;
  return {
    checked: (row, problems) => {
      checkedRows++;
      line ??= () => `${rowsOf(checkedRows)} checked`;
      if (problems.length === 0) return;
      if (out.json) out.data(JSON.stringify({ type: "row", line: row.line, status: "invalid", problems }));
      else for (const problem of problems) out.note(`  ${place(row, problem)}  ${safeText(problem.message)}`);
    },
    begin: (total, done) => {
      Object.assign(state, { total, done, begun: clock() });
      line = () => renderProgress({ ...state, elapsed: clock() - state.begun, waiting: waiting() }, out.live);
    },
    settled: (row, outcome) => {
      state.done++;
      state.doneNow++;
      if (outcome.status !== "created") state.failed++;
      if (out.json) out.data(JSON.stringify({ type: "row", line: row.line, ...outcome }));
    },
    paused: (milliseconds) => {
      state.until = clock() + milliseconds;
      if (!out.live) out.note(`The service is not ready: the run waits ${length(milliseconds / 1000)}.`);
    },
    end: () => {
      clearInterval(timer);
      out.progress(undefined);
    },
  };
}

const place = ({ line }: Row, { at }: Problem): string =>
  at === "" ? `line ${line}` : `line ${line}, ${safeText(at)}`;
