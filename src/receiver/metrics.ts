/** What the receiver reports for monitoring: counts, durations and the backlog. */
import type { EventLog, Forward, Rejection, WebhookEvent } from "./events.ts";

export interface Metrics {
  /** A request was accepted or rejected. */
  readonly observe: (outcome: WebhookEvent | Rejection) => void;
  /** An event was stored, which took this long. */
  readonly stored: (milliseconds: number) => void;
  /** An attempt to forward an event has ended; `retries` says whether another one follows. */
  readonly forwarded: (forward: Forward, retries: boolean) => void;
}

/** Events that were acknowledged and wait to be forwarded. */
export interface Backlog {
  readonly events: number;
  /** When the oldest of them was received. */
  readonly oldest: Date | undefined;
}

/** The backlog without an event store. */
export const NO_BACKLOG: Backlog = { events: 0, oldest: undefined };

/** The same log, which also reports how long each event took to store. */
export const measured = (log: EventLog, { stored }: Metrics, now: () => Date): EventLog => ({
  ...log,
  append: async (event, plan) => {
    const start = now().getTime();
    const result = await log.append(event, plan);
    stored(now().getTime() - start);
    return result;
  },
});
