/** How `listen` forwards: before it acknowledges a webhook, or from the queue of the event store after that. */
import { setTimeout as sleep } from "node:timers/promises";
import { outcomeOf } from "../../domain/transaction.ts";
import type { ForwardQueue } from "../../receiver/event-store.ts";
import type { Context } from "../../context.ts";
import type { EventLog, Forward, WebhookEvent } from "../../receiver/events.ts";
import { createDirectForwarder } from "../../receiver/direct-forwarder.ts";
import { type Forwarder, targetOf } from "../../receiver/forward.ts";
import type { SigningKey } from "../../signatures/keys.ts";
import { createQueueForwarder } from "../../receiver/queue-forwarder.ts";
import type { Progress } from "../../receiver/queue-forwarder.ts";
import type { Targets } from "../../receiver/brokers/targets.ts";
import type { ListenOptions } from "./options.ts";
import { atTheEnd } from "./store.ts";

interface Forwarding {
  /** Undefined without a target. */
  readonly forwarder: Forwarder | undefined;
  /** Forwards what is in the queue, also from earlier runs. */
  readonly start: () => void;
  /** Completes the attempts in progress, and warns about the webhooks that are left. */
  readonly close: () => Promise<void>;
}

interface ForwardingParts {
  /** Whether an event is one of those that are shown and forwarded. */
  readonly shows: (event: WebhookEvent) => boolean;
  readonly log: EventLog;
  readonly queue: ForwardQueue | undefined;
  readonly signWith: SigningKey | undefined;
}

export function openForwarding(
  { forwarding: { routes, delays, ...forwarding } }: ListenOptions,
  { shows, log, queue, signWith }: ForwardingParts,
  { send, now, out }: Pick<Context, "now" | "out"> & Pick<Targets, "send">,
  observe: (id: string, first: string, forward: Forward, progress?: Progress) => void,
): Forwarding {
  const nothing = async (): Promise<void> => undefined;
  if (routes.length === 0) return { forwarder: undefined, start: () => undefined, close: nothing };
  const shownTarget = (event: WebhookEvent): URL | undefined =>
    shows(event) ? targetOf(routes, outcomeOf(event.record)) : undefined;
  const options = { ...forwarding, send, now, signWith };
  if (delays === undefined || queue === undefined) {
    const forwarder = createDirectForwarder({
      ...options,
      // Not the pause of the context, which ends at an interruption: a webhook that has arrived is still answered.
      pause: sleep,
      log,
      targetOf: shownTarget,
      observe: ({ id }, forward, first) => observe(id, first, forward),
    });
    return { forwarder, start: () => undefined, close: nothing };
  }
  const forwarder = createQueueForwarder({
    ...options,
    queue,
    delays,
    forwards: (event) => shownTarget(event) !== undefined,
    routes,
    observe: ({ id }, forward, progress) => observe(id, id, forward, progress),
    // Not the pause of the context either: the last attempts of a run need it.
    pause: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }).catch(() => undefined),
    warn: out.warn,
  });
  return {
    forwarder,
    start: forwarder.start,
    close: async () => {
      await forwarder.close();
      const { events } = await atTheEnd<{ readonly events: number }>(queue.backlog(), { events: 0 });
      if (events > 0) out.warn(leftWords(events));
    },
  };
}

const leftWords = (events: number): string =>
  events === 1
    ? "1 webhook is not forwarded yet. The next listen --ack stored forwards it."
    : `${events} webhooks are not forwarded yet. The next listen --ack stored forwards them.`;
