/**
 * What `bulk` has sent, in either database: one row of the table for each attempt to create a link. An attempt is claimed before
 * its request is sent, by an insert that only one of any number of runs succeeds with.
 */
import * as z from "zod/mini";
import { PaylinkError } from "../domain/errors.ts";
import type { LinkStatus } from "../domain/payment-link-reply.ts";
import { UNITS } from "../values/time.ts";
import { type DatabaseSession, forRows, inOrder, insert, type Transact } from "./dialects.ts";
import { isOneOf, raw, type Sql, sql } from "./sql.ts";
import { createGroupCommit } from "./group-commit.ts";
import { SENT_ROWS } from "./schema.ts";

/** Which row of which list: the same wherever it is sent. */
export interface SentKey {
  /** A digest of the service, the terminal, and the order number or the content. */
  readonly key: string;
  /** Of several rows with this key, from 1. */
  readonly occurrence: number;
  /** From 1; `--again` makes a further one. */
  readonly attempt: number;
}

/** A row that is to be sent, with what it asks for. */
export interface SentClaim extends SentKey {
  /** Amount, currency, kind and transaction type, comparable as text. */
  readonly payment: string;
  /** A digest of everything that the row asked for. */
  readonly content: string;
  /** As it is compared; empty for a row without one. */
  readonly orderNumber: string;
}

/** An attempt to create the link of a row, by any program. The memory, results files and the service know of attempts. */
export interface Attempt extends SentKey {
  /** Attempts that the memory does not have are of occurrence 0. */
  readonly source: "memory" | "results" | "service";
  /** `in flight`: claimed by a run that has not ended. `absent`: its outcome was not known, and the service has no link of it. */
  readonly state: "in flight" | "unknown" | "absent" | "created";
  readonly id: string | null;
  readonly url: string | null;
  readonly error: string | null;
  /** Milliseconds since 1970, by the clock of the database or of the service; 0 if it is not known. */
  readonly sentAt: number;
  /** What the link was created for, comparable as text; undefined where that is not known. */
  readonly payment: string | undefined;
  /** A digest of all that was asked for, where the memory has it. */
  readonly content: string | undefined;
  /** As it is compared; empty where it is not known, or the link has none. */
  readonly orderNumber: string;
  /** As the service has it now; undefined where that is not known. */
  readonly status: LinkStatus | undefined;
}

/** What became of a claim. */
export type AttemptEnd = Pick<Attempt, "id" | "url" | "error"> & { readonly state: "created" | "unknown" };

/** The memory of what was sent. What a method resolves with is durable. */
export interface Memory {
  /** The file, or the URL of the database without its password. */
  readonly place: string;
  /** Whether it is a file, which this machine alone knows. */
  readonly isLocal: boolean;
  /** What the user of it should know, in sentences. */
  readonly remarks: readonly string[];
  /** Every attempt of the rows with these keys, in the order in which they were made. */
  find(keys: readonly string[]): Promise<Attempt[]>;
  /** Whether this run may send the attempt now: nobody else has claimed it. */
  claim(claim: SentClaim): Promise<boolean>;
  /** Keeps a claim of this run alive, whose request is still in flight. */
  extend(key: SentKey): Promise<void>;
  /** Without an end, it is certain that no link was created: the row is free again. */
  settle(key: SentKey, end: AttemptEnd | undefined): Promise<void>;
  /** Deletes some of the rows that were sent `age` milliseconds ago or earlier. */
  forget(age: number): Promise<void>;
  close(): Promise<void>;
}

/** Milliseconds for which a row is remembered after it was sent: longer than a service lists its link. */
export const REMEMBERED = 400 * UNITS.d;

/** Milliseconds after which a claim that nobody has extended is that of a run that has ended. */
export const LEASE = 10_000;

/** A claim for a longer time is that of a run that ended while the clock was ahead. A run that goes on extends its own. */
const LONGEST_LEASE = 10 * LEASE;

const TABLE = raw(SENT_ROWS);
const KEY = ["key", "occurrence", "attempt"] as const;
const KEY_COLUMNS = raw(KEY.join());
const CLAIMED = [...KEY, "state", "lease", "sent_at", "payment", "content", "order_number"];

/** Keys that one statement looks for. */
const KEYS = 500;

/** Attempts that a run forgets at most: what it costs must not depend on how many there are. */
const FORGOTTEN = 2000;

type SentWrite =
  | { readonly type: "claim"; readonly claim: SentClaim }
  | { readonly type: "extend"; readonly key: SentKey }
  | { readonly type: "settle"; readonly key: SentKey; readonly end: AttemptEnd | undefined };

interface MemoryParts extends Pick<Memory, "place" | "isLocal" | "close"> {
  /** Throws if what was just written would not be found again. */
  readonly written?: () => void;
}

export function createMemory(transact: Transact, { place, isLocal, written, close }: MemoryParts): Memory {
  const group = createGroupCommit<SentWrite, boolean>(async (writes) => {
    const claimed = await transact((session) => writeSent(session, writes));
    written?.();
    return writes.map((write) => ({
      status: "fulfilled",
      value: write.type === "claim" && claimed.has(sentKeyText(write.claim)),
    }));
  });
  return {
    place,
    isLocal,
    remarks: [],
    find: (keys) => transact((session) => find(session, keys)),
    claim: (claim) => group.add({ type: "claim", claim }),
    extend: async (key) => void (await group.add({ type: "extend", key })),
    settle: async (key, end) => void (await group.add({ type: "settle", key, end })),
    forget: (age) => transact((session) => forget(session, age)),
    close: async () => {
      await group.settled();
      await close();
    },
  };
}

/** The number of the last link, for the mark of the memory: when its row was sent. No run deletes it. */
export const LAST_SENT = (schema: Sql): Sql =>
  sql`SELECT max(sent_at) AS sent_at FROM ${schema}${TABLE} WHERE state = 'created'`;

const emptied = (): PaylinkError =>
  new PaylinkError("database_unusable", "The memory of bulk was emptied during this run.");

const sentRow = z.object({
  key: z.string(),
  occurrence: z.number(),
  attempt: z.number(),
  state: z.enum(["claimed", "created", "unknown"]),
  lease: z.number(),
  sent_at: z.number(),
  payment: z.string(),
  content: z.string(),
  order_number: z.string(),
  id: z.nullable(z.string()),
  url: z.nullable(z.string()),
  error: z.nullable(z.string()),
});

async function find({ all, now, dialect }: DatabaseSession, keys: readonly string[]): Promise<Attempt[]> {
  const found: Attempt[] = [];
  for (let from = 0; from < keys.length; from += KEYS) {
    const rows = await all(
      sql`SELECT * FROM ${dialect.schema}${TABLE} WHERE ${isOneOf(sql`key`, keys.slice(from, from + KEYS))}
       ORDER BY ${KEY_COLUMNS}`,
    );
    for (const row of rows) {
      const {
        lease,
        sent_at: sentAt,
        order_number: orderNumber,
        state: stored,
        ...known
      } = sentRow.parse(row);
      const isLeased = lease > now && lease < now + LONGEST_LEASE;
      const state = stored === "claimed" ? (isLeased ? "in flight" : "unknown") : stored;
      found.push({ ...known, source: "memory", state, sentAt, orderNumber, status: undefined });
    }
  }
  return found;
}

/**
 * Resolves with the keys of those claims that nobody else has. Claims come first: a run that has changed rows of its own
 * might otherwise wait for another one that waits for them.
 */
async function writeSent(
  session: DatabaseSession,
  writes: readonly SentWrite[],
): Promise<ReadonlySet<string>> {
  const { now, dialect } = session;
  const table = sql`${dialect.schema}${TABLE}`;
  const ordered = inOrder(writes, (write) => sentKeyText(write.type === "claim" ? write.claim : write.key));
  const claims = ordered.flatMap((write) =>
    write.type === "claim"
      ? [[...keyOf(write.claim), "claimed", now + LEASE, now, ...rowContentOf(write.claim)]]
      : [],
  );
  const leases = ordered.flatMap((write) =>
    write.type === "extend" ? [[...keyOf(write.key), now + LEASE]] : [],
  );
  const links = ordered.flatMap((write) => {
    if (write.type !== "settle" || write.end === undefined) return [];
    const { state, id, url, error } = write.end;
    return [[...keyOf(write.key), state, id, url, error]];
  });
  const free = ordered.flatMap((write) =>
    write.type === "settle" && write.end === undefined ? [[...keyOf(write.key)]] : [],
  );
  const returning = sql`ON CONFLICT DO NOTHING RETURNING ${KEY_COLUMNS}`;
  const claimed = await insert(session, SENT_ROWS, CLAIMED, claims, returning);
  const types = ["TEXT", dialect.types.integer, dialect.types.integer];
  const isGiven = raw(KEY.map((name, at) => `${SENT_ROWS}.${name} = given.column${at + 1}`).join(" AND "));
  const update = (set: string) => (values: Sql) =>
    sql`UPDATE ${table} SET ${raw(set)} FROM (VALUES ${values}) AS given WHERE ${isGiven}`;
  await forRows(session, leases, update("lease = given.column4"), [...types, dialect.types.integer]);
  const settle = update(
    "state = given.column4, id = given.column5, url = given.column6, error = given.column7",
  );
  const returned = (values: Sql): Sql => sql`${settle(values)} RETURNING ${KEY_COLUMNS}`;
  const settled = await forRows(session, links, returned, [...types, "TEXT", "TEXT", "TEXT", "TEXT"]);
  // No run deletes a claim: something else emptied the memory.
  if (settled.length < links.length) throw emptied();
  const remove = (values: Sql): Sql => sql`DELETE FROM ${table} WHERE (${KEY_COLUMNS}) IN (VALUES ${values})`;
  await forRows(session, free, remove, types);
  return new Set(claimed.map((row) => KEY.map((name) => String(row[name])).join(" ")));
}

/** A clock that is ahead makes no row older than it is beside the newest one. */
const forget = async ({ all, now, dialect: { schema } }: DatabaseSession, age: number): Promise<void> => {
  const [newest] = await all(sql`SELECT max(sent_at) AS sent_at FROM ${schema}${TABLE}`);
  const today = Math.min(now, Number(newest?.["sent_at"] ?? now));
  await all(
    sql`DELETE FROM ${schema}${TABLE} WHERE (${KEY_COLUMNS}) IN (
       SELECT ${KEY_COLUMNS} FROM ${schema}${TABLE} WHERE sent_at < ${today - age} ORDER BY sent_at LIMIT ${FORGOTTEN})`,
  );
};

const rowContentOf = ({ payment, content, orderNumber }: SentClaim) =>
  [payment, content, orderNumber] as const;

const keyOf = ({ key, occurrence, attempt }: SentKey) => [key, occurrence, attempt] as const;

/** The same for the same attempt. */
export const sentKeyText = (sent: SentKey): string => keyOf(sent).join(" ");
