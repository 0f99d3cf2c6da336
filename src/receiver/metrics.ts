/** What the receiver reports about its work, for whoever watches it: counts, durations, and what still waits. */
import type { EventLog, Forward, Rejection, WebhookEvent } from "./events.ts";

export interface Metrics {
  /** A request was accepted or rejected. */
  readonly observe: (outcome: WebhookEvent | Rejection) => void;
  /** An event was stored, and it took so long. */
  readonly stored: (milliseconds: number) => void;
  /** An attempt to forward an event has ended; `retries` where another one follows. */
  readonly forwarded: (forward: Forward, retries: boolean) => void;
}

/** Events that were acknowledged and wait to be forwarded. */
export interface Backlog {
  readonly events: number;
  /** When the oldest of them was received. */
  readonly oldest: Date | undefined;
}

/** Where no events are kept, none waits. */
export const NO_BACKLOG: Backlog = { events: 0, oldest: undefined };

/** The log, reporting how long each event takes to be stored. */
export const measured = (log: EventLog, { stored }: Metrics, now: () => Date): EventLog => ({
  ...log,
  append: async (event, plan) => {
    const start = now().getTime();
    const result = await log.append(event, plan);
    stored(now().getTime() - start);
    return result;
  },
});
