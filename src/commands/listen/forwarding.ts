/** How `listen` forwards: before it acknowledges a webhook, or from the event store after that. */
import type { Context } from "../../context.ts";
import { hint, paylink } from "../../domain/errors.ts";
import { within } from "../../domain/time.ts";
import { type Named, renderHint } from "../../render/hint.ts";
import type { DeliveryQueue, EventLog, Forward } from "../../receiver/events.ts";
import { createForwarder, type Forwarder, type Progress } from "../../receiver/forwarder.ts";
import type { SigningKey } from "../../signatures/keys.ts";
import type { Targets } from "../../receiver/brokers/targets.ts";
import { eventCount } from "../../render/received-webhook.ts";
import type { ListenOptions } from "./options.ts";

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
  const waits = delays === undefined ? undefined : queue;
  const forwarder = createForwarder({
    ...forwarding,
    routes,
    send,
    now,
    signWith,
    log,
    queued: waits === undefined || delays === undefined ? undefined : { queue: waits, delays, concurrency },
    observe: ({ id, first }, forward, progress) => observe(id, first, forward, progress),
    warn: out.warn,
  });
  return {
    ...forwarder,
    close: async () => {
      await forwarder.close();
      if (waits === undefined) return;
      const { events } = await within(LAST_WORDS, backlogOf(waits), () => NONE);
      if (events > 0)
        out.warn(`${eventCount(events)} not forwarded yet: the next listen --ack stored does it.`);
    },
  };
}

const NONE = { events: 0 };
/** Whatever needs the store reports a failure. */
const backlogOf = (queue: Pick<DeliveryQueue, "backlog">): Promise<{ readonly events: number }> =>
  queue.backlog().catch(() => NONE);
/** Milliseconds for what a run may leave unsaid, if the database does not answer. */
const LAST_WORDS = 2_000;

/** Says what waits in the store and will not go out; undefined if this run forwards it, or nothing waits. */
export async function backlogNotice(
  { forwarding: { routes, delays } }: ListenOptions,
  queue: Pick<DeliveryQueue, "backlog"> | undefined,
  named: Named,
): Promise<string | undefined> {
  if (queue === undefined || (routes.length > 0 && delays !== undefined)) return undefined;
  const { events } = await backlogOf(queue);
  if (events === 0) return undefined;
  const wait = `${eventCount(events)} ${events === 1 ? "waits" : "wait"} to be forwarded`;
  return renderHint(
    hint`${wait}, and this run does not do it. Start with --ack stored and --forward-to, or take them off the queue: ${paylink("events", "skip", "<uti>")}`,
    named,
  );
}
