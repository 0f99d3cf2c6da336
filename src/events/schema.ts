/** The tables of stored events in both databases. Never change a published migration: add the next one below it. */
import type { Dialect } from "./dialects.ts";

/**
 * Times are milliseconds since 1970. `events_arrival` has the columns that lists filter by, so that they read only the
 * events that they show. In `queued`, events wait in the order of `due` and `seq`: 0 before the first attempt, null after
 * the last one. `turns` says which event of a reference is being forwarded, and until when its forwarder may take.
 */
export function migrations({ schema, concurrent, types, oneCollation }: Dialect): readonly string[] {
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
   ) ${keyed};

   CREATE TABLE ${schema}listeners (
     address TEXT PRIMARY KEY,
     bound TEXT NOT NULL
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
    `${oneCollation}
   CREATE TABLE ${schema}queued (
     seq ${key},
     event ${text} NOT NULL UNIQUE,
     reference ${text} NOT NULL,
     received_at ${integer} NOT NULL,
     attempts INTEGER NOT NULL DEFAULT 0,
     due ${integer} DEFAULT 0
   ) ${table};
   CREATE INDEX queued_due ON ${schema}queued (due, seq);
   CREATE INDEX queued_reference ON ${schema}queued (reference, due, seq);
   INSERT INTO ${schema}queued (event, reference, received_at, attempts, due)
     SELECT event, CASE WHEN reference = '' THEN id ELSE reference END, queue.received_at, attempts,
       CASE WHEN state = 'failed' THEN NULL ELSE due END
     FROM ${schema}queue JOIN ${schema}events ON id = event ORDER BY queue.seq;
   DROP TABLE ${schema}queue;
   DROP TABLE ${schema}forwarder;

   CREATE TABLE ${schema}turns (
     reference ${text} PRIMARY KEY,
     event ${text} NOT NULL,
     owner TEXT NOT NULL,
     until ${integer} NOT NULL
   ) ${keyed};
   CREATE INDEX turns_event ON ${schema}turns (event);
   CREATE INDEX forwards_refused ON ${schema}forwards (event) WHERE status NOT BETWEEN 200 AND 299;`,
  ];
}
