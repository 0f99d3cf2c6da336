/** The tables of stored events in both databases. Never change a published migration: add the next one below it. */
import { isJsonObject, type Json } from "../domain/json.ts";
import { outcomeOf, textOf, type TransactionRecord } from "../domain/transaction.ts";
import { readStored, storedJson } from "../receiver/event-store.ts";
import type { Dialect, Row, Value } from "./dialects.ts";
import { requestFromRow } from "./rows.ts";
import { indexed } from "./writes.ts";

/**
 * Times are milliseconds since 1970. `events_arrival` has the columns that lists filter by, so that they read only the
 * events that they show. In `queued`, events wait in the order of `due` and `seq`: 0 before the first attempt, null after
 * the last one, and where an operator has `skipped` them at that time. `turns` has a row for each reference that waits, with
 * `due`, `seq` and `outcome` of its next event, which may have left the queue. It also says which event of the reference is
 * claimed, by whom, and until when. So a claim reads no further event of a reference, however many wait.
 */
export function migrations({ schema, concurrent, types, third }: Dialect): readonly string[] {
  const { key, order, integer, text, bytes, table, keyed } = types;
  const message = (presence: string): string =>
    ["method", "scheme", "authority", "target", "headers", "trailers"]
      .map((column) => `${column} TEXT ${presence},`)
      .join("\n     ");
  const filtered = concurrent ? ") INCLUDE (" : ", ";
  return [
    `CREATE TABLE ${schema}events (
     seq ${key},
     id ${text} NOT NULL,
     uti ${text} NOT NULL,
     digest ${bytes} NOT NULL,
     received_at ${integer} NOT NULL,
     outcome TEXT NOT NULL,
     reference TEXT NOT NULL,
     code TEXT NOT NULL,
     warnings TEXT NOT NULL,
     details TEXT NOT NULL,
     ${message("NOT NULL")}
     body ${bytes} NOT NULL
   ) ${table};
   CREATE UNIQUE INDEX events_same ON ${schema}events (uti, digest);
   CREATE UNIQUE INDEX events_id ON ${schema}events (id);
   CREATE INDEX events_arrival ON ${schema}events (received_at, seq${filtered}outcome, reference);

   CREATE TABLE ${schema}arrivals (
     ${order}
     event ${text} NOT NULL,
     id TEXT NOT NULL,
     received_at ${integer} NOT NULL
   ) ${table};
   CREATE INDEX arrivals_event ON ${schema}arrivals (event);

   CREATE TABLE ${schema}forwards (
     ${order}
     event ${text} NOT NULL,
     at ${integer} NOT NULL,
     target TEXT NOT NULL,
     status INTEGER NOT NULL,
     ms ${integer} NOT NULL,
     detail TEXT NOT NULL
   ) ${table};
   CREATE INDEX forwards_event ON ${schema}forwards (event, status);

   CREATE TABLE ${schema}rejections (
     seq ${key},
     id ${text} NOT NULL,
     received_at ${integer} NOT NULL,
     code TEXT NOT NULL,
     status INTEGER NOT NULL,
     detail TEXT NOT NULL,
     checks TEXT NOT NULL,
     ${message("")}
     body ${bytes}
   ) ${table};

   CREATE TABLE ${schema}claims (
     event ${text} PRIMARY KEY,
     owner TEXT NOT NULL,
     until ${integer} NOT NULL
   ) ${keyed};`,
    `CREATE TABLE ${schema}queue (
     seq ${key},
     event ${text} NOT NULL UNIQUE,
     received_at ${integer} NOT NULL,
     state TEXT NOT NULL DEFAULT 'first',
     attempts INTEGER NOT NULL DEFAULT 0,
     due ${integer} NOT NULL DEFAULT 0
   ) ${table};
   CREATE INDEX queue_order ON ${schema}queue (state, due, seq);

   CREATE TABLE ${schema}forwarder (
     owner TEXT NOT NULL,
     epoch ${integer} NOT NULL,
     expires ${integer} NOT NULL
   ) ${table};
   INSERT INTO ${schema}forwarder VALUES ('', 0, 0);`,
    `${third}
   CREATE TABLE ${schema}queued (
     seq ${key},
     event ${text} NOT NULL UNIQUE,
     reference ${text} NOT NULL,
     outcome ${text} NOT NULL,
     received_at ${integer} NOT NULL,
     attempts INTEGER NOT NULL DEFAULT 0,
     due ${integer} DEFAULT 0,
     skipped ${integer}
   ) ${table};
   CREATE INDEX queued_due ON ${schema}queued (due, seq);
   CREATE INDEX queued_reference ON ${schema}queued (reference, due, seq);
   INSERT INTO ${schema}queued (event, reference, outcome, received_at, attempts, due)
     SELECT event, CASE WHEN reference = '' THEN id ELSE reference END, outcome, queue.received_at, attempts,
       CASE WHEN state = 'failed' THEN NULL ELSE due END
     FROM ${schema}queue JOIN ${schema}events ON id = event ORDER BY queue.seq;
   DROP TABLE ${schema}queue;
   DROP TABLE ${schema}forwarder;

   CREATE TABLE ${schema}turns (
     reference ${text} PRIMARY KEY,
     due ${integer},
     seq ${integer},
     outcome ${text},
     event ${text},
     owner TEXT,
     until ${integer} NOT NULL DEFAULT 0
   ) ${keyed};
   CREATE INDEX turns_due ON ${schema}turns (outcome, due, seq);
   CREATE INDEX turns_event ON ${schema}turns (event) WHERE event IS NOT NULL;
   INSERT INTO ${schema}turns (reference, due, seq, outcome)
     SELECT reference, due, seq, outcome FROM (
       SELECT queued.*, row_number() OVER (PARTITION BY reference ORDER BY due, seq) AS place
       FROM ${schema}queued WHERE due IS NOT NULL) AS waiting WHERE place = 1;
   CREATE INDEX IF NOT EXISTS forwards_refused ON ${schema}forwards (event) WHERE status NOT BETWEEN 200 AND 299;`,
  ];
}

/** Versions of the schema before this one have outcomes by two flags alone: a part of the amount counted as the payment. */
const JUDGED_SINCE = 3;
/** Rows in memory at once. */
const PAGE_SIZE = 100;

type Statement = readonly [sql: string, values: Value[]];

/**
 * Judges stored events of former versions again: the column that lists filter by must say what the record says now. Yields
 * the statements of a migration from a version, and takes the rows of each: one driver is synchronous.
 */
export function* judgeAgain({ schema }: Dialect, from: number): Generator<Statement, void, readonly Row[]> {
  if (from >= JUDGED_SINCE) return;
  let rows: readonly Row[] = [];
  do {
    const after = Number(rows.at(-1)?.["seq"] ?? 0);
    rows = yield [`SELECT * FROM ${schema}events WHERE seq > ? ORDER BY seq LIMIT ${PAGE_SIZE}`, [after]];
    for (const row of rows) {
      const outcome = outcomeNow(row);
      if (outcome !== row["outcome"])
        yield [`UPDATE ${schema}events SET outcome = ? WHERE seq = ?`, [outcome, Number(row["seq"])]];
    }
  } while (rows.length === PAGE_SIZE);
}

function outcomeNow(row: Row): string {
  try {
    const request = requestFromRow(row);
    const { record } = readStored(request);
    return outcomeOf(recordWith(String(row["uti"]), storedJson(request)) ?? record);
  } catch {
    // Whoever reads the row is told that it is damaged.
    return String(row["outcome"]);
  }
}

/** The record where the service wraps it: the setting of that time is not stored, but the uti that was found is. */
function recordWith(uti: string, json: Json | undefined): TransactionRecord | undefined {
  if (Array.isArray(json)) return json.map((item: Json) => recordWith(uti, item)).find(Boolean);
  if (!isJsonObject(json)) return undefined;
  if (indexed(textOf(json, "uti") ?? "") === uti) return json;
  return recordWith(uti, Object.values(json));
}
