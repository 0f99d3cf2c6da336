/** Stored events with how their orders stand now. */
import type { Context } from "../context.ts";
import type { RunKeys } from "../events/event.ts";
import type { EventStore } from "../store/event-store.ts";
import type { StoredEvent, StoredRequest } from "../events/history.ts";
import { within } from "../values/time.ts";
import { openRunKeys } from "./judge-again.ts";

/** Events whose orders are asked for at once. */
const ASKED_AT_ONCE = 50;

/** Milliseconds: what only reads does not wait for an address of keys that hangs. */
const KEYS_TIMEOUT = 1_000;

/**
 * The keys of this run, by which the payments of an order that several keys have verified belong together. Without one that can be read,
 * those of each key are compared with each other alone.
 */
export const readingKeys = (context: Context): (() => Promise<RunKeys>) => {
  let keys: Promise<RunKeys> | undefined;
  return () =>
    (keys ??= within(
      KEYS_TIMEOUT,
      openRunKeys(context, [], "verify").catch((): RunKeys => []),
      (): RunKeys => [],
    ));
};

/** The same events and rejections, each event with how its order stands now, a few at a time. */
export async function* withOrders(
  found: AsyncIterable<StoredRequest>,
  store: Pick<EventStore, "orders">,
  keysOfRun: () => Promise<RunKeys>,
): AsyncGenerator<StoredRequest> {
  let some: StoredRequest[] = [];
  try {
    for await (const one of found) {
      some.push(one);
      if (some.length < ASKED_AT_ONCE) continue;
      yield* await ordered(some, store, keysOfRun);
      some = [];
    }
  } catch (error) {
    // What comes before damage in the store is shown. Damage may be in the records of their orders too.
    yield* some;
    throw error;
  }
  yield* await ordered(some, store, keysOfRun);
}

/** The same for a few. */
export async function ordered(
  found: readonly StoredRequest[],
  store: Pick<EventStore, "orders">,
  keysOfRun: () => Promise<RunKeys>,
): Promise<StoredRequest[]> {
  const orders = await store.orders(
    found.filter((one): one is StoredEvent => one.type === "event"),
    keysOfRun,
  );
  return found.map((one) => (one.type === "event" ? { ...one, order: orders.get(one.id) } : one));
}
