/** Writes what came together in one transaction: events and forwards, each with its answer, and rejections. */
import { hash } from "node:crypto";
import type { Kept } from "../../receiver/events.ts";
import { transaction, type Database, type Value } from "../database.ts";

/** How many rejections are kept, and how many bytes of body: whoever sends rubbish fills no disk. */
export const MAX_REJECTIONS = 1000;
const MAX_REJECTED_BYTES = 32 * 1024 * 1024;

/**
 * Rows as plain values, so that they can go to another thread. A body is a text of one character an octet, which
 * costs the least to hand over.
 */
export interface EventRow {
  readonly type: "event";
  readonly id: string;
  readonly uti: string;
  readonly receivedAt: number;
  /** From `outcome` to `verdict`, in the order of the table. */
  readonly columns: readonly string[];
  readonly body: string;
}

export interface ForwardRow {
  readonly type: "forward";
  readonly columns: readonly Value[];
}

export interface RejectionRow {
  readonly columns: readonly Value[];
  readonly body: string | null;
}

export interface Batch {
  readonly entries: readonly (EventRow | ForwardRow)[];
  readonly rejections: readonly RejectionRow[];
}

/** What became of an entry: null is a new event, or a forward, that is kept. */
export type Written = null | Kept | { readonly failed: string };

/** Gives what became of each entry, once all that was kept is durable. Never throws. */
export type WriteBatch = (batch: Batch) => Written[];

const LOCKED = /database is locked/;

export function createBatchWriter(database: Database): WriteBatch {
  const rows = createRows(database);
  const writeEntries = (entries: Batch["entries"]): Written[] => {
    if (entries.length === 0) return [];
    try {
      return transaction(database, () =>
        entries.map((entry) => (entry.type === "event" ? rows.event(entry) : rows.forward(entry))),
      );
    } catch (error) {
      const failed = error instanceof Error ? error.message : String(error);
      // One that cannot be kept spoils no other: each gets a transaction of its own. But whoever held the lock for as
      // long as that would be waited for again by each.
      if (entries.length === 1 || LOCKED.test(failed)) return entries.map(() => ({ failed }));
      return entries.flatMap((entry) => writeEntries([entry]));
    }
  };
  return ({ entries, rejections }) => {
    const written = writeEntries(entries);
    if (rejections.length > 0) keepRejections(database, rows, rejections);
    return written;
  };
}

/** Nobody waits for a rejection, so nobody is told where the disk is full: the next event will be. */
function keepRejections(database: Database, rows: Rows, rejections: readonly RejectionRow[]): void {
  try {
    transaction(database, () => {
      rejections.forEach(rows.rejection);
      rows.trimRejections();
    });
  } catch {
    return;
  }
}

interface Rows {
  readonly event: (row: EventRow) => Kept | null;
  readonly forward: (row: ForwardRow) => null;
  readonly rejection: (row: RejectionRow) => void;
  readonly trimRejections: () => void;
}

function createRows(database: Database): Rows {
  const insertEvent = database.prepare(
    `INSERT INTO events (id, uti, digest, received_at, outcome, reference, method, scheme, authority, target,
       headers, trailers, verdict, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (uti, digest) DO NOTHING`,
  );
  const findFirst = database.prepare(
    `SELECT id, EXISTS (SELECT 1 FROM forwards WHERE event = events.id AND status BETWEEN 200 AND 299) AS taken
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
  return {
    event: ({ id, uti, receivedAt, columns, body }) => {
      const bytes = Buffer.from(body, "latin1");
      const digest = hash("sha256", bytes, "buffer");
      const { changes } = insertEvent.run(id, uti, digest, receivedAt, ...columns, bytes);
      if (changes !== 0) return null;
      const row = findFirst.get(uti, digest);
      const first = String(row?.["id"]);
      insertArrival.run(first, id, receivedAt);
      return { repeated: true, first, taken: row?.["taken"] === 1 };
    },
    forward: ({ columns }) => {
      insertForward.run(...columns);
      return null;
    },
    rejection: ({ columns, body }) =>
      void insertRejection.run(...columns, body === null ? null : Buffer.from(body, "latin1")),
    trimRejections: () => {
      trimCount.run();
      trimBytes.run();
    },
  };
}
