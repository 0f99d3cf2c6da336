/** Time that passes, by a clock that nobody sets. It is handed in, so that a test can have another. */

export interface Timers {
  /** Milliseconds since some moment. */
  readonly elapsed: () => number;
  /** Calls back once after so many milliseconds. The result cancels that. */
  readonly after: (milliseconds: number, call: () => void) => () => void;
}

export const SYSTEM_TIMERS: Timers = {
  elapsed: () => performance.now(),
  after: (milliseconds, call) => {
    const timer = setTimeout(call, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Resolves after so many milliseconds, or when the signal fires. */
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
