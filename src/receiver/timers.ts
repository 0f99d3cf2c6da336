/** Time as the queue takes it: from a clock that nobody sets, and handed in, so that a test can have another. */

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

/** What a loop waits for: somebody rings, or time passes. A ring that nobody waits for is heard by the next wait. */
export interface Bell {
  readonly ring: () => void;
  readonly heard: (milliseconds: number) => Promise<void>;
}

export function createBell({ after }: Timers): Bell {
  let isRung = false;
  let wake = (): void => undefined;
  return {
    ring: () => {
      isRung = true;
      wake();
    },
    heard: async (milliseconds) => {
      if (!isRung)
        await new Promise<void>((resolve) => {
          const cancel = after(milliseconds, resolve);
          wake = () => {
            cancel();
            resolve();
          };
        });
      isRung = false;
    },
  };
}
