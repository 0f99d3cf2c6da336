/** Writes a group of events, forwards and rejections to SQLite in one transaction. */
import { hash } from "node:crypto";
import type { StoreResult } from "../../receiver/events.ts";
import { transaction, type Database } from "../database.ts";
import { MAX_REJECTIONS, type EventWrite, type Write, type WriteResult } from "./writes.ts";

/** Bytes of rejected bodies to store: invalid requests must not fill the disk. */
const MAX_REJECTED_BYTES = 32 * 1024 * 1024;

/** Returns one result for each write, once all that succeeded are durable. Never throws. */
export type WriteGroup = (writes: readonly Write[]) => WriteResult[];

export function createEventWriter(database: Database): WriteGroup {
  const { write, trimRejections } = prepareWrites(database);
  const writeGroup = (writes: readonly Write[]): WriteResult[] => {
    try {
      return transaction(database, () => {
        const results = writes.map((one) => ({ status: "fulfilled", value: write(one) }) as const);
        if (writes.some(({ type }) => type === "rejection")) trimRejections();
        return results;
      });
    } catch (reason) {
      // Each try would wait for the lock as long as this one did.
      if (writes.length <= 1 || isLocked(reason)) return writes.map(() => ({ status: "rejected", reason }));
      // One write that fails must not fail the others. Halving finds it in few commits.
      const half = writes.length >> 1;
      return [...writeGroup(writes.slice(0, half)), ...writeGroup(writes.slice(half))];
    }
  };
  return writeGroup;
}

const isLocked = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("database is locked");

interface PreparedWrites {
  readonly write: (write: Write) => StoreResult | null;
  readonly trimRejections: () => void;
}

function prepareWrites(database: Database): PreparedWrites {
  const insertEvent = database.prepare(
    `INSERT INTO events (id, uti, digest, received_at, outcome, reference, method, scheme, authority, target,
       headers, trailers, verdict, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (uti, digest) DO NOTHING`,
  );
  const findFirst = database.prepare(
    `SELECT id, EXISTS (SELECT 1 FROM forwards WHERE event = events.id AND status BETWEEN 200 AND 299) AS accepted
     FROM events WHERE uti = ? AND digest = ?`,
  );
  const insertArrival = database.prepare("INSERT INTO arrivals (event, id, received_at) VALUES (?, ?, ?)");
  const insertForward = database.prepare("INSERT INTO forwards VALUES (?, ?, ?, ?, ?, ?)");
  const insertRejection = database.prepare(
    "INSERT INTO rejections VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const trimCount = database.prepare(
    `DELETE FROM rejections WHERE seq <= (SELECT max(seq) FROM rejections) - ${MAX_REJECTIONS}`,
  );
  const trimBytes = database.prepare(
    `DELETE FROM rejections WHERE seq <= (SELECT max(seq) FROM
       (SELECT seq, sum(length(body)) OVER (ORDER BY seq DESC) AS bytes FROM rejections)
     WHERE bytes > ${MAX_REJECTED_BYTES})`,
  );
  const writeEvent = ({ id, uti, receivedAt, columns, body }: EventWrite): StoreResult | null => {
    const digest = hash("sha256", body, "buffer");
    const { changes } = insertEvent.run(id, uti, digest, receivedAt, ...columns, body);
    if (changes !== 0) return null;
    const row = findFirst.get(uti, digest);
    const first = String(row?.["id"]);
    insertArrival.run(first, id, receivedAt);
    return { repeated: true, first, accepted: row?.["accepted"] === 1 };
  };
  return {
    write: (write) => {
      if (write.type === "event") return writeEvent(write);
      (write.type === "forward" ? insertForward : insertRejection).run(...write.columns);
      return null;
    },
    trimRejections: () => {
      trimCount.run();
      trimBytes.run();
    },
  };
}
