/** Repeats a request that certainly had no effect: it was not sent, or the service answered 429 or 503. */
import { PaylinkError } from "../domain/errors.ts";
import { SendError, SendTimeout, type Send, type SendOptions } from "../http/exchange.ts";
import { fieldLines, type HttpReply, type HttpRequest } from "../http/message.ts";
import { failureOf, refusalOf } from "./failures.ts";

/** How often a request is sent again. */
const RETRIES = 3;
/** Milliseconds before the first retry, on average. */
const FIRST_WAIT = 250;
/** The longest `Retry-After` to wait for, in milliseconds. Whether to wait longer is for the user to decide. */
const LONGEST_WAIT = 60_000;

export interface Wait {
  readonly milliseconds: number;
  /** Why the request is repeated. */
  readonly reason: string;
  /** The number of the next retry, from 1. */
  readonly retry: number;
  readonly retries: number;
}

export interface RetryParts {
  readonly send: Send;
  readonly now: () => Date;
  /** From 0 up to 1: spreads the retries of clients that failed together. */
  readonly random: () => number;
  /** Resolves after so many milliseconds; rejects when the run is interrupted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly waiting: (wait: Wait) => void;
  /** Milliseconds until the command must end; a longer wait is not begun. */
  readonly timeLeft: () => number;
}

/** The same `Send`, with retries, unless the time for the exchange has passed. Returns the last reply or throws the last failure. */
export function withRetries({ send, now, random, pause, waiting, timeLeft }: RetryParts): Send {
  const attempt = async (request: HttpRequest, options: SendOptions, retry: number): Promise<HttpReply> => {
    const again = async (reason: string, milliseconds: number): Promise<HttpReply> => {
      waiting({ milliseconds, reason, retry, retries: RETRIES });
      await pause(milliseconds);
      return attempt(request, options, retry + 1);
    };
    const result = await send(request, options).catch((error: unknown) => {
      if (retry <= RETRIES && error instanceof SendError && !error.sent && !(error instanceof SendTimeout))
        return error;
      throw error;
    });
    const usual = backoff(FIRST_WAIT, retry, random);
    if (result instanceof SendError) {
      if (usual > timeLeft()) throw result;
      return again(result.message, usual);
    }
    if (retry > RETRIES || !isOverloaded(result)) return result;
    const wait = retryAfter(result, now()) ?? usual;
    return wait > Math.min(LONGEST_WAIT, timeLeft()) ? result : again(`it answered ${result.status}`, wait);
  };
  return (request, options = {}) => attempt(request, options, 1);
}

/**
 * The same `Send` for a run that retries by itself: throws `overloaded` with the wait that the service asks for, and
 * `not_reached` if the request was not sent.
 */
export function withoutRetries(send: Send, now: () => Date): Send {
  return async (request, options) => {
    const reply = await send(request, options).catch((error: unknown) => {
      throw error instanceof SendError && !error.sent ? failureOf(error, "creates") : error;
    });
    if (!isOverloaded(reply)) return reply;
    const { message, details } = refusalOf(reply, "creates");
    throw new PaylinkError("overloaded", message, {
      details: { ...details, retryAfter: retryAfter(reply, now()) },
    });
  };
}

/** Milliseconds before the nth retry if the service gives no time: doubled each time, plus or minus a half. */
export function backoff(first: number, nth: number, random: () => number): number {
  return first * 2 ** (nth - 1) * (0.5 + random());
}

/** Too Many Requests (RFC 6585 4) and Service Unavailable (RFC 9110 15.6.4): nothing was done. */
const isOverloaded = ({ status }: HttpReply): boolean => status === 429 || status === 503;

/** Milliseconds that `Retry-After` asks for, as seconds or as a date (RFC 9110 10.2.3). */
export function retryAfter(reply: HttpReply, now: Date): number | undefined {
  const [value = ""] = fieldLines(reply.headers, "retry-after");
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  // An HTTP-date begins with the name of the day; Date.parse alone accepts many other texts.
  const date = /^[A-Z][a-z]+,? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
