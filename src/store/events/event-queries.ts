/** Reads kept events back: the very bytes, with the verdict they got, every further arrival and every forward. */
import * as z from "zod/mini";
import { withBody, type HttpRequest } from "../../http/message.ts";
import type { Forward, Rejection, WebhookEvent } from "../../receiver/events.ts";
import { REASONS, WARNINGS, type Verdict } from "../../signatures/verdict.ts";
import { transaction, type Database } from "../database.ts";
import { select, type EventFilter, type Source } from "./event-pages.ts";

/** An event as it is kept. The record is not kept beside the body that it is read from. */
export type KeptEvent = Omit<WebhookEvent, "repeated" | "record" | "breaches" | "json"> & {
  readonly uti: string;
  readonly outcome: string;
  readonly reference: string;
  /** How often it came after the first time. */
  readonly repeats: number;
  /** The application has taken it. */
  readonly taken: boolean;
};

export type KeptRejection = Omit<Rejection, "hint">;

export interface Arrival {
  readonly id: string;
  readonly receivedAt: Date;
}

export interface EventArchive {
  /** Every event or rejection whose uti or id begins like this, the newest first; at most 20. */
  find(prefix: string): (KeptEvent | KeptRejection)[];
  /** In order of arrival, one at a time: there may be millions. */
  events(filter?: EventFilter): IterableIterator<KeptEvent>;
  rejections(filter?: EventFilter): IterableIterator<KeptRejection>;
  /** The arrivals after the first. */
  arrivals(first: string): Arrival[];
  forwards(first: string): Forward[];
  /** Forgets what arrived before; says how many events and rejections that were. */
  prune(before: Date): { readonly events: number; readonly rejections: number };
}

const FOUND = 20;
/** Rows that one transaction forgets: a `listen` on the same database waits no longer than that. */
const PRUNED_AT_ONCE = 1000;

const headers = z.array(z.readonly(z.tuple([z.string(), z.string()])));
const checks = z.array(z.object({ check: z.string(), ok: z.boolean(), detail: z.string() }));
const verdict: z.ZodMiniType<Verdict> = z.object({
  verdict: z.enum(["valid", "invalid"]),
  code: z.enum(["ok", ...REASONS]),
  label: z.string(),
  keyid: z.nullable(z.string()),
  alg: z.string(),
  created: z.nullable(z.number()),
  covered: z.array(z.string()),
  checks,
  warnings: z.array(z.enum(WARNINGS)),
  hints: z.array(z.object({ variant: z.string(), advice: z.string() })),
  signatureBase: z.nullable(z.string()),
});

/** SQLite gives a number as a number and a blob as bytes; JSON columns are texts. */
const time = z.pipe(
  z.number(),
  z.transform((milliseconds) => new Date(milliseconds)),
);
const json = <T extends z.ZodMiniType>(schema: T) =>
  z.pipe(
    z.pipe(
      z.string(),
      z.transform((text): unknown => JSON.parse(text)),
    ),
    schema,
  );
const message = z.object({
  method: z.string(),
  scheme: z.enum(["http", "https"]),
  authority: z.string(),
  target: z.string(),
  headers: json(headers),
  trailers: json(headers),
  body: z.instanceof(Uint8Array),
});
const eventRow = z.extend(message, {
  id: z.string(),
  uti: z.string(),
  received_at: time,
  outcome: z.string(),
  reference: z.string(),
  verdict: json(verdict),
  repeats: z.number(),
  taken: z.number(),
});
const rejectionRow = z.object({
  id: z.string(),
  received_at: time,
  code: z.string(),
  status: z.number(),
  detail: z.string(),
  checks: json(checks),
});
const arrivalRow = z.object({ id: z.string(), received_at: time });
const forwardRow = z.object({
  at: time,
  target: z.string(),
  status: z.number(),
  ms: z.number(),
  detail: z.string(),
});

const EVENTS: Source = {
  table: "events",
  columns: `*,
    (SELECT count(*) FROM arrivals WHERE event = events.id) AS repeats,
    EXISTS (SELECT 1 FROM forwards WHERE event = events.id AND status BETWEEN 200 AND 299) AS taken`,
};
const REJECTIONS: Source = { table: "rejections", columns: "*" };

type Row = Record<string, unknown>;

export function createEventArchive(database: Database): EventArchive {
  const all = (sql: string, ...values: (string | number)[]): Row[] => database.prepare(sql).all(...values);
  return {
    find: (prefix) => {
      const beginning = [prefix, `${prefix}\u{10ffff}`];
      const within = (column: string): string => `${column} >= ? AND ${column} < ?`;
      const events = all(
        `SELECT ${EVENTS.columns} FROM events WHERE (${within("uti")}) OR (${within("id")}) ORDER BY seq DESC LIMIT ${FOUND}`,
        ...beginning,
        ...beginning,
      );
      const rejections = all(
        `SELECT * FROM rejections WHERE ${within("id")} ORDER BY seq DESC LIMIT ${FOUND}`,
        ...beginning,
      );
      return [...events.map(toEvent), ...rejections.map(toRejection)];
    },
    events: (filter = {}) => select(database, EVENTS, filter, toEvent),
    rejections: ({ since, until, limit } = {}) =>
      select(database, REJECTIONS, { since, until, limit }, toRejection),
    arrivals: (first) =>
      all("SELECT id, received_at FROM arrivals WHERE event = ? ORDER BY rowid", first).map((row) => {
        const { id, received_at: receivedAt } = arrivalRow.parse(row);
        return { id, receivedAt };
      }),
    forwards: (first) =>
      all("SELECT * FROM forwards WHERE event = ? ORDER BY rowid", first).map((row) => forwardRow.parse(row)),
    prune: (before) => prune(database, before.getTime()),
  };
}

function toEvent(row: Row): KeptEvent {
  const {
    id,
    uti,
    received_at: receivedAt,
    outcome,
    reference,
    verdict,
    repeats,
    taken,
  } = eventRow.parse(row);
  return {
    type: "event",
    id,
    uti,
    receivedAt,
    outcome,
    reference,
    verdict,
    repeats,
    taken: taken === 1,
    request: toRequest(row),
  };
}

function toRejection(row: Row): KeptRejection {
  const { received_at: receivedAt, ...rest } = rejectionRow.parse(row);
  return { type: "rejected", receivedAt, ...rest, request: row["method"] === null ? null : toRequest(row) };
}

function toRequest(row: Row): HttpRequest {
  const { body, trailers, ...head } = message.parse(row);
  return withBody(head, body, trailers);
}

function prune(database: Database, before: number): { events: number; rejections: number } {
  let events = 0;
  const old = database.prepare("SELECT id FROM events WHERE received_at < ? LIMIT ?");
  const forget = ["arrivals WHERE event", "forwards WHERE event", "events WHERE id"].map((rows) =>
    database.prepare(`DELETE FROM ${rows} = ?`),
  );
  for (;;) {
    const ids = old.all(before, PRUNED_AT_ONCE).map(({ id = null }) => id);
    if (ids.length === 0) break;
    transaction(database, () => {
      for (const id of ids) for (const statement of forget) statement.run(id);
    });
    events += ids.length;
  }
  const { changes } = database.prepare("DELETE FROM rejections WHERE received_at < ?").run(before);
  return { events, rejections: Number(changes) };
}
