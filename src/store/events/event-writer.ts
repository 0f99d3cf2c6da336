/** Writes a group of events, forwards and rejections to SQLite in one transaction. */
import { hash } from "node:crypto";
import { isAccepted, type StoreResult } from "../../receiver/events.ts";
import { type Database, transaction, type Value } from "../database.ts";
import { prepareQueue } from "./queue-writer.ts";
import {
  type EventWrite,
  type ForwardWrite,
  MAX_REJECTED_BYTES,
  MAX_REJECTIONS,
  type RejectionWrite,
  type StoredMessage,
  type ThreadWrite,
  type WriteResult,
} from "./writes.ts";

/** Returns one result for each write once the successful ones are durable. Never throws. */
export type WriteGroup = (writes: readonly ThreadWrite[]) => WriteResult[];

export function createEventWriter(database: Database): WriteGroup {
  const { write, trimRejections } = prepareWrites(database);
  const writeGroup = (writes: readonly ThreadWrite[]): WriteResult[] => {
    try {
      return transaction(database, () => {
        const results = writes.map((one) => ({ status: "fulfilled", value: write(one) }) as const);
        if (writes.some(({ type }) => type === "rejection")) trimRejections();
        return results;
      });
    } catch (reason) {
      // Each further try would wait for the lock as long as this one.
      if (writes.length <= 1 || isLocked(reason)) return writes.map(() => ({ status: "rejected", reason }));
      // One write that fails must not fail the others. Halving finds it in few commits.
      const half = writes.length >> 1;
      return [...writeGroup(writes.slice(0, half)), ...writeGroup(writes.slice(half))];
    }
  };
  return writeGroup;
}

const MESSAGE = "method, scheme, authority, target, headers, trailers, body";

/** The values of those columns. */
function messageValues(message: StoredMessage | null): Value[] {
  if (message === null) return [null, null, null, null, null, null, null];
  const { method, scheme, authority, target, headers, trailers, body } = message;
  return [method, scheme, authority, target, headers, trailers, body];
}

const isLocked = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("database is locked");

interface PreparedWrites {
  readonly write: (write: ThreadWrite) => StoreResult | null;
  readonly trimRejections: () => void;
}

function prepareWrites(database: Database): PreparedWrites {
  const insertEvent = database.prepare(
    `INSERT INTO events (id, uti, digest, received_at, outcome, reference, code, warnings, details, ${MESSAGE})
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (uti, digest) DO NOTHING`,
  );
  const findSame = database.prepare("SELECT id FROM events WHERE uti = ? AND digest = ?");
  const findState = database.prepare(
    `SELECT
       EXISTS (SELECT 1 FROM forwards WHERE event = ? AND status BETWEEN 200 AND 299) AS accepted,
       EXISTS (SELECT 1 FROM claims WHERE event = ? AND owner <> ? AND until > ?) AS claimed,
       (SELECT status FROM forwards WHERE event = ? ORDER BY rowid DESC LIMIT 1) AS answered`,
  );
  const claim = database.prepare(
    `INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (event) DO UPDATE
     SET owner = excluded.owner, until = excluded.until
     WHERE claims.owner = excluded.owner OR claims.until <= ?`,
  );
  const release = database.prepare("DELETE FROM claims WHERE event = ? AND owner = ?");
  const insertArrival = database.prepare("INSERT INTO arrivals (event, id, received_at) VALUES (?, ?, ?)");
  const insertForward = database.prepare("INSERT INTO forwards VALUES (?, ?, ?, ?, ?, ?)");
  const insertRejection = database.prepare(
    `INSERT INTO rejections (id, received_at, code, status, detail, checks, ${MESSAGE})
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const trimCount = database.prepare(
    `DELETE FROM rejections WHERE seq <= (SELECT max(seq) FROM rejections) - ${MAX_REJECTIONS}`,
  );
  const trimBytes = database.prepare(
    `DELETE FROM rejections WHERE seq <= (SELECT max(seq) FROM
       (SELECT seq, sum(length(body)) OVER (ORDER BY seq DESC) AS bytes FROM rejections)
     WHERE bytes > ${MAX_REJECTED_BYTES})`,
  );
  const queue = prepareQueue(database);
  const lookUp = (first: string, owner: string, now: number): StoreResult => {
    const state = findState.get(first, first, owner, now, first);
    return {
      repeated: true,
      first,
      accepted: state?.["accepted"] === 1,
      claimedElsewhere: state?.["claimed"] === 1,
      answered: state?.["answered"] == null ? undefined : Number(state["answered"]),
    };
  };
  const storeEvent = (event: EventWrite): string => {
    const { id, uti, receivedAt, outcome, reference, code, warnings, details, body } = event;
    const digest = hash("sha256", body, "buffer");
    const own = [id, uti, digest, receivedAt, outcome, reference, code, warnings, details];
    const { changes } = insertEvent.run(...own, ...messageValues(event));
    if (changes !== 0) return id;
    const first = String(findSame.get(uti, digest)?.["id"]);
    // They are equal if this delivery was already written, to a log that was then removed.
    if (first !== id) insertArrival.run(first, id, receivedAt);
    return first;
  };
  const writeEvent = (event: EventWrite): StoreResult | null => {
    const { id, owner, receivedAt, claimUntil, queued } = event;
    const first = storeEvent(event);
    if (claimUntil !== null) claim.run(first, owner, claimUntil, receivedAt);
    if (queued) queue.add(first, receivedAt);
    return first === id ? null : lookUp(first, owner, receivedAt);
  };
  const writeForward = (forward: Omit<ForwardWrite, "type">): void => {
    const { first, owner, at, target, status, ms, detail } = forward;
    insertForward.run(first, at, target, status, ms, detail);
    release.run(first, owner);
    if (isAccepted(status)) queue.remove(first);
  };
  const writeRejection = (rejection: RejectionWrite): void => {
    const { id, receivedAt, code, status, detail, checks, message } = rejection;
    insertRejection.run(id, receivedAt, code, status, detail, checks, ...messageValues(message));
  };
  return {
    write: (write) => {
      if (write.type === "event") return writeEvent(write);
      if (write.type === "look-up") return lookUp(write.first, write.owner, write.now);
      if (write.type === "lease") queue.lease(write);
      else if (write.type === "release") queue.release(write);
      else if (write.type === "rejection") writeRejection(write);
      else if (write.type === "forward" || queue.attempted(write)) writeForward(write);
      return null;
    },
    trimRejections: () => {
      trimCount.run();
      trimBytes.run();
    },
  };
}
