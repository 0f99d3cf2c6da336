/** How fast a run goes: under its ceiling, and stopping as a whole for as long as the service asks it to. */
import { backoff } from "../api/retries.ts";

export interface PaceParts {
  /** Requests a second; undefined is as fast as the answers come. */
  readonly rate: number | undefined;
  /** Milliseconds, of any clock that only runs forwards. */
  readonly clock: () => number;
  /** Resolves after so many milliseconds, or as soon as the run is to stop. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly stopped: () => boolean;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Hears of each pause. */
  readonly paused: (milliseconds: number) => void;
}

/** Pauses in a row, without an answer in between, after which the service is given up. */
const PATIENCE = 6;
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;

export class Pace {
  private readonly parts: PaceParts;
  private nextTurn = 0;
  private pausedAt = Number.NEGATIVE_INFINITY;
  private pausedUntil = Number.NEGATIVE_INFINITY;
  private pauses = 0;

  constructor(parts: PaceParts) {
    this.parts = parts;
  }

  /** Resolves when the next request may leave: true; or when none may any more: false. */
  async turn(): Promise<boolean> {
    const { rate, clock, sleep, stopped } = this.parts;
    const mine = Math.max(this.nextTurn, clock());
    if (rate !== undefined) this.nextTurn = mine + 1000 / rate;
    for (;;) {
      if (stopped()) return false;
      const wait = Math.max(mine, this.pausedUntil) - clock();
      if (wait <= 0) return true;
      await sleep(wait);
    }
  }

  /** Whether a request whose turn has come may still leave. */
  isOpen(): boolean {
    const { clock, stopped } = this.parts;
    return !stopped() && clock() >= this.pausedUntil;
  }

  /** The service took part in an exchange. */
  answered(): void {
    this.pauses = 0;
  }

  /**
   * The service could not take a request that left at `since`: everybody waits, for as long as it says or about twice as
   * long as the time before. False where its patience is at an end. Requests that left together are one refusal.
   */
  slowDown(since: number, retryAfter: number | undefined): boolean {
    const now = this.parts.clock();
    const again = since >= this.pausedAt;
    if (again) this.pauses++;
    if (this.pauses > PATIENCE) return false;
    const pause = retryAfter ?? Math.min(LONGEST_PAUSE, backoff(FIRST_PAUSE, this.pauses, this.parts.random));
    if (again) this.pausedAt = now;
    if (now + pause > this.pausedUntil) {
      this.pausedUntil = now + pause;
      if (again) this.parts.paused(pause);
    }
    return true;
  }
}
