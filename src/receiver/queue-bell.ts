/** What the loop of the queue waits for. */
import type { Timers } from "../values/timers.ts";

/** Somebody rings, or time passes. A ring while nobody waits ends the next wait. */
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
