/** Adds events to the queue of the event store, and forwards them from there unless another forwarder does. */
import type { WebhookEvent } from "./events.ts";
import type { Forwarder } from "./forward.ts";
import { createAlarm, createStoreAccess, type LeaseTimes, serveTerm, type TermParts } from "./queue-term.ts";

const LEASE: LeaseTimes = { duration: 20_000, renewEvery: 5_000, askEvery: 2_000 };

export interface QueueForwarderParts extends Omit<TermParts, "lease"> {
  /** Whether a new event is to be forwarded. */
  readonly forwards: (event: WebhookEvent) => boolean;
  readonly lease?: LeaseTimes;
}

export interface QueueForwarder extends Forwarder {
  readonly start: () => void;
  /** Finishes the attempts in progress, and lets another forwarder take over. */
  readonly close: () => Promise<void>;
}

export function createQueueForwarder(parts: QueueForwarderParts): QueueForwarder {
  const { queue, forwards, pause, lease = LEASE } = parts;
  const closing = new AbortController();
  const store = createStoreAccess(parts.warn);
  const alarms = { term: createAlarm(pause), first: createAlarm(pause), retry: createAlarm(pause) };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const epoch = await store.read(() => queue.lease(lease.duration), undefined);
      if (epoch === undefined) await alarms.term.wait(lease.askEvery);
      else await serveTerm(epoch, { ...parts, lease }, { alarms, store, closing: closing.signal });
    }
  };
  let running: Promise<void> | undefined;
  return {
    plan: (event) => (forwards(event) ? "queue" : undefined),
    forward: async () => {
      alarms.first.ring();
      return 200;
    },
    start: () => void (running ??= run()),
    close: async () => {
      closing.abort();
      for (const alarm of Object.values(alarms)) alarm.ring();
      await running;
    },
  };
}
