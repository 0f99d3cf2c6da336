/** How `listen` forwards: before it acknowledges a webhook, or from the event store after that. */
import { plural, wordFor } from "../../values/plural.ts";
import type { Context } from "../../context.ts";
import { type Hint, hint, paylink } from "../../domain/hint.ts";
import { within } from "../../values/time.ts";
import { renderHint } from "../../render/hint.ts";
import { type Backlog, type DeliveryQueue, isUnclaimed, type RunKeys } from "../../events/event.ts";
import { createDirectForwarder } from "../../receiver/direct.ts";
import type { Forwarder, ForwarderParts } from "../../receiver/forwarder.ts";
import { createQueueForwarder, type QueueParts } from "../../receiver/queue.ts";
import { sumTexts } from "../../render/stats.ts";
import type { EventStore } from "../../store/event-store.ts";
import type { KeyStats } from "../../store/stats.ts";
import type { ListenOptions } from "./options.ts";

/** Tells what waits. */
type BacklogSource = Pick<DeliveryQueue, "backlog">;

/** Undefined without a target. */
export function openForwarding(
  { forwarding: { delays, concurrency, ...forwarding } }: ListenOptions,
  queue: DeliveryQueue | undefined,
  parts: Pick<ForwarderParts, "deliver" | "keys" | "log" | "now" | "observe" | "signWith" | "warn"> &
    Pick<QueueParts, "timers">,
): Forwarder | undefined {
  if (forwarding.routes.length === 0) return undefined;
  if (queue === undefined || delays === undefined) return createDirectForwarder({ ...forwarding, ...parts });
  const forwarder = createQueueForwarder({
    ...forwarding,
    ...parts,
    queue,
    delays,
    concurrency,
  });
  return {
    ...forwarder,
    close: async () => {
      await forwarder.close();
      const events = await within(LAST_WORDS, waitingIn(queue, parts.keys()), () => 0);
      if (events > 0)
        parts.warn(
          `${plural(events, "event")} not forwarded yet: the next listen --ack stored forwards ${wordFor(events, "it", "them")}.`,
        );
    },
  };
}

/** How many events of these keys wait. Whatever needs the store reports a failure. */
const waitingIn = (store: BacklogSource, own: RunKeys): Promise<number> =>
  store.backlog().then(
    ({ keys }) => countOwn(keys, own),
    () => 0,
  );

const countOwn = (keys: Backlog["keys"], own: RunKeys): number =>
  keys.filter(({ key }) => own.includes(key)).reduce((sum, { events }) => sum + events, 0);
/** Milliseconds for what a run may leave unsaid, if the database does not answer. */
const LAST_WORDS = 2_000;

/** Says what waits in the store and will not go out, because this run does not forward it or does not have its key. */
export async function backlogNotices(
  { forwarding: { routes, delays } }: ListenOptions,
  store: (BacklogSource & Pick<EventStore, "stats" | "place">) | undefined,
  own: RunKeys,
  { named, now }: Pick<Context, "named" | "now">,
): Promise<readonly string[]> {
  if (store === undefined) return [];
  const forwards = routes.length > 0 && delays !== undefined;
  const waiting = forwards ? [] : await notForwarded(store, own, now());
  const others = await waitingForOthers(store, own, now());
  return [...waiting, ...others.map((other) => ofOtherKey(other, store.place, forwards))].map((notice) =>
    renderHint(notice, named),
  );
}

/** What waits for this run's keys. What another receiver forwards must not be skipped. */
async function notForwarded(store: BacklogSource, own: RunKeys, now: Date): Promise<readonly Hint[]> {
  const backlog = await store.backlog().catch(() => undefined);
  if (backlog === undefined) return [];
  const { keys, lastForward } = backlog;
  const events = countOwn(keys, own);
  if (events === 0) return [];
  const them = wordFor(events, "it", "them");
  const notice = `${plural(events, "event waits", "events wait")} to be forwarded, and this run does not forward ${them}.`;
  const isNobodys = keys.some(
    ({ key, overdue }) => own.includes(key) && isUnclaimed(overdue, lastForward, now),
  );
  return isNobodys
    ? [
        hint`${notice} Start with --ack stored and --forward-to, or skip ${them}: ${paylink`events skip <uti>`}`,
      ]
    : [
        hint`${notice} If no other ${paylink`listen --ack stored`} does, start with --ack stored and --forward-to.`,
      ];
}

function ofOtherKey({ key, pending: { events, sums } }: KeyStats, place: string, forwards: boolean): Hint {
  const them = wordFor(events, "it", "them");
  const texts = sumTexts(sums);
  const approved = texts.length === 0 ? "" : ` (${texts.join(", ")})`;
  const flags = forwards ? "add" : "start with --ack stored, --forward-to and";
  return hint`${plural(events, "event")}${approved} in ${place} ${wordFor(events, "waits", "wait")} for another key, so this run does not forward ${them}. If it is an earlier key of your service, ${flags} --key ${key}. Otherwise skip ${them}: ${paylink`events list --pending`} shows what waits, ${paylink`events skip <uti>`} skips it.`;
}

/** What waits for each key that this run does not have. Sums take a while, and are read only if something does. */
async function waitingForOthers(
  store: BacklogSource & Pick<EventStore, "stats">,
  own: RunKeys,
  now: Date,
): Promise<readonly KeyStats[]> {
  try {
    const { keys } = await store.backlog();
    if (keys.every(({ key, events }) => events === 0 || own.includes(key))) return [];
    const stats = await store.stats(now, now);
    return stats.keys.filter(({ key, pending }) => pending.events > 0 && !own.includes(key));
  } catch {
    // Whatever needs the store reports a failure.
    return [];
  }
}
