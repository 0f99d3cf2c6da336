/** Sends again what provably did nothing: a request that never left, and one that the service put off. */
import { SendError, type Send, type SendOptions } from "../http/exchange.ts";
import { fieldLines, type HttpReply, type HttpRequest } from "../http/message.ts";

/** How often a request is sent again. */
const RETRIES = 3;
/** Milliseconds before the first retry, on average. */
const FIRST_WAIT = 250;
/** What a service may ask for, in milliseconds; a longer wait is for the user to decide on. */
const LONGEST_WAIT = 60_000;

export interface Wait {
  readonly milliseconds: number;
  /** What came instead of an answer. */
  readonly reason: string;
  /** Which retry the wait leads to, from 1. */
  readonly retry: number;
  readonly retries: number;
}

export interface RetryParts {
  readonly send: Send;
  readonly now: () => Date;
  /** From 0 up to 1: keeps clients that failed together from coming back together. */
  readonly random: () => number;
  /** Resolves after so many milliseconds; rejects when the run is interrupted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly waiting: (wait: Wait) => void;
}

/** The same `Send`, with retries. The last reply, or the last failure, is the caller's. */
export function withRetries({ send, now, random, pause, waiting }: RetryParts): Send {
  const attempt = async (request: HttpRequest, options: SendOptions, retry: number): Promise<HttpReply> => {
    const again = async (reason: string, asked: number | undefined): Promise<HttpReply> => {
      const milliseconds = asked ?? backoff(FIRST_WAIT, retry, random);
      waiting({ milliseconds, reason, retry, retries: RETRIES });
      await pause(milliseconds);
      return attempt(request, options, retry + 1);
    };
    const result = await send(request, options).catch((error: unknown) => {
      if (retry <= RETRIES && error instanceof SendError && !error.sent) return error;
      throw error;
    });
    if (result instanceof SendError) return again(result.message, undefined);
    if (retry > RETRIES || !isPutOff(result)) return result;
    const asked = retryAfter(result, now());
    return asked !== undefined && asked > LONGEST_WAIT
      ? result
      : again(`it answered ${result.status}`, asked);
  };
  return (request, options = {}) => attempt(request, options, 1);
}

/** Milliseconds before the nth retry where the service names no time: twice as long each time, give or take a half. */
export function backoff(first: number, nth: number, random: () => number): number {
  return first * 2 ** (nth - 1) * (0.5 + random());
}

/** Too Many Requests (RFC 6585 4) and Service Unavailable (RFC 9110 15.6.4): nothing was done. */
const isPutOff = ({ status }: HttpReply): boolean => status === 429 || status === 503;

/** Milliseconds that `Retry-After` asks for, as seconds or as a date (RFC 9110 10.2.3). */
export function retryAfter(reply: HttpReply, now: Date): number | undefined {
  const [value = ""] = fieldLines(reply.headers, "retry-after");
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  // An HTTP-date begins with its day's name; Date.parse alone would take many things for a date.
  const date = /^[A-Z][a-z]+,? /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
