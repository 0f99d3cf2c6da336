/** The sandbox's ledger in SQLite, which one process at a time may open. */
import { hint, PaylinkError } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import { outcomeOf, textOf } from "../../domain/transaction.ts";
import { parseWebAddress } from "../../domain/addresses.ts";
import type { Attempt, Delivery, Ledger, Link, Payment } from "../../sandbox/ledger.ts";
import { openDatabase, type Statement, type Value } from "../database.ts";
import { DELIVERIES, LINKS, PAYMENTS, readList } from "./ledger-lists.ts";
import { attemptFromRow, deliveryFromRow, linkFromRow, paymentFromRow } from "./ledger-rows.ts";
import { INVOICE_ID, SANDBOX_MIGRATIONS, TERMINAL_ID } from "./ledger-schema.ts";
import { createUnits } from "./ledger-units.ts";

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

/**
 * Locks a file beside the ledger. The system releases the lock when this process ends, however it ends. Returns the
 * function that releases it earlier.
 */
function lockLedger(path: string): () => void {
  if (path === ":memory:") return () => undefined;
  const owner = openDatabase(`${path}.owner`, []);
  try {
    owner.exec("PRAGMA busy_timeout=0; BEGIN IMMEDIATE;");
  } catch (error) {
    owner.close();
    throw new PaylinkError("usage", `Another sandbox is using ${path}.`, {
      hints: [hint`Stop it, or start this one with another --db or another PAYLINK_HOME.`],
      cause: error,
    });
  }
  return () => {
    owner.exec("ROLLBACK");
    owner.close();
  };
}

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

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

const linkValues = (link: Link): Value[] => [
  stringifyJson(link.request),
  link.createdDate.toISOString(),
  link.expirationDate,
  iso(link.viewedDate),
  iso(link.attemptedDate),
  iso(link.paidDate),
  iso(link.cancelledDate),
];

const paymentValues = ({ uti, linkId, record, customer, form }: Payment): Value[] => [
  uti,
  linkId,
  textOf(record, "reference") ?? "",
  outcomeOf(record).toLowerCase(),
  stringifyJson(record),
  JSON.stringify(customer),
  form,
];

const deliveryValues = (delivery: Delivery): Value[] => [
  delivery.id,
  delivery.linkId,
  delivery.uti,
  delivery.url,
  parseWebAddress(delivery.url)?.origin ?? "",
  delivery.body,
  delivery.state,
  delivery.attempts,
  delivery.tries,
  delivery.due,
];

const attemptValues = (attempt: Attempt): Value[] => [
  attempt.deliveryId,
  attempt.number,
  attempt.at.toISOString(),
  JSON.stringify(attempt.headers),
  attempt.base,
  attempt.status,
  attempt.answer,
  attempt.detail,
  JSON.stringify(attempt.answerHeaders),
  attempt.duration,
];
