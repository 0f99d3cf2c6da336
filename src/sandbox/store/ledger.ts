/** The sandbox's ledger in SQLite, which one process at a time may open. */
import { hint, PaylinkError } from "../../domain/errors.ts";
import {
  lockFile,
  openDatabase,
  rollBack,
  type Database,
  type Statement,
  type Value,
} from "../../store/database.ts";
import { createGroupCommit } from "../../store/group-commit.ts";
import type { Ledger } from "../ledger.ts";
import { DELIVERIES, LINKS, PAYMENTS, readList } from "./lists.ts";
import {
  attemptFromRow,
  attemptValues,
  deliveryFromRow,
  deliveryValues,
  linkFromRow,
  linkValues,
  paymentFromRow,
  paymentValues,
} from "./rows.ts";

/** `:memory:` stores nothing. Throws if another sandbox has the file open: two would deliver every webhook twice. */
export function openLedger(path: string): Ledger {
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
  const count = (from: string): number => Number(row(`SELECT count(*) AS n FROM ${from}`)?.["n"] ?? 0);
  const found = <T>(read: (row: Record<string, unknown>) => T, sql: string, ...values: Value[]) => {
    const one = row(sql, ...values);
    return one === undefined ? undefined : read(one);
  };
  return {
    write: units.write,
    addLink: (link) => run(INSERT_LINK, link.id, ...linkValues(link)),
    saveLink: (link) => run(UPDATE_LINK, ...linkValues(link), link.id),
    findLink: (id) => found(linkFromRow, "SELECT * FROM links WHERE id = ?", id),
    hasInvoice: (terminalId, invoiceId) => row(SELECT_INVOICE, invoiceId, terminalId) !== undefined,
    links: (query) => readList(LINKS, query, rows, linkFromRow),
    *linksCreated(from, to) {
      let before = Number.MAX_SAFE_INTEGER;
      for (;;) {
        const batch = rows(SELECT_CREATED, before, from.toISOString(), to.toISOString());
        yield* batch.map(linkFromRow);
        if (batch.length < BATCH) return;
        before = Number(batch.at(-1)?.["seq"]);
      }
    },
    addPayment: (payment) =>
      run("INSERT INTO payments VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", ...paymentValues(payment)),
    findPayment: (uti) => found(paymentFromRow, "SELECT * FROM payments WHERE uti = ?", uti),
    findPaymentByForm: (linkId, form) =>
      found(paymentFromRow, "SELECT * FROM payments WHERE link = ? AND form = ?", linkId, form),
    hasReference: (reference) => row("SELECT 1 FROM payments WHERE reference = ?", reference) !== undefined,
    payments: (query) => readList(PAYMENTS, query, rows, paymentFromRow),
    addDelivery: (delivery) => run(INSERT_DELIVERY, ...deliveryValues(delivery)),
    findDelivery: (id) => found(deliveryFromRow, "SELECT * FROM deliveries WHERE id = ?", id),
    deliveries: (query) => readList(DELIVERIES, query, rows, deliveryFromRow),
    addAttempt: (attempt, state, due) => {
      run(INSERT_ATTEMPT, ...attemptValues(attempt));
      run(UPDATE_DELIVERY, attempt.number, state, due, attempt.deliveryId);
    },
    findAttempt: (id, number) =>
      found(attemptFromRow, "SELECT * FROM attempts WHERE delivery = ? AND number = ?", id, number),
    attemptsOf: (id, limit) =>
      rows("SELECT * FROM attempts WHERE delivery = ? ORDER BY number DESC LIMIT ?", id, limit).map(
        attemptFromRow,
      ),
    resend: (id, due) => run(`${RESEND} WHERE id = ?`, due, id),
    resendFailed: (due) => run(`${RESEND} WHERE failed = 1`, due),
    waitingOrigins: () =>
      rows("SELECT DISTINCT origin FROM deliveries WHERE state = 'waiting'").map(({ origin }) =>
        String(origin),
      ),
    nextFor: (origin, now, busyLinks) =>
      found(deliveryFromRow, SELECT_NEXT, origin, now, JSON.stringify([...busyLinks])),
    nextDue: (after) => found(({ due }) => Number(due), SELECT_NEXT_DUE, after),
    counts: () => ({
      links: count("links"),
      payments: count("payments"),
      deliveries: count("deliveries"),
      failed: count("deliveries WHERE failed = 1"),
    }),
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

const INSERT_LINK = "INSERT INTO links VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)";
const UPDATE_LINK =
  "UPDATE links SET request = ?, created = ?, expires = ?, viewed = ?, attempted = ?, paid = ?, cancelled = ? WHERE id = ?";
const SELECT_INVOICE = `SELECT 1 FROM links WHERE ${INVOICE_ID} = ? AND ${TERMINAL_ID} = ? LIMIT 1`;
/** Rows in memory at once. */
const BATCH = 1000;
const SELECT_CREATED = `SELECT * FROM links WHERE seq < ? AND created BETWEEN ? AND ? ORDER BY seq DESC LIMIT ${BATCH}`;
const INSERT_DELIVERY = "INSERT INTO deliveries VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const INSERT_ATTEMPT = "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const RESEND = "UPDATE deliveries SET state = 'waiting', tries = 0, due = ?";
const UPDATE_DELIVERY =
  "UPDATE deliveries SET attempts = ?, tries = tries + 1, state = ?, due = ? WHERE id = ?";
const SELECT_NEXT =
  "SELECT * FROM deliveries WHERE state = 'waiting' AND origin = ? AND due <= ? AND link NOT IN (SELECT value FROM json_each(?)) ORDER BY due, seq LIMIT 1";

const SELECT_NEXT_DUE = "SELECT due FROM deliveries WHERE state = 'waiting' AND due > ? ORDER BY due LIMIT 1";

/** Units of writes: each is stored whole or not at all, and all units of one turn of the event loop share a commit. */
export interface Units {
  /** Runs a unit at once, so that reads see its writes; resolves once they are durable. Rejects if it is not stored. */
  readonly write: (unit: () => void) => Promise<void>;
  readonly settled: () => Promise<void>;
}

export function createUnits(database: Database): Units {
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
    write: async (unit) => {
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
] as const;
