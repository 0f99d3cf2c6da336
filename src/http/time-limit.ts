/** The time limit of a run (`--timeout`): it ends every exchange and every wait, and knows whether something was sent. */
import { PaylinkError } from "../domain/errors.ts";
import { SendError, type SendOptions } from "./exchange.ts";
import type { HttpReply, HttpRequest } from "./message.ts";

/** `Send`, or a sender that takes more, such as that of a broker. */
type Exchange<Others extends readonly unknown[]> = (
  request: HttpRequest,
  options?: SendOptions,
  ...others: Others
) => Promise<HttpReply>;

export type TimeLimit = ReturnType<typeof createTimeLimit>;

/** Resolves after this many milliseconds, or when the signal fires. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export function createTimeLimit(interruption: AbortSignal, now: () => Date) {
  const over = new AbortController();
  let total: number | undefined;
  let deadline = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let inFlight = 0;
  let isDue = false;
  let isSent = false;
  let failure = (): PaylinkError => new PaylinkError("timed_out", "The time of --timeout has passed.");
  const left = (): number => deadline - now().getTime();
  const end = (): void => {
    if (inFlight === 0 && (isDue || left() <= 0)) over.abort(failure());
  };
  const signal = AbortSignal.any([interruption, over.signal]);
  const say = (afterwards: string): void => {
    failure = () => {
      const state = isSent ? afterwards : "Nothing was sent.";
      return new PaylinkError("timed_out", `The time of --timeout has passed. ${state}`);
    };
  };
  return {
    /** Fires at an interruption of the run, and when its time has passed. */
    signal,
    /** Milliseconds of the whole run; undefined without a limit. */
    milliseconds: () => total,
    /** Milliseconds that are left, which may be less than 0; Infinity without a limit. */
    left,
    /** The same `Send` within the limit. The exchange in flight ends first, because it knows whether it was sent. */
    bound:
      <Others extends readonly unknown[]>(send: Exchange<Others>): Exchange<Others> =>
      async (request, options, ...others) => {
        over.signal.throwIfAborted();
        const most = Math.min(options?.timeout ?? Number.POSITIVE_INFINITY, Math.max(1, left()));
        inFlight += 1;
        try {
          const reply = await send(
            request,
            Number.isFinite(most) ? { ...options, timeout: most } : options,
            ...others,
          );
          isSent = true;
          return reply;
        } catch (error) {
          if (!(error instanceof SendError) || error.sent) isSent = true;
          throw error;
        } finally {
          inFlight -= 1;
          end();
        }
      },
    /** The same pause within the limit. Rejects at an interruption, and when the time has passed. */
    boundPause:
      (pause: Pause) =>
      async (milliseconds: number): Promise<void> => {
        const isCut = left() <= milliseconds;
        await pause(Math.max(0, Math.min(milliseconds, left())), signal);
        // A timer may fire a millisecond early by the clock.
        if (isCut) isDue = true;
        end();
        signal.throwIfAborted();
      },
    /** Sets the limit, from now on, unless there is one. `afterwards` says what is known then, unless nothing was sent. */
    start: (milliseconds: number, afterwards: string): void => {
      if (total !== undefined) return;
      total = milliseconds;
      deadline = now().getTime() + milliseconds;
      say(afterwards);
      timer = setTimeout(() => {
        isDue = true;
        end();
      }, milliseconds);
    },
    /** Ends the run then as an interruption does: an exchange in flight has all of its time, and no other one begins. */
    stopAfter: (milliseconds: number, afterwards: string): void => {
      say(afterwards);
      timer = setTimeout(() => over.abort(failure()), milliseconds);
    },
    /** Ends the run with this error instead, once the time has passed. */
    describe: (other: () => PaylinkError): void => void (failure = other),
    /** Without the limit, the process would stay until the time has passed. */
    end: (): void => clearTimeout(timer),
  };
}
