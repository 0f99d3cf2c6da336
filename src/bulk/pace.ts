/** Controls the speed of a run: the rate limit, and pauses of the whole run when the service is overloaded. */
import type { PaylinkError } from "../domain/errors.ts";
import { backoff } from "../service/retries.ts";

export interface PaceParts {
  /** Requests per second; undefined for no limit. */
  readonly rate: number | undefined;
  /** Milliseconds of a clock that never goes backwards. */
  readonly clock: () => number;
  /** Resolves after this many milliseconds, or earlier if the run stops. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly stopped: () => boolean;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Called for each pause, with its cause. */
  readonly paused: (milliseconds: number, cause: PaylinkError) => void;
}

/** The run stops after this many pauses without an answer in between. */
const MOST_PAUSES = 6;
/** Milliseconds, on average. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;

export class Pace {
  private readonly parts: PaceParts;
  private nextStart = 0;
  private pausedAt = Number.NEGATIVE_INFINITY;
  private pausedUntil = Number.NEGATIVE_INFINITY;
  private pauses = 0;

  constructor(parts: PaceParts) {
    this.parts = parts;
  }

  /** Waits until the next request may be sent; false if the run stops first. */
  async waitToSend(): Promise<boolean> {
    const { rate, clock, sleep, stopped } = this.parts;
    const start = Math.max(this.nextStart, clock());
    if (rate !== undefined) this.nextStart = start + 1000 / rate;
    for (;;) {
      if (stopped()) return false;
      const wait = Math.max(start, this.pausedUntil) - clock();
      if (wait <= 0) return true;
      await sleep(wait);
    }
  }

  /** The clock of `slowDown`. */
  now(): number {
    return this.parts.clock();
  }

  /** Whether a request may be sent right now. */
  isOpen(): boolean {
    const { clock, stopped } = this.parts;
    return !stopped() && clock() >= this.pausedUntil;
  }

  /** The service answered a request. */
  answered(): void {
    this.pauses = 0;
  }

  /**
   * The service could not accept a request sent at `since`: the whole run waits for as long as the service asks, or about
   * twice as long as the last time. Requests that were sent together count as one pause. False after too many pauses.
   */
  slowDown(since: number, cause: PaylinkError): boolean {
    const { retryAfter } = cause.details;
    const now = this.parts.clock();
    const again = since >= this.pausedAt;
    if (again) this.pauses++;
    if (this.pauses > MOST_PAUSES) return false;
    const wait = Math.min(LONGEST_PAUSE, backoff(FIRST_PAUSE, this.pauses, this.parts.random));
    const pause = typeof retryAfter === "number" ? retryAfter : wait;
    if (again) this.pausedAt = now;
    if (now + pause > this.pausedUntil) {
      this.pausedUntil = now + pause;
      if (again) this.parts.paused(pause, cause);
    }
    return true;
  }
}
