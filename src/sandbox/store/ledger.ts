/** The sandbox's ledger in SQLite, which one process at a time may open. */
import { outcomeName } from "../../domain/outcome.ts";
import * as z from "zod/mini";
import { parseWebAddress } from "../../domain/addresses.ts";
import { hint, PaylinkError } from "../../domain/errors.ts";
import { outcomeOf, textOf } from "../../domain/transaction.ts";
import {
  lockFile,
  openDatabase,
  rollBack,
  type Database,
  type Statement,
  type Value,
} from "../../store/database.ts";
import { createGroupCommit } from "../../store/group-commit.ts";
import {
  attemptRow,
  DELIVERIES,
  deliveryRow,
  linkRow,
  LINKS,
  paymentRow,
  PAYMENTS,
  readList,
  type Attempt,
  type Delivery,
  type DeliveryState,
  type Link,
  type ListQuery,
  type Payment,
} from "./rows.ts";

/** Call everything that changes it within `write`. Reads see each change at once. */
export type Ledger = ReturnType<typeof openLedger>;

/** `:memory:` stores nothing. Throws if another sandbox has the file open: two would deliver every webhook twice. */
export function openLedger(path: string) {
  const release = lockLedger(path);
  const database = openDatabase(path, SANDBOX_MIGRATIONS);
  const units = createUnits(database);
  const statements = new Map<string, Statement>();
  const prepared = (sql: string): Statement => {
    const statement = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const run = (sql: string, ...values: Value[]): void => void prepared(sql).run(...values);
  const rows = (sql: string, ...values: Value[]) => prepared(sql).all(...values);
  const row = (sql: string, ...values: Value[]) => prepared(sql).get(...values);
  const insert = (table: string, columns: Readonly<Record<string, Value>>): void => {
    const names = Object.keys(columns);
    const places = names.map(() => "?");
    run(`INSERT INTO ${table} (${names.join()}) VALUES (${places.join()})`, ...Object.values(columns));
  };
  const count = (from: string): number => Number(row(`SELECT count(*) AS n FROM ${from}`)?.["n"] ?? 0);
  const found = <T>(schema: { parse(row: unknown): T }, sql: string, ...values: Value[]): T | undefined => {
    const one = row(sql, ...values);
    return one === undefined ? undefined : schema.parse(one);
  };
  return {
    /** Makes all changes of a unit, or none if it throws. Runs it at once; resolves when the changes are durable. */
    write: units.write,
    addLink: (link: Link) => insert("links", z.encode(linkRow, link)),
    saveLink: (link: Link) => {
      const { id, ...columns } = z.encode(linkRow, link);
      const changes = Object.keys(columns).map((name) => `${name} = ?`);
      run(`UPDATE links SET ${changes.join()} WHERE id = ?`, ...Object.values(columns), id);
    },
    findLink: (id: string) => found(linkRow, "SELECT * FROM links WHERE id = ?", id),
    /** Whether a link of the terminal has this `invoiceId`. */
    hasInvoice: (terminalId: string, invoiceId: string) =>
      row(SELECT_INVOICE, invoiceId, terminalId) !== undefined,
    links: (query: ListQuery) => readList(LINKS, query, rows),
    /** The links that were created between two moments, both included; the newest first. */
    *linksCreated(from: Date, to: Date): Iterable<Link> {
      let before = Number.MAX_SAFE_INTEGER;
      for (;;) {
        const batch = rows(SELECT_CREATED, before, from.toISOString(), to.toISOString());
        yield* batch.map((one) => linkRow.parse(one));
        if (batch.length < BATCH) return;
        before = Number(batch.at(-1)?.["seq"]);
      }
    },
    addPayment: (payment: Payment) => {
      const { record } = payment;
      const reference = textOf(record, "reference") ?? "";
      const outcome = outcomeName(outcomeOf(record));
      insert("payments", { ...z.encode(paymentRow, payment), reference, outcome });
    },
    findPayment: (uti: string) => found(paymentRow, "SELECT * FROM payments WHERE uti = ?", uti),
    /** The payment that a rendered form of a link has made. */
    findPaymentByForm: (linkId: string, form: string) =>
      found(paymentRow, "SELECT * FROM payments WHERE linkId = ? AND form = ?", linkId, form),
    hasReference: (reference: string) =>
      row("SELECT 1 FROM payments WHERE reference = ?", reference) !== undefined,
    payments: (query: ListQuery) => readList(PAYMENTS, query, rows),
    addDelivery: (delivery: Delivery) => {
      const origin = parseWebAddress(delivery.url)?.origin ?? "";
      insert("deliveries", { ...z.encode(deliveryRow, delivery), origin });
    },
    findDelivery: (id: string) => found(deliveryRow, "SELECT * FROM deliveries WHERE id = ?", id),
    deliveries: (query: ListQuery) => readList(DELIVERIES, query, rows),
    /** Stores an attempt and returns its number. `next` is what it makes of the delivery: nothing, if it was tampered with. */
    addAttempt: (
      attempt: Omit<Attempt, "number">,
      next?: { readonly state: DeliveryState; readonly due: number },
    ): number => {
      const number = Number(row(COUNT_ATTEMPT, attempt.deliveryId)?.["attempts"]);
      insert("attempts", z.encode(attemptRow, { ...attempt, number }));
      if (next !== undefined) run(UPDATE_DELIVERY, next.state, next.due, attempt.deliveryId);
      return number;
    },
    findAttempt: (id: string, number: number) =>
      found(attemptRow, "SELECT * FROM attempts WHERE deliveryId = ? AND number = ?", id, number),
    /** The newest attempt that counts: of the service's own webhook. */
    lastAttempt: (id: string) => found(attemptRow, SELECT_LAST_ATTEMPT, id),
    /** The newest attempts, the last one first. */
    attemptsOf: (id: string, limit: number) =>
      rows("SELECT * FROM attempts WHERE deliveryId = ? ORDER BY number DESC LIMIT ?", id, limit).map((one) =>
        attemptRow.parse(one),
      ),
    /** Starts the schedule again. */
    resend: (id: string, due: number) => run(`${RESEND} WHERE id = ?`, due, id),
    /** Starts the schedule of every failed delivery again. */
    resendFailed: (due: number) => run(`${RESEND} WHERE failed = 1`, due),
    /** The origins of the addresses of waiting deliveries. */
    waitingOrigins: () =>
      rows("SELECT DISTINCT origin FROM deliveries WHERE state = 'waiting'").map(({ origin }) =>
        String(origin),
      ),
    /** The delivery of an origin that has been due for the longest, unless its link is busy. */
    nextFor: (origin: string, now: number, busyLinks: ReadonlySet<string>) =>
      found(deliveryRow, SELECT_NEXT, origin, now, JSON.stringify([...busyLinks])),
    /** The time of the first delivery that is due after a moment. */
    nextDue: (after: number) => {
      const due = row(SELECT_NEXT_DUE, after)?.["due"];
      return due === undefined ? undefined : Number(due);
    },
    /** The deliveries with an attempt after a moment, the next first. */
    waitingAfter: (after: Date, limit: number) =>
      rows(SELECT_WAITING, after.getTime(), limit).map((one) => deliveryRow.parse(one)),
    /** The links that can be paid until a time after a moment, the next first. */
    expiringAfter: (after: Date, limit: number) =>
      rows(SELECT_EXPIRING, after.toISOString(), limit).map((one) => linkRow.parse(one)),
    counts: () => ({
      links: count("links"),
      payments: count("payments"),
      deliveries: count("deliveries"),
      failed: count("deliveries WHERE failed = 1"),
    }),
    /** Deletes everything. */
    reset: () => {
      for (const table of ["links", "payments", "deliveries", "attempts"]) run(`DELETE FROM ${table}`);
    },
    close: async () => {
      await units.settled();
      database.close();
      release();
    },
  };
}

/** Locks a file beside the ledger, until the returned function is called or this process ends. */
function lockLedger(path: string): () => void {
  if (path === ":memory:") return () => undefined;
  const release = lockFile(`${path}.owner`);
  if (release !== undefined) return release;
  throw new PaylinkError("usage", `Another sandbox is using ${path}.`, {
    hints: [hint`Stop it, or start this one with another --db or another PAYLINK_HOME.`],
  });
}

/** Members of a link's request, written as in the index of invoices. */
const INVOICE_ID = "json_extract(request, '$.invoiceId')";
const TERMINAL_ID = "json_extract(request, '$.terminalId')";

const SELECT_INVOICE = `SELECT 1 FROM links WHERE ${INVOICE_ID} = ? AND ${TERMINAL_ID} = ? LIMIT 1`;
/** Rows in memory at once. */
const BATCH = 1000;
const SELECT_CREATED = `SELECT * FROM links WHERE seq < ? AND createdDate BETWEEN ? AND ? ORDER BY seq DESC LIMIT ${BATCH}`;
const RESEND = "UPDATE deliveries SET state = 'waiting', tries = 0, due = ?";
const COUNT_ATTEMPT = "UPDATE deliveries SET attempts = attempts + 1 WHERE id = ? RETURNING attempts";
const UPDATE_DELIVERY = "UPDATE deliveries SET tries = tries + 1, state = ?, due = ? WHERE id = ?";
const SELECT_LAST_ATTEMPT =
  "SELECT * FROM attempts WHERE deliveryId = ? AND tampering IS NULL ORDER BY number DESC LIMIT 1";
const SELECT_NEXT =
  "SELECT * FROM deliveries WHERE state = 'waiting' AND origin = ? AND due <= ? AND linkId NOT IN (SELECT value FROM json_each(?)) ORDER BY due, seq LIMIT 1";

const SELECT_WAITING =
  "SELECT * FROM deliveries WHERE state = 'waiting' AND due > ? ORDER BY due, seq LIMIT ?";
const SELECT_EXPIRING = `SELECT * FROM links WHERE cancelledDate IS NULL
  AND (paidDate IS NULL OR json_type(request, '$.linkOptions') IS NOT NULL)
  AND julianday(expirationDate) > julianday(?) ORDER BY julianday(expirationDate), seq LIMIT ?`;
const SELECT_NEXT_DUE = "SELECT due FROM deliveries WHERE state = 'waiting' AND due > ? ORDER BY due LIMIT 1";

/** Units of writes: each is stored whole or not at all, and all units of one turn of the event loop share a commit. */
export function createUnits(database: Database) {
  let isOpen = false;
  /** Why SQLite has rolled back the open transaction, with every unit in it. */
  let lost: Error | undefined;
  const group = createGroupCommit<void, void>(async (units) => {
    const error = lost;
    [isOpen, lost] = [false, undefined];
    if (error !== undefined) throw error;
    commit(database);
    return units.map(() => ({ status: "fulfilled", value: undefined }));
  });
  const run = (unit: () => void): void => {
    if (lost !== undefined) throw lost;
    database.exec("SAVEPOINT unit");
    try {
      unit();
    } catch (error) {
      try {
        database.exec("ROLLBACK TO unit; RELEASE unit");
      } catch (cause) {
        lost = new Error("the database has rolled back", { cause });
      }
      throw error;
    }
    database.exec("RELEASE unit");
  };
  return {
    /** Runs a unit at once, so that reads see its writes; resolves once they are durable. Rejects if it is not stored. */
    write: async (unit: () => void): Promise<void> => {
      if (!isOpen) database.exec("BEGIN IMMEDIATE");
      isOpen = true;
      const committed = group.add();
      try {
        run(unit);
      } catch (error) {
        await Promise.allSettled([committed]);
        throw error;
      }
      await committed;
    },
    settled: () => group.settled(),
  };
}

function commit(database: Database): void {
  try {
    database.exec("COMMIT");
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** The tables, with one migration for each version. */
const SANDBOX_MIGRATIONS = [
  `CREATE TABLE links (
     seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, request TEXT NOT NULL,
     created TEXT NOT NULL, expires TEXT NOT NULL,
     viewed TEXT, attempted TEXT, paid TEXT, cancelled TEXT);
   CREATE TABLE payments (
     seq INTEGER PRIMARY KEY, uti TEXT NOT NULL UNIQUE, link TEXT NOT NULL,
     reference TEXT NOT NULL, outcome TEXT NOT NULL, record TEXT NOT NULL);
   CREATE INDEX payments_reference ON payments (reference);
   CREATE TABLE deliveries (
     seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, link TEXT NOT NULL, uti TEXT NOT NULL,
     url TEXT NOT NULL, origin TEXT NOT NULL, body BLOB NOT NULL, state TEXT NOT NULL,
     attempts INTEGER NOT NULL, tries INTEGER NOT NULL, due INTEGER NOT NULL);
   CREATE INDEX deliveries_due ON deliveries (due, seq) WHERE state = 'waiting';
   CREATE INDEX deliveries_origin ON deliveries (origin, due, seq) WHERE state = 'waiting';
   CREATE TABLE attempts (
     delivery TEXT NOT NULL, number INTEGER NOT NULL, at TEXT NOT NULL, headers TEXT NOT NULL,
     base TEXT NOT NULL, status INTEGER, answer TEXT NOT NULL, detail TEXT NOT NULL,
     PRIMARY KEY (delivery, number)) WITHOUT ROWID;`,
  `CREATE INDEX links_invoice ON links (${INVOICE_ID}, ${TERMINAL_ID}) WHERE ${INVOICE_ID} IS NOT NULL;`,
  `ALTER TABLE attempts ADD COLUMN answer_headers TEXT NOT NULL DEFAULT '[]';
   ALTER TABLE attempts ADD COLUMN duration INTEGER;
   ALTER TABLE deliveries ADD COLUMN failed INTEGER AS (state = 'failed') VIRTUAL;
   CREATE INDEX deliveries_listed ON deliveries (failed, seq);
   CREATE INDEX deliveries_link ON deliveries (link, failed, seq);
   CREATE INDEX deliveries_uti ON deliveries (uti, failed, seq);
   CREATE INDEX payments_link ON payments (link, seq);`,
  `ALTER TABLE payments ADD COLUMN customer TEXT NOT NULL DEFAULT '{}';
   ALTER TABLE payments ADD COLUMN form TEXT;
   CREATE UNIQUE INDEX payments_form ON payments (link, form) WHERE form IS NOT NULL;`,
  // A record and its row then have the same names.
  `ALTER TABLE links RENAME COLUMN created TO createdDate;
   ALTER TABLE links RENAME COLUMN expires TO expirationDate;
   ALTER TABLE links RENAME COLUMN viewed TO viewedDate;
   ALTER TABLE links RENAME COLUMN attempted TO attemptedDate;
   ALTER TABLE links RENAME COLUMN paid TO paidDate;
   ALTER TABLE links RENAME COLUMN cancelled TO cancelledDate;
   ALTER TABLE payments RENAME COLUMN link TO linkId;
   ALTER TABLE deliveries RENAME COLUMN link TO linkId;
   ALTER TABLE attempts RENAME COLUMN delivery TO deliveryId;
   ALTER TABLE attempts RENAME COLUMN answer_headers TO answerHeaders;`,
  // The signature base is rebuilt from the message.
  `ALTER TABLE attempts ADD COLUMN signedAt TEXT NOT NULL DEFAULT '';
   UPDATE attempts SET signedAt = at;
   ALTER TABLE attempts ADD COLUMN tampering TEXT;
   ALTER TABLE attempts ADD COLUMN body BLOB;
   ALTER TABLE attempts DROP COLUMN base;`,
] as const;
