/** Time that passes only when a simulated world says so. */
import type { Timers } from "../../src/values/timers.ts";

interface Timer {
  readonly at: number;
  readonly call: () => void;
}

/** When a simulated world begins, in milliseconds since 1970. */
export const BEGIN = new Date("2026-11-21T10:00:00Z").getTime();

export class VirtualTime {
  /** Milliseconds since the world began. */
  elapsed = 0;
  readonly #timers = new Set<Timer>();

  /** The timers of one process: `isAlive` is asked when one of them fires. */
  timersOf(isAlive: () => boolean): Timers {
    return {
      elapsed: () => this.elapsed,
      after: (milliseconds, call) => {
        const timer = { at: this.elapsed + milliseconds, call: () => isAlive() && call() };
        this.#timers.add(timer);
        return () => void this.#timers.delete(timer);
      },
    };
  }

  /** When the next timer fires. */
  next(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#timers].map(({ at }) => at));
  }

  /** Fires the first timer that is due at this moment; of two, the one that was set first. */
  fire(): void {
    const due = [...this.#timers].find(({ at }) => at <= this.elapsed);
    if (due === undefined) return;
    this.#timers.delete(due);
    due.call();
  }
}

/** Lets everything happen that waits for nothing outside: promises, and turns of the event loop. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
