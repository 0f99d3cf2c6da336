/** How `listen` forwards: before it acknowledges a webhook, or from the event store after that. */
import type { Context } from "../../context.ts";
import { hint, paylink } from "../../domain/errors.ts";
import { type Named, renderHint } from "../../render/hint.ts";
import type { Backlog, DeliveryQueue, EventLog, Forward } from "../../receiver/events.ts";
import { createForwarder, type Forwarder, type Progress } from "../../receiver/forwarder.ts";
import type { SigningKey } from "../../signatures/keys.ts";
import type { Targets } from "../../receiver/brokers/targets.ts";
import { eventCount } from "../../render/received-webhook.ts";
import { type EventStore, LAST_TARGET } from "../../store/event-store.ts";
import { isBroker } from "../../domain/brokers.ts";
import type { ListenOptions } from "./options.ts";
import { atTheEnd } from "./store.ts";

interface ForwardingParts {
  readonly log: EventLog;
  readonly queue: DeliveryQueue | undefined;
  readonly signWith: SigningKey | undefined;
}

/** Undefined without a target. */
export function openForwarding(
  { forwarding: { routes, delays, concurrency, ...forwarding } }: ListenOptions,
  { log, queue, signWith }: ForwardingParts,
  { send, now, out }: Pick<Context, "now" | "out"> & Pick<Targets, "send">,
  observe: (id: string, first: string, forward: Forward, progress?: Progress) => void,
): Forwarder | undefined {
  if (routes.length === 0) return undefined;
  const isQueued = delays !== undefined && queue !== undefined;
  const forwarder = createForwarder({
    ...forwarding,
    routes,
    send,
    now,
    signWith,
    log,
    queued: isQueued ? { queue, delays, concurrency } : undefined,
    observe: ({ id, first }, forward, progress) => observe(id, first, forward, progress),
    warn: out.warn,
  });
  return {
    plan: forwarder.plan,
    start: forwarder.start,
    close: async () => {
      await forwarder.close();
      const { events } = isQueued ? await atTheEnd<Pick<Backlog, "events">>(queue.backlog(), NONE) : NONE;
      if (events > 0) out.warn(leftWords(events));
    },
  };
}

const NONE = { events: 0 };

const leftWords = (events: number): string =>
  events === 1
    ? "1 webhook is not forwarded yet. The next listen --ack stored forwards it."
    : `${events} webhooks are not forwarded yet. The next listen --ack stored forwards them.`;

/** For `events replay`, which offers it. */
export async function rememberTarget(
  { forwarding: { routes } }: ListenOptions,
  store: Pick<EventStore, "remember"> | undefined,
): Promise<void> {
  const [last] = routes.filter(({ outcome }) => outcome === undefined);
  if (last !== undefined && !isBroker(last.url))
    await store?.remember(LAST_TARGET, last.url.href).catch(() => undefined);
}

/** Says what waits in the store and will not go out; undefined if this run forwards it, or nothing waits. */
export async function backlogNotice(
  { forwarding: { routes, delays } }: ListenOptions,
  queue: Pick<DeliveryQueue, "backlog"> | undefined,
  named: Named,
): Promise<string | undefined> {
  if (queue === undefined || (routes.length > 0 && delays !== undefined)) return undefined;
  // A store that is away is said to be by what needs it.
  const { events } = await queue.backlog().catch(() => NONE);
  if (events === 0) return undefined;
  const wait = `${eventCount(events)} ${events === 1 ? "waits" : "wait"} to be forwarded`;
  return renderHint(
    hint`${wait}, and this run does not do it. Start with --ack stored and --forward-to, or take them off the queue: ${paylink("events", "skip", "<uti>")}`,
    named,
  );
}
