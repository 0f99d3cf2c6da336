/** The event store over either database: durable writes in groups, the queue, and everything read back. */
import { hint, PaylinkError } from "../domain/errors.ts";
import type { EventStore, Pruned, StoredEvent, StoredRejection } from "../receiver/event-store.ts";
import { firstDelivery } from "../receiver/events.ts";
import { createGroupCommit } from "../store/group-commit.ts";
import { follow } from "./following.ts";
import { createReading, type Readable } from "./reading.ts";
import { queuedEventFromRow } from "./rows.ts";
import type { WriteGroup } from "./write-group.ts";
import { eventWrite, forwardWrite, rejectionWrite, type Told, type Write } from "./writes.ts";

/** A database. */
export interface Driver extends Readable {
  /** The file, or the URL of the database without its password. */
  readonly place: string;
  readonly write: WriteGroup;
  readonly ready: () => Promise<void>;
  readonly shrink: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface StoreParts {
  /** Distinguishes the claims of this store from those of all others. */
  readonly owner: string;
  readonly now: () => Date;
}

export function createEventStore(driver: Driver, { owner, now }: StoreParts): EventStore {
  // While one group waits for the disk, the next one is gathered and sent.
  const group = createGroupCommit(driver.write, { atOnce: 2 });
  // On a server, claims and deleting would delay the webhooks of their group. In a file, a group more would be a sync more.
  const queueGroup = driver.dialect.concurrent ? createGroupCommit<Write, Told>(driver.write) : group;
  const { backlog, ...reading } = createReading(driver);
  const time = (): number => now().getTime();
  const end = async (): Promise<void> => {
    await Promise.all([group.settled(), queueGroup.settled()]);
    await driver.close();
  };
  let ending: Promise<void> | undefined;
  return {
    ...reading,
    follow: (filter, rejected) => follow(driver, filter, rejected),
    place: driver.place,
    append: async (event, plan) =>
      (await group.add(eventWrite(event, owner, plan))).state ?? firstDelivery(event.id),
    lookUp: async (first, at) =>
      (await group.add({ type: "look-up", first, owner, now: at.getTime() })).state ?? firstDelivery(first),
    forwarded: async (first, forward) => void (await group.add(forwardWrite(first, forward, owner))),
    reject: async (rejection) => void (await group.add(rejectionWrite(rejection))),
    queue: {
      claim: async (wanted) => {
        const { claimed } = await queueGroup.add({ type: "claim", owner, now: time(), ...wanted });
        const { rows = [], nextDue, failed = 0 } = claimed ?? {};
        return { events: rows.map(queuedEventFromRow), nextDue, failed };
      },
      attempted: async ({ id }, forward, retryAfter) => {
        const write = forwardWrite(id, forward, owner);
        await queueGroup.add({ ...write, type: "attempt", now: time(), retryAfter: retryAfter ?? null });
      },
      backlog,
    },
    order: async (order, events) =>
      (await queueGroup.add({ type: "order", order, events, now: time() })).changed ?? [],
    prune: async (before, between) => {
      let [events, rejections] = [0, 0];
      for (;;) {
        const { pruned = NOTHING } = await queueGroup.add({ type: "prune", before: before.getTime() });
        events += pruned.events;
        rejections += pruned.rejections;
        if (pruned.events === 0) return { events, rejections };
        await between?.();
      }
    },
    shrink: driver.shrink,
    ready: driver.ready,
    close: () => (ending ??= end()),
  };
}

const NOTHING: Pruned = { events: 0, rejections: 0 };

/**
 * The one stored event that a user names by the beginning of its uti or id. Throws `event_not_found`, or `usage` if
 * several begin with `prefix`.
 */
export async function findOne(
  store: Pick<EventStore, "find">,
  prefix: string,
): Promise<StoredEvent | StoredRejection> {
  const found = prefix === "" ? [] : await store.find(prefix);
  const nameOf = (one: StoredEvent | StoredRejection): string =>
    one.type === "event" && one.uti.startsWith(prefix) ? one.uti : one.id;
  const exact = found.filter((one) => nameOf(one) === prefix || one.id === prefix);
  const candidates = exact.length > 0 ? exact : found;
  const [first] = candidates;
  if (first === undefined)
    throw new PaylinkError(
      "event_not_found",
      prefix === "" ? "The uti is empty." : `No event begins with ${prefix}.`,
    );
  const names = [...new Set(candidates.map(nameOf))];
  if (names.length > 1)
    throw new PaylinkError("usage", `Several utis and ids begin with ${prefix}: ${names.join(", ")}.`, {
      hints: [hint`Type more characters of the one you mean.`],
    });
  return first;
}
