/** Repeats a request that had no effect (not sent, 429, 503), or that the service recognises by its key. */
import { PaylinkError } from "../domain/errors.ts";
import { SendError, SendTimeout, type Send, type SendOptions } from "../http/exchange.ts";
import { type HttpReply, type HttpRequest, retryAfter } from "../http/message.ts";
import { failureOf, isOverloaded, refusalOf } from "./failures.ts";

/** How many times a request is sent again. */
const RETRIES = 3;
/** Milliseconds before the first retry, on average. */
const FIRST_WAIT = 250;

export interface Wait {
  readonly milliseconds: number;
  /** Why the request is repeated. */
  readonly reason: string;
  /** Whether the last attempt may have had its effect. */
  readonly mayHaveArrived: boolean;
  /** The number of the next retry, from 1. */
  readonly retry: number;
  readonly retries: number;
}

export interface RetryParts {
  readonly send: Send;
  readonly now: () => Date;
  /** From 0 up to 1: spreads the retries of clients that failed together. */
  readonly random: () => number;
  /** Resolves after this many milliseconds; rejects when the run is interrupted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly waiting: (wait: Wait) => void;
  /** Milliseconds until the command must end; a longer wait does not start. */
  readonly timeLeft: () => number;
}

export interface RetryOptions extends SendOptions {
  /** The request carries a key, so it has its effect only once, however often it is sent. */
  readonly isKeyed?: boolean;
}

export type SendWithRetries = (request: HttpRequest, options?: RetryOptions) => Promise<HttpReply>;

/**
 * The same `Send`, with retries. The timeout is for all attempts with the waits between them, so a `Retry-After` beyond it
 * ends them. Returns the last reply or throws the last failure. After an attempt that may have arrived, only a success
 * settles the outcome: a refusal of a later attempt does not show whether the first one had its effect.
 */
export function withRetries({
  send,
  now,
  random,
  pause,
  waiting,
  timeLeft: runLeft,
}: RetryParts): SendWithRetries {
  return async (request, { isKeyed = false, timeout, ...options } = {}) => {
    const deadline = timeout === undefined ? Infinity : now().getTime() + timeout;
    const timeLeft = (): number => Math.min(deadline - now().getTime(), runLeft());
    let doubt: string | undefined;
    for (let retry = 1; ; retry++) {
      const limits = timeout === undefined ? options : { ...options, timeout: Math.max(1, timeLeft()) };
      const result = await send(request, limits).catch(sendError);
      const cause = causeToRepeat(result, { isKeyed, mayChange: options.finish === true, now: now() });
      const milliseconds = cause?.asked ?? backoff(FIRST_WAIT, retry, random);
      if (cause === undefined || retry > RETRIES || milliseconds >= timeLeft()) {
        return settled(result, doubt);
      }
      const { reason, mayHaveArrived } = cause;
      if (mayHaveArrived) doubt ??= reason;
      waiting({ milliseconds, reason, mayHaveArrived, retry, retries: RETRIES });
      await pause(milliseconds);
    }
  };
}

function settled(result: HttpReply | SendError, doubt: string | undefined): HttpReply {
  const failure = result instanceof SendError ? result.message : `it answered ${result.status}`;
  const succeeded = !(result instanceof SendError) && result.status >= 200 && result.status < 300;
  if (doubt !== undefined && !succeeded)
    throw new SendError(`${doubt}; then, with the same key, ${failure}`, true, result);
  if (result instanceof SendError) throw result;
  return result;
}

function sendError(error: unknown): SendError {
  if (error instanceof SendError) return error;
  throw error;
}

interface Cause extends Pick<Wait, "reason" | "mayHaveArrived"> {
  /** Milliseconds that the service asks to wait. */
  readonly asked?: number | undefined;
}

interface Circumstances {
  readonly isKeyed: boolean;
  /** Whether the request may change something. */
  readonly mayChange: boolean;
  readonly now: Date;
}

function causeToRepeat(
  result: HttpReply | SendError,
  { isKeyed, mayChange, now }: Circumstances,
): Cause | undefined {
  if (result instanceof SendError) {
    const mayRepeat = (!result.sent || isKeyed) && !(result instanceof SendTimeout);
    return mayRepeat ? { reason: result.message, mayHaveArrived: result.sent } : undefined;
  }
  const { status } = result;
  const mayHaveArrived = !isOverloaded(result, mayChange);
  if (mayHaveArrived && !(isKeyed && status >= 500)) return undefined;
  return { reason: `it answered ${status}`, mayHaveArrived, asked: retryAfter(result, now) };
}

/**
 * The same `Send` for a run that retries by itself: throws `overloaded` with the wait that the service asks for, and
 * `not_reached` if the request was not sent.
 */
export function withoutRetries(send: Send, now: () => Date): Send {
  return async (request, options) => {
    const reply = await send(request, options).catch((error: unknown) => {
      throw error instanceof SendError && !error.sent ? failureOf(error, "create") : error;
    });
    if (!isOverloaded(reply, options?.finish === true)) return reply;
    const { message, details } = refusalOf(reply, "create");
    throw new PaylinkError("overloaded", message, {
      details: { ...details, retryAfter: retryAfter(reply, now()) },
    });
  };
}

/** Milliseconds before the nth retry if the service gives no time: doubled each time, plus or minus a half. */
export function backoff(first: number, nth: number, random: () => number): number {
  return first * 2 ** (nth - 1) * (0.5 + random());
}
