/** How `listen` forwards: before it acknowledges a webhook, or from the event store after that. */
import { hint, paylink } from "../../domain/errors.ts";
import { within } from "../../domain/time.ts";
import { type Named, renderHint } from "../../render/hint.ts";
import type { DeliveryQueue, RunKeys } from "../../receiver/event.ts";
import { createDirectForwarder } from "../../receiver/direct.ts";
import type { Forwarder, ForwarderParts } from "../../receiver/forwarder.ts";
import { createQueueForwarder } from "../../receiver/queue.ts";
import { SYSTEM_TIMERS } from "../../receiver/timers.ts";
import { eventCount } from "../../render/received-webhook.ts";
import type { ListenOptions } from "./options.ts";

/** Undefined without a target. */
export function openForwarding(
  { forwarding: { delays, concurrency, ...forwarding } }: ListenOptions,
  queue: DeliveryQueue | undefined,
  parts: Pick<ForwarderParts, "deliver" | "keys" | "log" | "now" | "observe" | "signWith" | "warn">,
): Forwarder | undefined {
  if (forwarding.routes.length === 0) return undefined;
  if (queue === undefined || delays === undefined) return createDirectForwarder({ ...forwarding, ...parts });
  const forwarder = createQueueForwarder({
    ...forwarding,
    ...parts,
    queue,
    delays,
    concurrency,
    timers: SYSTEM_TIMERS,
  });
  return {
    ...forwarder,
    close: async () => {
      await forwarder.close();
      const events = await within(LAST_WORDS, waitingIn(queue, parts.keys()), () => 0);
      if (events > 0)
        parts.warn(
          `${eventCount(events)} not forwarded yet: the next listen --ack stored forwards ${events === 1 ? "it" : "them"}.`,
        );
    },
  };
}

/** How many events of these keys wait. Whatever needs the store reports a failure. */
const waitingIn = (queue: Pick<DeliveryQueue, "backlog">, own: RunKeys): Promise<number> =>
  queue.backlog().then(
    ({ keys }) => keys.filter(({ key }) => own.includes(key)).reduce((sum, { events }) => sum + events, 0),
    () => 0,
  );
/** Milliseconds for what a run may leave unsaid, if the database does not answer. */
const LAST_WORDS = 2_000;

/** Says what waits in the store and will not go out; undefined if this run forwards it, or nothing waits. */
export async function backlogNotice(
  { forwarding: { routes, delays } }: ListenOptions,
  queue: Pick<DeliveryQueue, "backlog"> | undefined,
  keys: RunKeys,
  named: Named,
): Promise<string | undefined> {
  if (queue === undefined || (routes.length > 0 && delays !== undefined)) return undefined;
  const events = await waitingIn(queue, keys);
  if (events === 0) return undefined;
  const [wait, them] = events === 1 ? ["waits", "it"] : ["wait", "them"];
  return renderHint(
    hint`${eventCount(events)} ${wait} to be forwarded, and this run does not forward ${them}. Start with --ack stored and --forward-to, or skip ${them}: ${paylink("events", "skip", "<uti>")}`,
    named,
  );
}
