/** The second pass over a list: sends each remaining row once, and writes its outcome to disk. */
import type { PaymentLinkRequest } from "../domain/payment-link-values.ts";
import pLimit, { type LimitFunction } from "p-limit";
import { hint, PaylinkError, type FailureCode, type Problem } from "../domain/errors.ts";
import { stringifyJson } from "../domain/json.ts";
import { REUSABLE_LIFETIME } from "../domain/payment-link.ts";
import { addDuration } from "../domain/time.ts";
import type { Pace } from "./pace.ts";
import { digestOf, problemsText, requestOf, type BuildRequest, type Row } from "./row.ts";
import type { Outcome, PlannedRow, SentRows, Status } from "./sent-rows.ts";

/** A created link, as far as the run needs it. */
export interface Created {
  readonly link: Pick<Outcome, "id" | "url">;
  /** The rules of the specification that the answer breaks. */
  readonly violations: readonly Problem[];
}

/** A row that this run sends. */
export interface DueRow extends Pick<PlannedRow, "number" | "digest"> {
  readonly row: Row;
}

export interface RunParts {
  readonly rows: AsyncIterable<DueRow>;
  readonly sent: Pick<SentRows, "intend" | "settle">;
  readonly pace: Pace;
  readonly build: BuildRequest;
  /** Sends one request, once. */
  readonly create: (request: PaymentLinkRequest) => Promise<Created>;
  readonly concurrency: number;
  readonly now: () => Date;
  /** Ends the run: running requests are completed, and no more are sent. */
  readonly stop: (reason: unknown) => void;
  readonly stopped: () => boolean;
  /** Called for each outcome, once it is on disk. */
  readonly settled: (row: Row, outcome: Outcome, request: PaymentLinkRequest | null) => void;
  /** Called for each answer that created a link and breaks the specification. */
  readonly violated: (row: Row, violations: readonly Problem[]) => void;
}

/** Attempts to send one row while it is certain that no link was created. */
const ATTEMPTS = 6;
/** Rows in progress for each request in flight: the others wait for the disk. A kill may leave each of them unknown. */
const ROWS_PER_REQUEST = 2;
/** The run stops after this many rows of unknown outcome in a row, to avoid more of them. */
const MAX_UNKNOWN = 20;

/** The rows of the list that the plan has as due. */
export async function* dueRows(
  rows: AsyncIterable<Row>,
  planned: Iterator<PlannedRow | undefined>,
): AsyncGenerator<DueRow> {
  for await (const row of rows) {
    const { value, done } = planned.next();
    if (done === true) throw changedMeanwhile(row);
    if (value?.isDue === true) yield { row, ...value };
  }
}

/** Resolves when every row in progress is settled, however the run ended. */
export async function sendRows(parts: RunParts): Promise<void> {
  const queue = parts.rows[Symbol.asyncIterator]();
  const state: State = { ...parts, limit: pLimit(parts.concurrency), unknownInARow: 0 };
  const worker = async (): Promise<void> => {
    let reported: Promise<void> | undefined;
    try {
      while (!parts.stopped()) {
        const { done, value: due } = await queue.next();
        if (done === true) break;
        const sent = await sendRow(due, state);
        if (sent !== undefined) reported = report(due.row, sent, parts);
      }
      await reported;
    } catch (error) {
      parts.stop(error);
    }
  };
  await Promise.all(Array.from({ length: parts.concurrency * ROWS_PER_REQUEST }, worker));
}

interface State extends RunParts {
  /** Runs at most `concurrency` requests at a time. */
  readonly limit: LimitFunction;
  unknownInARow: number;
}

interface Sent {
  readonly outcome: Outcome;
  /** Null if it can no longer be sent. */
  readonly request: PaymentLinkRequest | null;
  readonly durable: Promise<void>;
}

/** The worker does not wait for this: the same write to disk also contains the start of its next row. */
async function report(
  row: Row,
  { outcome, request, durable }: Sent,
  { settled, stop }: RunParts,
): Promise<void> {
  try {
    await durable;
    if (outcome.status !== "not_sent") settled(row, outcome, request);
  } catch (error) {
    stop(error);
  }
}

/** Undefined if the run stopped before the row was sent. */
async function sendRow({ row, number, digest }: DueRow, state: State): Promise<Sent | undefined> {
  const { sent: memory, pace, build, now, limit } = state;
  let sent: Sent | undefined;
  for (let attempt = 0; attempt < ATTEMPTS;) {
    if (!(await pace.waitToSend())) return sent;
    // Built for each attempt: a duration counts from the time of sending, and an expiry may have passed.
    const time = now();
    const { request, problems, meant } = requestOf(row, build, time);
    if (digestOf(meant) !== digest) throw changedMeanwhile(row);
    if (request === null) {
      const outcome: Outcome = { status: "refused", error: problemsText(problems) };
      return { outcome, request, durable: memory.settle(number, outcome) };
    }
    await memory.intend(number, stringifyJson(meant), time.getTime(), expiryOf(request, time));
    const outcome = await limit(async () =>
      pace.isOpen() ? judged(await attempted(row, request, state), state) : undefined,
    );
    const settled: Outcome = outcome ?? { status: "not_sent" };
    sent = { outcome: settled, request, durable: memory.settle(number, settled) };
    if (outcome === undefined) continue;
    if (outcome.status !== "not_reached") return sent;
    attempt++;
  }
  return sent;
}

/** When the link can no longer be paid, in ms since 1970. */
const expiryOf = ({ expirationDate }: PaymentLinkRequest, now: Date): number =>
  expirationDate === undefined ? addDuration(now, REUSABLE_LIFETIME).getTime() : Date.parse(expirationDate);

const changedMeanwhile = ({ line }: Row): PaylinkError =>
  new PaylinkError("input_changed", `The list changed while it was being sent (line ${line}).`, {
    hints: [
      hint`The remaining rows were not sent. Run the same command again to continue with the changed list.`,
    ],
  });

interface Attempt {
  readonly outcome: Outcome;
  readonly failure?: PaylinkError;
  /** The time of sending. */
  readonly since: number;
}

/** An unexpected error during a request leaves its outcome unknown and ends the run. */
async function attempted(
  row: Row,
  request: PaymentLinkRequest,
  { create, violated, stop, pace }: RunParts,
): Promise<Attempt> {
  const since = pace.now();
  try {
    const { link, violations } = await create(request);
    if (violations.length > 0) violated(row, violations);
    return { outcome: { status: "created", id: link.id, url: link.url }, since };
  } catch (error) {
    if (!(error instanceof PaylinkError)) {
      stop(error);
      return { outcome: { status: "unknown", error: String(error) }, since };
    }
    const { message, problems, details } = error;
    const body = typeof details["body"] === "string" ? details["body"] : "";
    const said = [message, problemsText(problems), body].filter((part) => part !== "").join(" ");
    return { outcome: { status: statusOf(error.code), error: said }, failure: error, since };
  }
}

/** Failures that affect every row: the first one ends the run. */
const FOR_EVERY_ROW: ReadonlySet<string> = new Set(["unauthorized", "redirected"]);

/** Applies the result of an attempt to the whole run, before the next request is sent. */
function judged({ outcome, failure, since }: Attempt, state: State): Outcome {
  const { pace, stop } = state;
  if (outcome.status !== "not_reached") pace.answered();
  else if (failure !== undefined && !pace.slowDown(since, failure)) stop(failure);
  state.unknownInARow = outcome.status === "unknown" ? state.unknownInARow + 1 : 0;
  if (failure !== undefined && (FOR_EVERY_ROW.has(failure.code) || state.unknownInARow >= MAX_UNKNOWN))
    stop(failure);
  return outcome;
}

/** The status of a row after a failure to create its link. */
function statusOf(code: FailureCode): Status {
  switch (code) {
    case "refused":
    case "unauthorized":
    case "redirected":
      return "refused";
    case "not_reached":
    case "timed_out":
    case "overloaded":
    case "no_token":
    case "no_profile":
    case "usage":
      return "not_reached";
    case "interrupted":
    case "terminated":
      return "not_sent";
    default:
      return "unknown";
  }
}
