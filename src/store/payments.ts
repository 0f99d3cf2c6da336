/** The verified webhooks as a reconciliation reads them: by reference, few columns each, with the newest state of the delivery. */
import { setImmediate } from "node:timers/promises";
import * as z from "zod/mini";
import { comparableText } from "../values/comparable-text.ts";
import { OUTCOMES } from "../domain/outcome.ts";
import { readRecord } from "../domain/transaction.ts";
import { type Payment, paymentIn } from "../orders/order.ts";
import type { ForwardState } from "../events/event.ts";
import { idAt } from "../events/event-id.ts";
import type { Readable } from "./dialects.ts";
import { timeOfFact } from "./facts.ts";
import { deliveryStateOf } from "./event-rows.ts";
import { requireSeal } from "./seal.ts";
import { checked } from "./sources.ts";
import { isOneOf, LAST_CHARACTER, type Row, type Sql, sql } from "./sql.ts";

/** A verified webhook, whatever its outcome. */
export interface StoredPayment extends Payment {
  /** The id of the event. */
  readonly event: string;
  readonly reference: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  /** Null if it is forwarded nowhere, so that nobody can say whether an application has accepted it. */
  readonly delivery: ForwardState | null;
  /** The thumbprint of the key that verified it. */
  readonly key: string;
  /** A record of the same reference that is approved or unclear arrived before those that were asked for. */
  readonly hasEarlier: boolean;
}

/** Rows in memory at once. */
const PAYMENTS_PER_READ = 100;

/** What an earlier record must be to say how an order stands. */
const TELLING = sql`outcome IN ('APPROVED', 'PARTIALLY_APPROVED', 'UNCLEAR')`;

const paymentColumns = z.object({
  id: z.string(),
  uti: z.string(),
  received_at: z.number(),
  outcome: z.enum(OUTCOMES),
  reference: z.string(),
  key: z.string(),
  body: z.instanceof(Uint8Array),
  earlier: z.number(),
  state: z.unknown(),
});

export function createPayments(readable: Readable) {
  const { dialect, all } = readable;
  const { schema } = dialect;
  const convert = checked(paymentFromRow, readable);
  /** `condition` chooses ids. */
  const read = async (condition: Sql, since: string): Promise<StoredPayment[]> => {
    const rows = await all(
      sql`SELECT events.*,
         (SELECT state FROM ${schema}deliveries WHERE event = events.id) AS state,
         CASE WHEN reference <> '' AND EXISTS (SELECT 1 FROM ${schema}events AS earlier
           WHERE earlier.reference = events.reference AND earlier.id < ${since} AND earlier.${TELLING})
           THEN 1 ELSE 0 END AS earlier
       FROM ${schema}events WHERE id IN (${condition}) ORDER BY reference, id`,
    );
    return rows.map(convert);
  };
  /** From a reference on, as far as the condition holds, in one pass by the index of references and in constant memory. */
  async function* pass(first: string, condition: Sql, since: string): AsyncGenerator<StoredPayment> {
    let last: readonly [reference: string, id: string] = [first, ""];
    for (;;) {
      const page = await read(
        sql`SELECT id FROM ${schema}events WHERE (reference, id) > (${last[0]}, ${last[1]}) AND ${condition}
           ORDER BY reference, id LIMIT ${PAYMENTS_PER_READ}`,
        since,
      );
      yield* page;
      const end = page.at(-1);
      if (end === undefined || page.length < PAYMENTS_PER_READ) return;
      // SQLite answers in the same turn: without another one, Ctrl-C would wait for the end of the store, and memory would grow
      // by what pages have left (reconcile bench).
      await setImmediate();
      last = [end.reference, end.event];
    }
  }
  return {
    /** Those that arrived since a time. */
    paymentsSince: (since: Date): AsyncGenerator<StoredPayment> => {
      const first = idAt(since);
      return pass("", sql`id >= ${first}`, first);
    },
    /** All of these references, whenever they arrived. */
    paymentsOf: async function* (references: readonly string[]): AsyncGenerator<StoredPayment> {
      for (let at = 0; at < references.length; at += PAYMENTS_PER_READ) {
        const some = references.slice(at, at + PAYMENTS_PER_READ);
        const found = isOneOf(sql`reference`, some.map(comparableText));
        yield* await read(sql`SELECT id FROM ${schema}events WHERE ${found}`, "");
      }
    },
    /** All of the payments of a reusable link, which have a suffix behind its order number. */
    paymentsOfReusable: (orderNumber: string): AsyncGenerator<StoredPayment> => {
      const first = `${comparableText(orderNumber)}-`;
      return pass(first, sql`reference < ${first + LAST_CHARACTER}`, "");
    },
    /** Until when rejected requests, any of which may have been a webhook, were not kept because there was no room; undefined if all were. */
    refusalsDroppedUntil: async (): Promise<Date | undefined> => {
      const until = await timeOfFact(readable, "dropped");
      return until === undefined ? undefined : new Date(until);
    },
    /**
     * Since when the store has all that arrived: it was made then, or what was older has been deleted. Undefined for a store into
     * which nothing was ever received.
     */
    keptSince: async (): Promise<Date | undefined> => {
      const first = (table: Sql): Sql =>
        sql`SELECT received_at FROM (SELECT received_at FROM ${schema}${table} ORDER BY id LIMIT 1) AS first_${table}`;
      const [oldest] = await all(
        sql`SELECT min(received_at) AS at FROM (${first(sql`events`)} UNION ALL ${first(sql`rejections`)}) AS oldest`,
      );
      const pruned = await timeOfFact(readable, "pruned");
      if (typeof oldest?.["at"] !== "number") return pruned === undefined ? undefined : new Date(pruned);
      const created = (await timeOfFact(readable, "created")) ?? oldest["at"];
      const began = Math.min(created, oldest["at"]);
      return new Date(Math.max(began, pruned ?? began));
    },
  };
}

function paymentFromRow(row: Row): StoredPayment {
  const { id, received_at: receivedAt, body, earlier, state, ...rest } = paymentColumns.parse(row);
  requireSeal(row);
  return {
    event: id,
    ...paymentIn(readRecord(body).record),
    ...rest,
    receivedAt,
    delivery: deliveryStateOf(state),
    hasEarlier: earlier !== 0,
  };
}
