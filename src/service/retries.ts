/** Repeats a request that had no effect: it was not sent, or the service answered 429 or 503. */
import type { Timers } from "../values/timers.ts";
import { SendError, SendTimeout, type Send } from "../http/exchange.ts";
import { type HttpReply, retryAfter } from "../http/message.ts";
import { isLasting } from "../http/send-failure.ts";
import { isOverloaded } from "./failures.ts";

/** How many times a request is sent again. */
const RETRIES = 3;
/** Milliseconds before the first retry, on average. */
const FIRST_WAIT = 250;

export interface Wait {
  readonly milliseconds: number;
  /** Why the request is repeated, as the start of a sentence. */
  readonly reason: string;
  /** The number of the next retry, from 1. */
  readonly retry: number;
  readonly retries: number;
}

export interface RetryParts {
  readonly send: Send;
  readonly now: () => Date;
  readonly timers: Pick<Timers, "elapsed">;
  /** From 0 up to 1: spreads the retries of clients that failed together. */
  readonly random: () => number;
  /** Resolves after this many milliseconds; rejects when the run is interrupted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly waiting: (wait: Wait) => void;
  /** Milliseconds until the command must end; a longer wait does not start. */
  readonly timeLeft: () => number;
}

/**
 * The same `Send`, with retries. The timeout is for all attempts with the waits between them, so a `Retry-After` beyond it
 * ends them. Returns the last reply or throws the last failure.
 */
export function withRetries({
  send,
  now,
  timers,
  random,
  pause,
  waiting,
  timeLeft: runLeft,
}: RetryParts): Send {
  return async (request, { timeout, ...options } = {}) => {
    const deadline = timeout === undefined ? Infinity : timers.elapsed() + timeout;
    const timeLeft = (): number => Math.min(deadline - timers.elapsed(), runLeft());
    for (let retry = 1; ; retry++) {
      const limits =
        timeout === undefined ? options : { ...options, timeout: Math.max(1, Math.ceil(timeLeft())) };
      const result = await send(request, limits).catch(sendError);
      const cause = causeToRepeat(result, options.finish === true, now());
      const milliseconds = cause?.asked ?? backoff(FIRST_WAIT, retry, random);
      if (cause === undefined || retry > RETRIES || milliseconds >= timeLeft()) {
        if (result instanceof SendError) throw result;
        return result;
      }
      waiting({ milliseconds, reason: cause.reason, retry, retries: RETRIES });
      await pause(milliseconds);
    }
  };
}

function sendError(error: unknown): SendError {
  if (error instanceof SendError) return error;
  throw error;
}

interface Cause {
  readonly reason: string;
  /** Milliseconds that the service asks to wait. */
  readonly asked?: number | undefined;
}

/** Undefined if the request has arrived, or may have, or if waiting does not help. */
function causeToRepeat(result: HttpReply | SendError, mayChange: boolean, now: Date): Cause | undefined {
  if (result instanceof SendError)
    return result.sent || result instanceof SendTimeout || isLasting(result)
      ? undefined
      : { reason: `The service was not reached: ${result.message}` };
  if (!isOverloaded(result, mayChange)) return undefined;
  return { reason: `The service answered ${result.status} and did nothing`, asked: retryAfter(result, now) };
}

/** Milliseconds before the nth retry if the service gives no time: doubled each time, plus or minus a half. */
export function backoff(first: number, nth: number, random: () => number): number {
  return first * 2 ** (nth - 1) * (0.5 + random());
}
