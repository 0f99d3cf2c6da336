/** The time limit of a run (`--timeout`): it ends every exchange and every wait, and knows whether something was sent. */
import { PaylinkError } from "../domain/errors.ts";
import { formatDuration } from "../values/time.ts";
import type { Timers } from "../values/timers.ts";
import { type Send, SendError } from "./exchange.ts";

/** Resolves after this many milliseconds, or when the signal fires. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/** Milliseconds: no timer of a process that runs is as late as this. */
const SUSPENDED = 1_000;

export class TimeLimit {
  /** Fires at an interruption of the run, and when its time has passed. */
  readonly signal: AbortSignal;
  readonly #timers: Timers;
  readonly #over = new AbortController();
  #limit: { readonly milliseconds: number; readonly deadline: number } | undefined;
  #cancel = (): void => undefined;
  #hasPassed = false;
  /** Milliseconds that a run which was suspended past its deadline gets once; undefined after that. */
  #grace: number | undefined = 0;
  /** Of the exchanges so far: how many are in flight, and whether one was sent. */
  #exchanges = { inFlight: 0, wasSent: false };
  #failure = (): PaylinkError => new PaylinkError("timed_out", "Timed out.");

  constructor(interruption: AbortSignal, timers: Timers) {
    this.signal = AbortSignal.any([interruption, this.#over.signal]);
    this.#timers = timers;
  }

  /** Milliseconds of the whole run; undefined without a limit. */
  get milliseconds(): number | undefined {
    return this.#limit?.milliseconds;
  }

  /** Whole milliseconds that are left, which may be less than 0; Infinity without a limit. */
  left(): number {
    return Math.ceil((this.#limit?.deadline ?? Number.POSITIVE_INFINITY) - this.#timers.elapsed());
  }

  /** Whether the time has passed, and the run goes on only because it was suspended. */
  get isInGrace(): boolean {
    return this.#grace === undefined;
  }

  /** Gives a run that was suspended past its deadline (SIGSTOP) these milliseconds more, to see how things stand now. */
  graceAfterSuspension(milliseconds: number): void {
    this.#grace = milliseconds;
  }

  /** Sets the limit, from now on, unless there is one. `afterwards` says what is known then, unless nothing was sent. */
  start(milliseconds: number, afterwards: string): void {
    if (this.#limit !== undefined) return;
    this.#limit = { milliseconds, deadline: this.#timers.elapsed() + milliseconds };
    this.#saysAfterwards(milliseconds, afterwards);
    this.#cancel = this.#timers.after(milliseconds, () => this.#pass());
  }

  /** Ends the run then as an interruption does: an exchange in flight has all of its time, and no other one begins. */
  stopAfter(milliseconds: number, afterwards: string): void {
    this.#saysAfterwards(milliseconds, afterwards);
    this.#cancel = this.#timers.after(milliseconds, () => this.#over.abort(this.#failure()));
  }

  /** Ends the run with this error instead, once the time has passed. */
  describe(failure: () => PaylinkError): void {
    this.#failure = failure;
  }

  /** Without the limit, the process would stay until the time has passed. */
  release(): void {
    this.#cancel();
  }

  /**
   * An exchange within the limit: `work` gets the milliseconds that it may take. The exchange in flight ends first, because it
   * knows whether it was sent.
   */
  async exchange<T>(
    timeout: number | undefined,
    work: (timeout: number | undefined) => Promise<T>,
    wasSent: (result: T) => boolean,
  ): Promise<T> {
    this.#over.signal.throwIfAborted();
    const most = Math.min(timeout ?? Number.POSITIVE_INFINITY, Math.max(1, this.left()));
    this.#exchanges.inFlight += 1;
    try {
      const result = await work(Number.isFinite(most) ? most : timeout);
      this.#exchanges.wasSent ||= wasSent(result);
      return result;
    } catch (error) {
      if (!(error instanceof SendError) || error.sent) this.#exchanges.wasSent = true;
      throw error;
    } finally {
      this.#exchanges.inFlight -= 1;
      this.#endIfPassed();
    }
  }

  /** The same `Send` within the limit. */
  bound(send: Send): Send {
    return (request, options) =>
      this.exchange(
        options?.timeout,
        (timeout) => send(request, timeout === undefined ? options : { ...options, timeout }),
        () => true,
      );
  }

  /** The same pause within the limit. Rejects at an interruption, and when the time has passed. */
  boundPause(pause: Pause): (milliseconds: number) => Promise<void> {
    return async (milliseconds) => {
      const isCut = this.left() <= milliseconds;
      await pause(Math.max(0, Math.min(milliseconds, this.left())), this.signal);
      // A timer may fire a millisecond early by the clock.
      if (isCut) this.#pass();
      else this.#endIfPassed();
      this.signal.throwIfAborted();
    };
  }

  #pass(): void {
    this.#hasPassed = true;
    this.#endIfPassed();
  }

  /** Not before the exchanges in flight have ended. */
  #endIfPassed(): void {
    if (this.#exchanges.inFlight > 0 || !(this.#hasPassed || this.left() <= 0)) return;
    if (this.#limit !== undefined && this.#grace && this.left() <= -SUSPENDED)
      this.#extend(this.#limit.milliseconds, this.#grace);
    else this.#over.abort(this.#failure());
  }

  #extend(milliseconds: number, grace: number): void {
    this.#cancel();
    this.#limit = { milliseconds, deadline: this.#timers.elapsed() + grace };
    [this.#grace, this.#hasPassed] = [undefined, false];
    this.#cancel = this.#timers.after(grace, () => this.#pass());
  }

  #saysAfterwards(milliseconds: number, afterwards: string): void {
    this.#failure = () => {
      const timedOut = `Timed out after ${formatDuration(milliseconds)}.`;
      return this.#exchanges.wasSent
        ? new PaylinkError("timed_out", `${timedOut} ${afterwards}`)
        : new PaylinkError("timed_out", timedOut, { consequence: "Nothing was sent." });
    };
  }
}
