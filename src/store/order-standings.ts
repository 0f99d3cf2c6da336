/** How orders stand as the store knows them: at the arrival of an event, for its warning, and now. It knows no links. */
import { readRecord } from "../domain/transaction.ts";
import type { RunKeys } from "../events/event.ts";
import { effectiveOf, MOST_RECORDS, type Payment, paymentIn, IDLE_OUTCOMES } from "../orders/order.ts";
import { type OrderStanding, standingOfRecords } from "../orders/standing.ts";
import { forRows, type Statements } from "./dialects.ts";
import type { StoredEvent } from "../events/history.ts";
import { requireSeal } from "./seal.ts";
import { isNoneOf, LAST_CHARACTER, raw, type Row, sql } from "./sql.ts";

/** An event that is stored now, or a further delivery of one that was. */
export interface ArrivedRecord {
  /** The id of its first delivery: the order is asked for as of then. */
  readonly first: string;
  /** The order number; empty without one. */
  readonly number: string;
  readonly key: string;
  /** The payments that these keys have verified are compared, whichever of them signed. */
  readonly keys: RunKeys;
  readonly payment: Payment | null;
}

/**
 * The orders of these events among the stored records, by the ids of their first deliveries. Two receivers that store two payments in
 * the same moment do not see each other.
 */
export function standingsAtArrival(
  found: OrderRecords,
  arrived: readonly ArrivedRecord[],
): ReadonlyMap<string, OrderStanding> {
  const together = new Map<string, ArrivedRecord[]>();
  for (const one of arrived) {
    const { number, payment } = one;
    const others = together.get(number) ?? [];
    const records = found.get(number) ?? [];
    const earlier = [...(records === "damaged" ? [] : records), ...others].flatMap(
      (other) => other.payment ?? [],
    );
    const isEffective = payment !== null && effectiveOf([...earlier, payment]).includes(payment);
    if (isEffective && others.length < MOST_RECORDS) others.push(one);
    together.set(number, others);
  }
  return new Map(
    arrived.flatMap((one) => {
      const { first, number, keys, payment } = one;
      const records = found.get(number) ?? [];
      if (number === "" || payment === null || records === "damaged") return [];
      const stored = new Set(records.map(({ id }) => id));
      // Those of the same group.
      const beside = (together.get(number) ?? []).flatMap((other) =>
        other.first < first && !stored.has(other.first) && other.payment !== null
          ? [{ id: other.first, key: other.key, payment: other.payment }]
          : [],
      );
      const own = [...records, ...beside]
        .filter((record) => record.id < first && keys.includes(record.key))
        .toSorted((a, b) => (a.id < b.id ? -1 : 1));
      return [[first, standingOfRecords(number, [...own.map((record) => record.payment), payment])] as const];
    }),
  );
}

/**
 * The orders of stored events as they stand now, by the ids of the events. `keysOfRun` is asked where several keys have verified records of
 * an order: those of the run are compared, and an event of another key with those of its own.
 */
export async function standingsNow(
  session: Statements,
  events: readonly Pick<StoredEvent, "id" | "key" | "reference">[],
  keysOfRun: () => Promise<RunKeys>,
): Promise<ReadonlyMap<string, OrderStanding>> {
  const found = await orderRecords(
    session,
    events.map(({ reference }) => reference),
  );
  const isMixed = [...found.values()].some(
    (records) => records !== "damaged" && new Set(records.map(({ key }) => key)).size > 1,
  );
  const keys = isMixed ? await keysOfRun() : [];
  return new Map(
    events.flatMap(({ id, key, reference }) => {
      const records = found.get(reference) ?? [];
      if (reference === "" || records === "damaged") return [];
      const together = keys.includes(key) ? keys : [key];
      const own = records.filter((record) => together.includes(record.key));
      const payments = own.map(({ payment }) => payment);
      return [[id, standingOfRecords(reference, payments)] as const];
    }),
  );
}

interface FoundRecord {
  readonly id: string;
  readonly key: string;
  readonly payment: Payment;
}

export type OrderRecords = ReadonlyMap<string, readonly FoundRecord[] | "damaged">;

/** The first records of each number, in the order of arrival, without those that have no effect (`effectiveOf`). */
export async function orderRecords(session: Statements, numbers: readonly string[]): Promise<OrderRecords> {
  const { schema, materialized } = session.dialect;
  const wanted = [...new Set(numbers)].filter((number) => number !== "");
  const effective = sql`(${isNoneOf(raw("events.outcome"), IDLE_OUTCOMES)} OR events.uti <> '' AND EXISTS (
    SELECT 1 FROM ${schema}events AS earlier WHERE earlier.uti = events.uti AND earlier.id < events.id))`;
  const rows = await forRows(
    session,
    wanted.map((number) => [number]),
    (places) =>
      sql`WITH asked (number) AS (VALUES ${places}),
         bounded AS ${materialized} (SELECT number, coalesce((SELECT id FROM ${schema}events AS events
           WHERE reference = number AND ${effective} ORDER BY id LIMIT 1 OFFSET ${MOST_RECORDS}), ${LAST_CHARACTER}) AS beyond FROM asked)
       SELECT events.* FROM bounded JOIN ${schema}events AS events
         ON events.reference = bounded.number AND events.id < bounded.beyond AND ${effective}
       ORDER BY events.id`,
    ["text"],
  );
  const found = new Map<string, FoundRecord[] | "damaged">();
  for (const row of rows) {
    const number = String(row["reference"]);
    const record = recordFrom(row);
    const known = found.get(number) ?? [];
    if (record === "damaged" || known === "damaged") found.set(number, "damaged");
    else if (record !== undefined) found.set(number, [...known, record]);
  }
  return found;
}

/** A row that has changed since it was stored tells nothing of its order. Undefined for an event without a record. */
function recordFrom(row: Row): FoundRecord | "damaged" | undefined {
  const { id, key, body } = row;
  try {
    requireSeal(row);
  } catch {
    return "damaged";
  }
  const { record } = readRecord(body instanceof Uint8Array ? body : new Uint8Array());
  return record === null ? undefined : { id: String(id), key: String(key), payment: paymentIn(record) };
}
