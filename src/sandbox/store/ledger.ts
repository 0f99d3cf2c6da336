/** The sandbox's ledger in SQLite, which one process at a time may open. */
import { outcomeName } from "../../domain/outcome.ts";
import { parseWebAddress } from "../../values/addresses.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import { type Amount, formatAmount, scaledAmount } from "../../domain/money.ts";
import { parseInstant } from "../../values/time.ts";
import { type TransactionRecord, amountIn, outcomeOf, textOf } from "../../domain/transaction.ts";
import type { Bars } from "../../pages/trend.ts";
import { type Connection, IN_MEMORY, type Statement, inTransaction } from "../../store/sqlite/connection.ts";
import type { Value } from "../../store/sql.ts";
import { lockFile, openDatabase, versionOf } from "../../store/sqlite/open.ts";
import type { LinksQuery } from "../links.ts";
import {
  DELIVERY_ROWS,
  LINK_ROWS,
  type LedgerQuery,
  PAYMENT_ROWS,
  countRows,
  readBars,
  readLedgerPage,
  sumPayments,
} from "./ledger-lists.ts";
import {
  type DeliveryAttempt,
  type Delivery,
  type DeliveryState,
  type Link,
  type PaymentRow,
  attemptRow,
  deliveryRow,
  linkRow,
  paymentRow,
  recordOf,
} from "./ledger-rows.ts";
import { LEDGER_STEPS, LINK_STATUS } from "./schema.ts";
import * as z from "zod/mini";

/** Call everything that changes it within `write`. Reads see each change at once. */
export type Ledger = ReturnType<typeof openLedger>;

/**
 * `:memory:` stores nothing; `reset` deletes everything first. Throws if another sandbox has the file open: two would deliver every
 * webhook twice.
 */
export function openLedger(path: string, reset = false) {
  const { database, release } = openLocked(path, reset);
  // A commit survives the end of the process. A sandbox need not survive a power cut, and so it waits for no sync of the disk.
  database.exec("PRAGMA synchronous=NORMAL");
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
  const count = (from: string, ...values: Value[]): number =>
    Number(row(`SELECT count(*) AS n FROM ${from}`, ...values)?.["n"] ?? 0);
  const found = <T>(schema: { parse(row: unknown): T }, sql: string, ...values: Value[]): T | undefined => {
    const one = row(sql, ...values);
    return one === undefined ? undefined : schema.parse(one);
  };
  return {
    /** Makes all changes of a unit, or none if it throws. */
    write: <T>(unit: () => T): T => inTransaction(database, unit),
    addLink: (link: Link) => insert("links", { ...z.encode(linkRow, link), searched: textOfLink(link) }),
    saveLink: (link: Link) => {
      const { id, ...columns } = { ...z.encode(linkRow, link), searched: textOfLink(link) };
      const changes = Object.keys(columns).map((name) => `${name} = ?`);
      run(`UPDATE links SET ${changes.join()} WHERE id = ?`, ...Object.values(columns), id);
    },
    findLink: (id: string) => found(linkRow, SELECT_LINK, id),
    /** Whether this is the number of a paid order. */
    isPaid: (invoiceId: string) => row(SELECT_PAID, invoiceId) !== undefined,
    links: (query: LedgerQuery) => readLedgerPage(LINK_ROWS, query, rows),
    countLinks: (query: LedgerQuery) => countRows(LINK_ROWS, query, rows),
    /** One page of the links that were created between two moments, both included, and the count of all; the newest first. */
    linksCreated: ({ from, to, status, page, size }: LinksQuery, now: Date) => {
      const ofStatus = status === undefined ? "" : ` AND ${LINK_STATUS} = ?`;
      const where = `links WHERE createdDate BETWEEN ? AND ?${ofStatus}`;
      const values = [from.toISOString(), to.toISOString()];
      if (status !== undefined) values.push(now.toISOString(), status);
      const found = rows(
        `SELECT * FROM ${where} ORDER BY createdDate DESC, seq DESC LIMIT ? OFFSET ?`,
        ...values,
        size,
        (page - 1) * size,
      );
      return { totalCount: count(where, ...values), records: found.map((one) => linkRow.parse(one)) };
    },
    addPayment: (payment: PaymentRow) => {
      const { record } = payment;
      const searched = textOfPayment(record, found(linkRow, SELECT_LINK, payment.linkId));
      insert("payments", {
        ...z.encode(paymentRow, payment),
        ...filteredColumns(record),
        ...amountColumns(record),
        searched,
      });
    },
    findPayment: (uti: string) => found(paymentRow, "SELECT * FROM payments WHERE uti = ?", uti),
    /** The payment that a rendered form of a link has made. */
    findPaymentByForm: (linkId: string, form: string) =>
      found(paymentRow, "SELECT * FROM payments WHERE linkId = ? AND form = ?", linkId, form),
    payments: (query: LedgerQuery) => readLedgerPage(PAYMENT_ROWS, query, rows),
    countPayments: (query: LedgerQuery) => countRows(PAYMENT_ROWS, query, rows),
    /** Of the newest `ROWS_COUNTED`. */
    sumPayments: (query: LedgerQuery) => sumPayments(query, rows),
    /** How many payments of each outcome were made in each part of a time. */
    paymentBars: (bars: Bars) => readBars(PAYMENT_ROWS, bars, rows),
    /** The records of what was paid of a link in part. */
    partialPayments: (linkId: string) =>
      rows(SELECT_PARTIAL, linkId).map((one) => paymentRow.parse(one).record),
    addDelivery: (delivery: Delivery) => {
      const url = parseWebAddress(delivery.url);
      const record = recordOf(delivery);
      const payment = textOfPayment(record, found(linkRow, SELECT_LINK, delivery.linkId));
      // Not the password in an address.
      const searched = `${payment} ${url?.origin ?? ""}${url?.pathname ?? ""}`.toLowerCase();
      insert("deliveries", { ...z.encode(deliveryRow, delivery), ...filteredColumns(record), searched });
    },
    findDelivery: (id: string) => found(deliveryRow, "SELECT * FROM deliveries WHERE id = ?", id),
    deliveries: (query: LedgerQuery) => readLedgerPage(DELIVERY_ROWS, query, rows),
    countDeliveries: (query: LedgerQuery) => countRows(DELIVERY_ROWS, query, rows),
    /** How many deliveries of each state are about payments of each part of a time. */
    deliveryBars: (bars: Bars) => readBars(DELIVERY_ROWS, bars, rows),
    /** Stores an attempt with what it makes of the delivery, and returns its number. */
    addAttempt: (
      attempt: Omit<DeliveryAttempt, "number">,
      { state, due }: { readonly state: DeliveryState; readonly due: number },
    ): number => {
      const number = Number(row(UPDATE_DELIVERY, state, due, attempt.deliveryId)?.["attempts"]);
      insert("attempts", z.encode(attemptRow, { ...attempt, number }));
      return number;
    },
    findAttempt: (id: string, number: number) =>
      found(attemptRow, "SELECT * FROM attempts WHERE deliveryId = ? AND number = ?", id, number),
    lastAttempt: (id: string) => found(attemptRow, SELECT_ATTEMPTS, id, 1),
    /** The newest attempts, the last one first. */
    attemptsOf: (id: string, limit: number) =>
      rows(SELECT_ATTEMPTS, id, limit).map((one) => attemptRow.parse(one)),
    /** Starts the schedule again. */
    resend: (id: string, due: number) => run(`${RESEND} WHERE id = ?`, due, id),
    /** Starts the schedule of every failed delivery again. */
    resendFailed: (due: number) => run(`${RESEND} WHERE state = 'failed'`, due),
    /** The delivery that has been due for the longest, unless its link is busy. */
    nextDelivery: (now: number, busyLinks: Iterable<string>) =>
      found(deliveryRow, SELECT_NEXT, now, JSON.stringify([...busyLinks])),
    /** The time of the first delivery that is due after a moment. */
    nextDue: (after: number) => {
      const due = row(SELECT_NEXT_DUE, after)?.["due"];
      return due === undefined ? undefined : Number(due);
    },
    /** The number of the last payment: none is ever deleted alone. */
    paymentCount: () => Number(row("SELECT max(seq) AS last FROM payments")?.["last"] ?? 0),
    failedCount: () => count("deliveries WHERE state = 'failed'"),
    /** Milliseconds by which the clock is ahead of the machine's. */
    clockAhead: () => Number(row("SELECT ahead FROM clock")?.["ahead"] ?? 0),
    moveClock: (ahead: number) => {
      run("DELETE FROM clock");
      insert("clock", { ahead });
    },
    /** Deletes everything but the clock. */
    forget: () => {
      for (const table of ["links", "payments", "deliveries", "attempts"]) run(`DELETE FROM ${table}`);
    },
    close: () => {
      database.close();
      release();
    },
  };
}

function openLocked(path: string, reset: boolean) {
  const release = lockLedger(path);
  try {
    const check = (opened: Connection): void => requireLedger(path, opened, reset);
    return { database: openDatabase(path, LEDGER_STEPS, { check }), release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Locks a file beside the ledger, until the returned function is called or this process ends. */
function lockLedger(path: string): () => void {
  if (path === IN_MEMORY) return () => undefined;
  const release = lockFile(`${path}.owner`);
  if (release !== undefined) return release;
  throw new PaylinkError("usage", `Another sandbox is using ${path}.`, {
    hints: [hint`Stop it, or start this one with another --db or another PAYLINK_HOME.`],
  });
}

/** What a search finds a link by. */
const textOfLink = ({ request }: Link): string =>
  [
    request.invoiceId,
    request.description,
    request.customerName,
    searchedAmount(request.amount, request.currency),
  ]
    .join(" ")
    .toLowerCase();

/** What a search finds a payment and its deliveries by. */
const textOfPayment = (record: TransactionRecord, link: Link | undefined): string =>
  [
    textOf(record, "reference"),
    outcomeName(outcomeOf(record)),
    searchedAmount(amountIn(record, "amountTrans") ?? "", textOf(record, "transCurrencyCode") ?? ""),
    textOf(record, "cardPan"),
    link?.request.customerName,
  ]
    .join(" ")
    .toLowerCase();

/** What lists filter by. */
const filteredColumns = (record: TransactionRecord) => ({
  outcome: outcomeName(outcomeOf(record)),
  at: parseInstant(textOf(record, "transDateTime") ?? "")?.getTime() ?? null,
});

/** What lists add up. */
function amountColumns(record: TransactionRecord) {
  const amount = amountIn(record, "amountTrans");
  const scaled = amount === undefined ? undefined : scaledAmount(amount);
  return { currency: textOf(record, "transCurrencyCode") ?? "", amount: scaled ?? null };
}

/** As it is spelled and as it is shown, without the commas between thousands. */
const searchedAmount = (amount: Amount, currency: string): string =>
  `${String(amount)} ${formatAmount(amount, currency)}`;

const SELECT_LINK = "SELECT * FROM links WHERE id = ?";
const SELECT_PAID =
  "SELECT 1 FROM links WHERE invoiceId = ? AND paidDate IS NOT NULL AND NOT reusable LIMIT 1";
const SELECT_PARTIAL = "SELECT * FROM payments WHERE linkId = ? AND outcome = 'partially-approved'";
const RESEND = "UPDATE deliveries SET state = 'pending', tries = 0, due = ?";
const UPDATE_DELIVERY =
  "UPDATE deliveries SET attempts = attempts + 1, tries = tries + 1, state = ?, due = ? WHERE id = ? RETURNING attempts";
const SELECT_ATTEMPTS = "SELECT * FROM attempts WHERE deliveryId = ? ORDER BY number DESC LIMIT ?";
const SELECT_NEXT =
  "SELECT * FROM deliveries WHERE state = 'pending' AND due <= ? AND linkId NOT IN (SELECT value FROM json_each(?)) ORDER BY due, seq LIMIT 1";

const SELECT_NEXT_DUE = "SELECT due FROM deliveries WHERE state = 'pending' AND due > ? ORDER BY due LIMIT 1";

/** Throws for a file with other tables; `reset` makes any ledger a new file. */
function requireLedger(path: string, database: Connection, reset: boolean): void {
  if (versionOf(database) === 0) return;
  const tables = tablesIn(database);
  // The event store has no clock.
  if (!tables.includes("clock"))
    throw new PaylinkError("file_unreadable", `${path} is a database, but not one of the sandbox.`, {
      hints: [hint`Name another file with --db.`],
    });
  if (reset) deleteTables(database, tables);
}

const tablesIn = (database: Connection): readonly string[] =>
  database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all()
    .map(({ name }) => String(name));

const deleteTables = (database: Connection, tables: readonly string[]): void =>
  inTransaction(database, () => {
    for (const table of tables) database.exec(`DROP TABLE ${table}`);
    database.exec("PRAGMA user_version=0");
  });
