/**
 * The event store over either database: durable writes in groups, the queue of deliveries, and everything read back.
 * `openEventStore` (sqlite.ts) and `openPostgresEventStore` (postgres.ts) open one; what can be read is in reading.ts.
 */
import { isSuccess } from "../http/message.ts";
import {
  type DeliveryQueue,
  type EventLog,
  type Forward,
  type NewEvent,
  type Retry,
  type RunKeys,
  type Stored,
} from "../events/event.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hint, paylink } from "../domain/hint.ts";
import { createGroupCommit } from "./group-commit.ts";
import { ORDER_SIZE } from "./deliveries.ts";
import type { Readable } from "./dialects.ts";
import { createReading } from "./reading.ts";
import { claimedFromRow } from "./event-rows.ts";
import type { WriteGroup } from "./write-group.ts";
import {
  attemptValues,
  eventWrite,
  type OperatorOrder,
  type Ordered,
  type Pruned,
  rejectionWrite,
  writeSize,
  type WriteResult,
  type ResultOf,
  type Write,
} from "./writes.ts";
import { mayBeWebhook, WORTH } from "./rejection-worth.ts";

/** What a database offers. */
export interface EventDatabase extends Readable {
  readonly write: WriteGroup;
  /** Resolves if the store can be written, and rejects with the reason if not. Can be called at any time. */
  readonly ready: () => Promise<void>;
  /** From now on, nothing waits for a server longer than this many milliseconds. A file always answers. */
  readonly hurry: (milliseconds: number) => void;
  readonly close: () => Promise<void>;
}

export type EventStore = ReturnType<typeof createEventStore>;

/** The most bytes of rejections that wait to be written: a flood of them must fill neither the memory nor the disk's time. */
const MAX_WAITING_REJECTIONS = 4 * 1024 * 1024;

/** What a store of either kind is opened with. */
export interface StoreParts {
  /** Who runs this program, which is kept with what an operator does. */
  readonly user: string;
  /** Makes the store if it is missing. */
  readonly create: boolean;
  /** Takes an older store to the version of this program; otherwise it is refused. */
  readonly upgrade: boolean;
}

/** What is wrong with the name of a store that must be there. */
export const noStoreAt = (place: string, code: "file_unreadable" | "database_unusable"): PaylinkError =>
  new PaylinkError(code, `There is no event store at ${place}.`, {
    hints: [hint`Check the name. To receive webhooks into a new one: ${paylink`listen`}`],
  });

/** What is wrong with an older store for a command that only reads. */
export const olderStore = (
  place: string,
  code: "file_unreadable" | "database_unusable",
  [found, known]: readonly [number, number],
): PaylinkError =>
  new PaylinkError(
    code,
    `The event store ${place} was written by an older paylink: it has schema ${found}, and this version reads ${known}.`,
    { hints: [hint`To upgrade it, and keep all that is in it, start once: ${paylink`listen`}`] },
  );

export function createEventStore(database: EventDatabase, user: string) {
  const { dialect, write, place, ready, hurry } = database;
  // A server works on two groups at the same time. With a file, the thread has the second group when the first is written (listen bench).
  const group = createGroupCommit(write, { atOnce: 2 });
  // On a server, claims and deleting would delay the webhooks of their group. In a file, a group more would be a sync more.
  const queueGroup = dialect.concurrent ? createGroupCommit<Write, WriteResult>(write) : group;
  /** The group writer gives for each write what writes of its kind result in. */
  const make = async <Type extends Write["type"]>(
    among: typeof group,
    write: Extract<Write, { readonly type: Type }>,
  ): Promise<ResultOf[Type]> => (await among.add(write)) as ResultOf[Type];
  let rejectedBytes = 0;
  /** Whether a note is being written that some of them were dropped. */
  let keepsDropped = false;
  const keepDropped = async (until: number): Promise<void> => {
    keepsDropped = true;
    await group.add({ type: "dropped", until }).finally(() => (keepsDropped = false));
  };
  const end = async (): Promise<void> => {
    await Promise.all([group.settled(), queueGroup.settled()]);
    await database.close();
  };
  let ending: Promise<void> | undefined;
  const order = async (
    order: OperatorOrder,
    events: Ordered,
    keys: RunKeys | null,
  ): Promise<readonly string[]> => {
    const all: string[] = [];
    for (;;) {
      const changed = await make(queueGroup, { type: "order", order, events, keys, actor: user });
      all.push(...changed);
      if (changed.length < ORDER_SIZE) return all;
    }
  };
  return {
    ...createReading(database),
    place,
    ready,
    hurry,
    append: async (event: NewEvent, lease?: number): Promise<Stored> =>
      requireStored(await make(group, eventWrite(event, lease))),
    again: (event: NewEvent) => make(group, eventWrite(event, undefined, true)),
    reject: async (rejection) => {
      const write = rejectionWrite(rejection);
      const size = writeSize(write);
      // A flood of junk leaves room for what may be a payment.
      const room = write.worth < WORTH.record ? MAX_WAITING_REJECTIONS / 2 : MAX_WAITING_REJECTIONS;
      if (rejectedBytes + size > room) {
        if (mayBeWebhook(write) && !keepsDropped) await keepDropped(write.receivedAt);
        throw new Error("more requests are rejected than can be stored");
      }
      rejectedBytes += size;
      await group.add(write).finally(() => (rejectedBytes -= size));
    },
    ended: async (claim, forward, retry?: Retry) => {
      const values = attemptValues(claim.id, forward, false);
      await queueGroup.add({
        type: "end",
        claim,
        at: forward.at.getTime(),
        values,
        isAccepted: isSuccess(forward.status),
        retry,
      });
    },
    claim: async (wanted) => (await make(queueGroup, { type: "claim", ...wanted })).map(claimedFromRow),
    release: async (claims) => void (await queueGroup.add({ type: "release", claims })),
    backlog: () => make(queueGroup, { type: "backlog" }),
    /** Records an attempt that an operator made. If it `settles`, an answer of success ends the delivery of the event. */
    replayed: async (event: string, forward: Forward, settles: boolean) => {
      await queueGroup.add({
        type: "replay",
        event,
        values: attemptValues(event, forward, true),
        settles: settles && isSuccess(forward.status),
      });
    },
    /**
     * Makes events due now, with a new plan of attempts: those that are named, or all that wait or failed and are selected, as far
     * as one of `keys` has verified them. Returns the ids of those that it has changed: none that the application has accepted, and
     * none that is being attempted.
     */
    retry: (events: Ordered, keys: RunKeys): Promise<readonly string[]> => order("retry", events, keys),
    /** The same for events, of any key, that are never to be forwarded. */
    skip: (events: Ordered): Promise<readonly string[]> => order("skip", events, null),
    /** Makes a rejection, which verifies now, an event that waits to be forwarded. */
    accept: (event: NewEvent): Promise<Stored | undefined> =>
      make(group, { ...eventWrite(event, 0), acceptedBy: user }),
    /**
     * Deletes everything received before a moment, except events that are not delivered, in small batches. `between` is
     * awaited after each.
     */
    prune: async (before: Date, between?: () => Promise<void>): Promise<Pruned> => {
      let [events, rejections] = [0, 0];
      for (;;) {
        const pruned = await make(queueGroup, { type: "prune", before });
        events += pruned.events;
        rejections += pruned.rejections;
        if (pruned.events === 0) return { events, rejections };
        await between?.();
      }
    },
    /** Resolves when everything is written and the store is closed. */
    close: (): Promise<void> => (ending ??= end()),
  } satisfies EventLog & DeliveryQueue & Record<string, unknown>;
}

/** Only one that must be known can be missing. */
function requireStored(stored: Stored | undefined): Stored {
  if (stored === undefined) throw new Error("the event was not stored");
  return stored;
}
