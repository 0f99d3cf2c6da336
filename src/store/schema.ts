/** The tables of the event store and of the memory of `bulk`, in both databases: one step a version. */
import type { ForwardState } from "../events/event.ts";
import type { Dialect } from "./dialects.ts";
import { raw, type Sql } from "./sql.ts";

/** What a step does to each group of tables. A server has both groups; in files, each has its own. */
interface SchemaStep {
  readonly events: string;
  readonly sentRows: string;
}

/**
 * From each version to the next, from nothing to version 1. A step that was released never changes: stores have what it did. To add a
 * column, append a step (CONTRIBUTING, "How to add"). One that can be null needs nothing else: the seals of older events hold.
 */
const SCHEMA_STEPS: readonly ((dialect: Dialect) => SchemaStep)[] = [
  (dialect) => ({ events: eventTables(dialect), sentRows: sentRowTables(dialect) }),
];

/** The steps of one group of tables. */
export const schemaStepsOf = (group: keyof SchemaStep, dialect: Dialect): readonly string[] =>
  SCHEMA_STEPS.map((step) => step(dialect)[group]);

/** The steps of a server. */
export const serverSteps = (dialect: Dialect): readonly string[] =>
  SCHEMA_STEPS.map((step) => Object.values(step(dialect)).join("\n"));

/** The index of deliveries that nothing sends again. SQLite uses it only for statements that repeat this condition exactly. */
const LEFT = "state IN ('failed', 'skipped')";

/** Which deliveries are in a state, so that the indexes find them: events are many more than those that wait or failed. */
export const IN_STATE: Readonly<Record<ForwardState, Sql>> = {
  pending: raw("due IS NOT NULL"),
  delivered: raw("state = 'delivered'"),
  failed: raw(`${LEFT} AND state = 'failed'`),
  skipped: raw(`${LEFT} AND state = 'skipped'`),
};

/**
 * `facts` has what makes the store itself: see facts.ts.
 *
 * Times are milliseconds since 1970. The ids of events and rejections sort by arrival.
 *
 * `key` is the thumbprint of the key that has verified an event. What a receiver or an operator does to events, it does to
 * those of its own keys.
 *
 * `path`, `currency`, `amount` (as `scaledAmount` has it) and `card` (its last four digits) repeat what head and body have, for
 * lists and their sums: `events_listed` has all that they ask of many events, so that no bodies are read. It finds events by their ids
 * too, which are unique: no two webhooks get the same.
 *
 * `seal` is a digest of the other columns of an event. `payment` repeats outcome, currency and amount as one text: a bit that the disk has
 * changed is noticed by them.
 *
 * `digest` is that of the body and its key. It decides which webhook is new: by its uti it is found in the index that finds the newer
 * records of a payment, so that each event is in one index less. `digests` has those of deleted events.
 *
 * `deliveries` has one row for each event that is forwarded. While the event waits, `due` is the time of its next attempt:
 * to claim it sets `due` ahead by the time that the attempt may take, so what a dead receiver has claimed becomes due again by
 * itself. `attempts` counts the claims and only grows: the end of an attempt is written where the number is still the same.
 * `set_at` is when `due` was set, and `since` when the event was received: by them, a clock that was ahead is noticed (`keepDelays`).
 * `planned` is the number of attempts before the present plan of retries. Where `due` is null, `state` says why.
 * `comes_again` is 1 where the sender waited for the last attempt: it was told, and sends again what was not accepted.
 *
 * `reply` has the header lines of the application's answer to an attempt, as JSON, and `reply_text` the beginning of its body,
 * decoded; both are null where there was no answer, and `failure` says why.
 *
 * `worth` says which rejections are kept where there are too many of them.
 */
const eventTables = ({ schema: { text: schema }, types, now, newIdentity }: Dialect): string => {
  const { seq, integer, text, bytes, table, keyed } = types;
  return `
   CREATE TABLE ${schema}facts (name ${text} PRIMARY KEY, value TEXT NOT NULL) ${keyed};
   INSERT INTO ${schema}facts VALUES ('store', ${newIdentity}), ('created', CAST(${now.text} AS text));

   CREATE TABLE ${schema}digests (
     digest ${text} PRIMARY KEY,
     event ${text} NOT NULL
   ) ${keyed};

   CREATE TABLE ${schema}events (
     seq ${seq},
     id ${text} NOT NULL,
     uti ${text} NOT NULL,
     received_at ${integer} NOT NULL,
     outcome TEXT NOT NULL,
     reference ${text} NOT NULL,
     key ${text} NOT NULL,
     path ${text} NOT NULL,
     currency ${text} NOT NULL,
     amount ${integer},
     card ${text} NOT NULL,
     payment TEXT NOT NULL,
     verdict TEXT NOT NULL,
     head TEXT NOT NULL,
     digest ${text} NOT NULL,
     body ${bytes} NOT NULL,
     seal TEXT NOT NULL
   ) ${table};
   CREATE INDEX events_listed ON ${schema}events (id, received_at, outcome, path, key, currency, amount, card, payment, uti);
   CREATE UNIQUE INDEX events_uti ON ${schema}events (uti, digest) ${types.covers};
   CREATE INDEX events_reference ON ${schema}events (reference, id);

   CREATE TABLE ${schema}arrivals (
     seq ${seq},
     event ${text} NOT NULL,
     id TEXT NOT NULL,
     received_at ${integer} NOT NULL
   ) ${table};
   CREATE INDEX arrivals_event ON ${schema}arrivals (event);

   CREATE TABLE ${schema}deliveries (
     event ${text} PRIMARY KEY,
     outcome ${text} NOT NULL,
     key ${text} NOT NULL,
     state ${text} NOT NULL,
     due ${integer},
     set_at ${integer} NOT NULL DEFAULT 0,
     since ${integer} NOT NULL DEFAULT 0,
     attempts INTEGER NOT NULL,
     planned INTEGER NOT NULL DEFAULT 0,
     comes_again INTEGER NOT NULL DEFAULT 0,
     CHECK ((due IS NOT NULL) = (state IN ('pending', 'trying')))
   ) ${keyed};
   CREATE INDEX deliveries_waiting ON ${schema}deliveries (key, due, event, outcome) WHERE due IS NOT NULL;
   CREATE INDEX deliveries_left ON ${schema}deliveries (state, event, key) WHERE ${LEFT};

   CREATE TABLE ${schema}attempts (
     seq ${seq},
     event ${text} NOT NULL,
     at ${integer} NOT NULL,
     target TEXT NOT NULL,
     status INTEGER,
     ms ${integer} NOT NULL,
     detail TEXT NOT NULL,
     failure TEXT,
     reply TEXT,
     reply_text TEXT,
     replay INTEGER NOT NULL
   ) ${table};
   CREATE INDEX attempts_event ON ${schema}attempts (event);

   CREATE TABLE ${schema}actions (
     seq ${seq},
     event ${text} NOT NULL,
     at ${integer} NOT NULL,
     action TEXT NOT NULL,
     actor TEXT NOT NULL
   ) ${table};
   CREATE INDEX actions_event ON ${schema}actions (event);

   CREATE TABLE ${schema}rejections (
     seq ${seq},
     id ${text} NOT NULL,
     received_at ${integer} NOT NULL,
     worth INTEGER NOT NULL,
     code TEXT NOT NULL,
     status INTEGER NOT NULL,
     detail TEXT NOT NULL,
     verdict TEXT NOT NULL,
     head TEXT,
     body ${bytes}
   ) ${table};
   CREATE UNIQUE INDEX rejections_id ON ${schema}rejections (id);
   CREATE INDEX rejections_kept ON ${schema}rejections (worth, seq);`;
};

/** What `bulk` has sent: see sent-rows.ts. */
export const SENT_ROWS = "sent_rows";

const sentRowTables = ({ schema: { text: schema }, types: { text, integer, keyed } }: Dialect): string => `
   CREATE TABLE ${schema}${SENT_ROWS} (
     key ${text} NOT NULL,
     occurrence ${integer} NOT NULL,
     attempt ${integer} NOT NULL,
     state TEXT NOT NULL,
     lease ${integer} NOT NULL,
     sent_at ${integer} NOT NULL,
     payment TEXT NOT NULL,
     content TEXT NOT NULL,
     order_number TEXT NOT NULL,
     id TEXT,
     url TEXT,
     error TEXT,
     PRIMARY KEY (key, occurrence, attempt)
   ) ${keyed};
   CREATE INDEX ${SENT_ROWS}_by_age ON ${schema}${SENT_ROWS} (sent_at);`;
