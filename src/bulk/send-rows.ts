/** The second pass over a list: sends each remaining row once, and writes its outcome to disk. */
import pLimit, { type LimitFunction } from "p-limit";
import { isWebAddress } from "../domain/addresses.ts";
import { hint, PaylinkError, type FailureCode, type Problem } from "../domain/errors.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import { isBound, type Outcome, type RequestKey, type SentList, type Status } from "./memory.ts";
import type { Pace } from "./pace.ts";
import { type BuildRequest, requestOf, type Row } from "./row.ts";

/** A created link, as far as the run needs it. */
export interface Created {
  readonly id: string | undefined;
  readonly url: string | undefined;
  /** The answer of the service. */
  readonly body: string;
  /** The rules of the specification that the answer breaks. */
  readonly violations: readonly Problem[];
}

export interface RunParts {
  readonly rows: AsyncIterable<Row>;
  /** The digest of each row, by its position. */
  readonly digests: ArrayLike<number>;
  /** Whether this run sends the row. */
  readonly isDue: (index: number) => boolean;
  readonly sent: SentList;
  readonly pace: Pace;
  readonly build: BuildRequest;
  /** Sends one request, once. */
  readonly create: (request: PaymentLinkRequest, key: string | undefined) => Promise<Created>;
  /** The key of a row; undefined if the service recognises none. */
  readonly keyOf: (index: number) => RequestKey | undefined;
  /** Whether a refusal settles a row of unknown outcome. */
  readonly retryUnknown: boolean;
  readonly concurrency: number;
  /** The service's time. */
  readonly now: () => Date;
  /** Ends the run: running requests are completed, and no more are sent. */
  readonly stop: (reason: unknown) => void;
  readonly stopped: () => boolean;
  /** Called for each outcome, once it is on disk. */
  readonly settled: (row: Row, outcome: Outcome) => void;
  /** Called for each answer that created a link and breaks the specification. */
  readonly violated: (row: Row, violations: readonly Problem[]) => void;
}

/** Attempts to send one row while it is certain that no link was created. */
const ATTEMPTS = 6;
/** The same while a link may exist, and the service recognises the key. */
const KEYED_ATTEMPTS = 4;
/** Rows in progress for each request in flight: the others wait for the disk. A kill may leave each of them unknown. */
const ROWS_PER_REQUEST = 2;
/** The run stops after this many rows of unknown outcome in a row, to avoid more of them. */
const MAX_UNKNOWN = 20;

/** Resolves when every row in progress is settled, however the run ended. */
export async function sendRows(parts: RunParts): Promise<void> {
  const queue = parts.rows[Symbol.asyncIterator]();
  const state: State = { ...parts, limit: pLimit(parts.concurrency), unknownInARow: 0 };
  const worker = async (): Promise<void> => {
    let reported: Promise<void> | undefined;
    try {
      while (!parts.stopped()) {
        const { done, value: row } = await queue.next();
        if (done === true) break;
        if (!parts.isDue(row.index)) continue;
        const sent = await sendRow(row, state);
        if (sent !== undefined) reported = report(row, sent, parts);
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
  readonly durable: Promise<void>;
}

/** The worker does not wait for this: the same write to disk also contains the start of its next row. */
async function report(row: Row, { outcome, durable }: Sent, { settled, stop }: RunParts): Promise<void> {
  try {
    await durable;
    if (outcome.status !== "not_sent") settled(row, outcome);
  } catch (error) {
    stop(error);
  }
}

/** Undefined if the run stopped before the row was sent. */
async function sendRow(row: Row, state: State): Promise<Sent | undefined> {
  const { digests, sent: list, pace, build, now, limit, retryUnknown } = state;
  const key = state.keyOf(row.index);
  let doubt: Outcome<unknown> | undefined =
    key !== undefined && isBound(list.state(row.index)) ? list.outcome(row.index) : undefined;
  let attempt = 0;
  const settle = (result: Outcome): Sent => {
    const isTrusted = retryUnknown && attempt === 0 && result.status === "refused";
    const outcome = doubt === undefined || isTrusted ? result : settledDoubt(doubt, result);
    return { outcome, durable: list.settle(row.index, outcome) };
  };
  let sent: Sent | undefined;
  while (attempt < (doubt === undefined ? ATTEMPTS : KEYED_ATTEMPTS)) {
    if (!(await pace.waitToSend())) return sent;
    // Without a key, built for each attempt: a duration counts from the time of sending, and an expiry may have passed.
    const time = key === undefined ? now() : new Date(key.time);
    const { request, problems, digest } = requestOf(row, build, time);
    if (digest !== digests[row.index]) throw changedMeanwhile(row);
    if (request === null) return settle({ status: "refused", error: problems.map(words).join("; ") });
    await list.intend(row.index, key);
    const outcome = await limit(async () =>
      pace.isOpen() ? judged(await attempted(row, request, key, state), state, key) : undefined,
    );
    sent = settle(outcome ?? { status: "not_sent" });
    if (outcome === undefined) continue;
    attempt++;
    const { status } = sent.outcome;
    if (status === "unknown" && key !== undefined) {
      doubt = sent.outcome;
      if (attempt < KEYED_ATTEMPTS) await pace.waitToRepeat(attempt);
    } else if (status !== "not_reached") return sent;
  }
  return sent;
}

const changedMeanwhile = ({ line }: Row): PaylinkError =>
  new PaylinkError("input_changed", `The list changed while it was being sent (line ${line}).`, {
    hints: [
      hint`The remaining rows were not sent. Run the same command again to continue with the changed list.`,
    ],
  });

const words = ({ at, message }: { readonly at: string; readonly message: string }): string =>
  `${at} ${message}`.trim();

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
  key: RequestKey | undefined,
  { create, violated, stop, pace }: RunParts,
): Promise<Attempt> {
  const since = pace.now();
  try {
    const { id, url, body, violations } = await create(request, key?.value);
    if (url === undefined || !isWebAddress(url)) {
      const error = `The link may exist, but the answer of the service has no URL: ${body}`;
      return { outcome: { status: "unknown", id, error }, since };
    }
    if (violations.length > 0) violated(row, violations);
    return { outcome: { status: "created", id, url }, since };
  } catch (error) {
    if (!(error instanceof PaylinkError)) {
      stop(error);
      return { outcome: { status: "unknown", error: String(error) }, since };
    }
    const { message, problems, details } = error;
    const body = typeof details["body"] === "string" ? [details["body"]] : [];
    const said = [message, ...problems.map(words), ...body].join(" ");
    return { outcome: { status: statusOf(error.code), error: said }, failure: error, since };
  }
}

/** Failures that affect every row: the first one ends the run. */
const FOR_EVERY_ROW: ReadonlySet<string> = new Set(["unauthorized", "redirected"]);

/** Applies the result of an attempt to the whole run, before the next request is sent. */
function judged({ outcome, failure, since }: Attempt, state: State, key?: RequestKey): Outcome {
  const { pace, stop } = state;
  const mostUnknown = key === undefined ? MAX_UNKNOWN : MAX_UNKNOWN * KEYED_ATTEMPTS;
  if (outcome.status !== "not_reached") pace.answered();
  else if (failure !== undefined && !pace.slowDown(since, failure)) stop(failure);
  state.unknownInARow = outcome.status === "unknown" ? state.unknownInARow + 1 : 0;
  if (failure !== undefined && (FOR_EVERY_ROW.has(failure.code) || state.unknownInARow >= mostUnknown))
    stop(failure);
  return outcome;
}

/** Only a link ends the doubt: a refusal of this request does not show whether an earlier one created a link. */
const settledDoubt = (doubt: Outcome<unknown>, result: Outcome): Outcome =>
  result.status === "created"
    ? result
    : { status: "unknown", id: doubt.id, error: result.error ?? doubt.error };

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
