/** Writes events so that what was acknowledged survives anything: one transaction for all that came together. */
import { createHash } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import { outcomeOf, textOf } from "../domain/transaction.ts";
import type { EventLog, Forward, Kept, NewEvent, Rejection } from "../receiver/events.ts";
import { transaction, type Database } from "./database.ts";

/** How many rejections are kept, and how many bytes of body: whoever sends rubbish fills no disk. */
const MAX_REJECTIONS = 1000;
const MAX_REJECTED_BYTES = 32 * 1024 * 1024;
/** Pages that the log may have before they are moved into the database: 16 MiB. */
const CHECKPOINT_PAGES = 4096;

/** Entries of a batch that waits for no more. */
const FULL_BATCH = 256;

/** One thing to write, and who waits for it. */
interface Entry<T> {
  readonly write: () => T;
  readonly done: (value: T) => void;
  readonly failed: (error: unknown) => void;
}

export interface EventWriter extends EventLog {
  /** Writes what is left and resolves when that is durable. */
  close(): Promise<void>;
}

/**
 * SQLite writes the log of a transaction, and the log is synchronised off this thread before anybody is told: with
 * synchronous=FULL the same would happen while no other webhook could be read.
 */
export function createEventWriter(database: Database, path: string): EventWriter {
  database.exec(`PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=${CHECKPOINT_PAGES}`);
  const rows = createRows(database);
  let log: FileHandle | undefined;
  let waiting: Entry<unknown>[] = [];
  let rejections: Rejection[] = [];
  let writing: Promise<void> | undefined;
  /** A batch grows as long as each turn of the event loop brings more: what arrives together is written together. */
  const gather = async (): Promise<void> => {
    let before: number;
    do {
      before = waiting.length;
      await endOfTurn();
    } while (waiting.length > before && waiting.length < FULL_BATCH);
  };
  const writeAll = async (): Promise<void> => {
    await gather();
    while (waiting.length > 0 || rejections.length > 0) {
      const batch = waiting;
      const rejected = rejections;
      [waiting, rejections] = [[], []];
      const settle = commit(database, batch);
      if (rejected.length > 0) keepRejections(database, rows, rejected);
      try {
        await (log ??= await open(`${path}-wal`, "r+")).datasync();
        for (const one of settle) one();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
      await gather();
    }
    writing = undefined;
  };
  const schedule = (): void => {
    writing ??= writeAll();
  };
  const enqueue = <T>(write: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      waiting.push({ write, done: (value) => resolve(value as T), failed: reject });
      schedule();
    });
  return {
    append: (event) => enqueue(() => rows.event(event)),
    forwarded: (first, forward) => enqueue(() => rows.forward(first, forward)),
    reject: (rejection) => {
      // A flood of rubbish must not outgrow what would be kept of it anyway.
      if (rejections.length >= MAX_REJECTIONS) return;
      rejections.push(rejection);
      schedule();
    },
    close: async () => {
      await writing;
      await log?.close();
    },
  };
}

const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Gives what is to be done once the log is synchronised. Where a batch fails as a whole, each entry gets a
 * transaction of its own: one that cannot be kept spoils no other.
 */
function commit(database: Database, batch: readonly Entry<unknown>[]): (() => void)[] {
  if (batch.length === 0) return [];
  try {
    const results = transaction(database, () => batch.map(({ write }) => write()));
    return batch.map(
      ({ done }, index) =>
        () =>
          done(results[index]),
    );
  } catch (error) {
    const [only] = batch;
    if (batch.length > 1) return batch.flatMap((entry) => commit(database, [entry]));
    return [() => only?.failed(error)];
  }
}

/** Nobody waits for a rejection, so nobody is told where the disk is full: the next event will be. */
function keepRejections(database: Database, rows: Rows, rejections: readonly Rejection[]): void {
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
  readonly event: (event: NewEvent) => Kept;
  readonly forward: (first: string, forward: Forward) => void;
  readonly rejection: (rejection: Rejection) => void;
  readonly trimRejections: () => void;
}

function createRows(database: Database): Rows {
  const insertEvent = database.prepare(
    `INSERT INTO events (id, uti, digest, received_at, outcome, reference, method, scheme, authority, target,
       headers, trailers, body, verdict)
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
    event: ({ id, receivedAt, record, request, verdict }) => {
      const uti = (record && textOf(record, "uti")) ?? "";
      const digest = createHash("sha256").update(request.body).digest();
      const { changes } = insertEvent.run(
        id,
        uti,
        digest,
        receivedAt.getTime(),
        record === null ? "" : outcomeOf(record),
        (record && textOf(record, "reference")) ?? "",
        request.method,
        request.scheme,
        request.authority,
        request.target,
        JSON.stringify(request.headers),
        JSON.stringify(request.trailers ?? []),
        request.body,
        JSON.stringify(verdict),
      );
      if (changes !== 0) return { repeated: false, first: id, taken: false };
      const row = findFirst.get(uti, digest);
      const first = String(row?.["id"]);
      insertArrival.run(first, id, receivedAt.getTime());
      return { repeated: true, first, taken: row?.["taken"] === 1 };
    },
    forward: (first, { at, target, status, ms, detail }) =>
      void insertForward.run(first, at.getTime(), target, status, Math.round(ms), detail),
    rejection: ({ id, receivedAt, code, status, detail, checks, request }) =>
      void insertRejection.run(
        id,
        receivedAt.getTime(),
        code,
        status,
        detail,
        JSON.stringify(checks),
        request?.method ?? null,
        request?.scheme ?? null,
        request?.authority ?? null,
        request?.target ?? null,
        request === null ? null : JSON.stringify(request.headers),
        request === null ? null : JSON.stringify(request.trailers ?? []),
        request?.body ?? null,
      ),
    trimRejections: () => {
      trimCount.run();
      trimBytes.run();
    },
  };
}
