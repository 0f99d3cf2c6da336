/** Time that passes, on the monotonic clock. It is handed in, so that a test can have another. */

export interface Timers {
  /** Milliseconds since some moment, with fractions. */
  readonly elapsed: () => number;
  /** Calls back once after `milliseconds`. The result cancels that. */
  readonly after: (milliseconds: number, call: () => void) => () => void;
}

export const SYSTEM_TIMERS: Timers = {
  elapsed: () => performance.now(),
  after: (milliseconds, call) => {
    const timer = setTimeout(call, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Whole milliseconds since `elapsed` gave `began`. */
export const millisecondsSince = ({ elapsed }: Pick<Timers, "elapsed">, began: number): number =>
  Math.round(elapsed() - began);

/** Resolves after `milliseconds`, or when the signal fires. */
export const passed = ({ after }: Pick<Timers, "after">, milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = after(milliseconds, end);
    signal.addEventListener("abort", end);
  });
