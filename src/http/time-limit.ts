/** The time limit of a run (`--timeout`): it ends every exchange and every wait, and knows whether something was sent. */
import { PaylinkError } from "../domain/errors.ts";
import type { Timers } from "../domain/timers.ts";
import { type Send, SendError } from "./exchange.ts";

export type TimeLimit = ReturnType<typeof createTimeLimit>;

/** Resolves after this many milliseconds, or when the signal fires. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export function createTimeLimit(interruption: AbortSignal, { elapsed, after }: Timers) {
  const over = new AbortController();
  let total: number | undefined;
  let deadline = Number.POSITIVE_INFINITY;
  let cancel = (): void => undefined;
  let inFlight = 0;
  let isDue = false;
  let isSent = false;
  let failure = (): PaylinkError => new PaylinkError("timed_out", "The time of --timeout has passed.");
  const left = (): number => deadline - elapsed();
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
  const exchange = async <T>(
    timeout: number | undefined,
    work: (timeout: number | undefined) => Promise<T>,
    wasSent: (result: T) => boolean,
  ): Promise<T> => {
    over.signal.throwIfAborted();
    const most = Math.min(timeout ?? Number.POSITIVE_INFINITY, Math.max(1, left()));
    inFlight += 1;
    try {
      const result = await work(Number.isFinite(most) ? most : timeout);
      isSent ||= wasSent(result);
      return result;
    } catch (error) {
      if (!(error instanceof SendError) || error.sent) isSent = true;
      throw error;
    } finally {
      inFlight -= 1;
      end();
    }
  };
  return {
    /** Fires at an interruption of the run, and when its time has passed. */
    signal,
    /** Milliseconds of the whole run; undefined without a limit. */
    milliseconds: () => total,
    /** Milliseconds that are left, which may be less than 0; Infinity without a limit. */
    left,
    /**
     * An exchange within the limit: `work` gets the milliseconds that it may take. The exchange in flight ends first, because it
     * knows whether it was sent.
     */
    exchange,
    /** The same `Send` within the limit. */
    bound:
      (send: Send): Send =>
      (request, options) =>
        exchange(
          options?.timeout,
          (timeout) => send(request, timeout === undefined ? options : { ...options, timeout }),
          () => true,
        ),
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
      deadline = elapsed() + milliseconds;
      say(afterwards);
      cancel = after(milliseconds, () => {
        isDue = true;
        end();
      });
    },
    /** Ends the run then as an interruption does: an exchange in flight has all of its time, and no other one begins. */
    stopAfter: (milliseconds: number, afterwards: string): void => {
      say(afterwards);
      cancel = after(milliseconds, () => over.abort(failure()));
    },
    /** Ends the run with this error instead, once the time has passed. */
    describe: (other: () => PaylinkError): void => void (failure = other),
    /** Without the limit, the process would stay until the time has passed. */
    end: (): void => cancel(),
  };
}
