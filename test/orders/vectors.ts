/**
 * The histories of `test/vectors/orders.json`, read for a test. The form of the file:
 *
 * - `now` is the clock, and `record` the record that each event changes.
 * - `links` are what the service lists, as it spells them; `invoiceId` is their order number.
 * - An event is `record` with the members of `set`; null removes one. Without a `reference` it has the number of the order. `key` is
 *   the number of the key that signs it, 1 by default; `repeats` says that its bytes are those of the event before.
 * - `keys` are those of the run; without them it has both.
 * - `standing` is the order of its JSON where links and events are known, `withoutLinks` where only the events are, as of the last one.
 * - `warned` are the events, from 0, that carry `order_paid_before` at a place that does not know the links.
 * - `shop.due` is what the order of a shop asks for, and `shop.books` whether a receiver that knows it books that amount, once: as soon
 *   as one payment is exactly it, or payments add up to it. A booking is not taken back. A record without a uti is not booked: nothing
 *   tells it from a repeat.
 */
import { readFileSync } from "node:fs";
import { comparableText } from "../../src/values/comparable-text.ts";
import { type JsonObject, stringifyJson } from "../../src/values/json.ts";
import { parseJsonObject } from "../../src/values/parse-json.ts";
import { readPaymentLink } from "../../src/domain/payment-link-reply.ts";
import { readRecord } from "../../src/domain/transaction.ts";
import { orderJson } from "../../src/orders/order-json.ts";
import { linkNumber, recordNumber } from "../../src/orders/order-number.ts";
import { type Order, orderLink, paymentIn } from "../../src/orders/order.ts";
import type { OrderStanding } from "../../src/orders/standing.ts";

type Members = Readonly<Record<string, unknown>>;

export interface VectorEvent {
  readonly set: Members;
  readonly key?: number;
  readonly repeats?: true;
}

export interface History {
  readonly name: string;
  readonly number: string;
  readonly links: readonly Members[];
  readonly events: readonly VectorEvent[];
  readonly keys?: readonly number[];
  readonly standing: Members;
  readonly withoutLinks: Members;
  readonly warned: readonly number[];
  readonly shop: {
    readonly due: { readonly amount: number; readonly currency: string };
    readonly books: boolean;
  };
}

interface Vectors {
  readonly now: string;
  readonly record: Members;
  readonly histories: readonly History[];
}

const vectors = JSON.parse(
  readFileSync(new URL("../vectors/orders.json", import.meta.url), "utf8"),
) as Vectors;

export const { histories } = vectors;

/** The clock of the histories. */
export const VECTORS_NOW = new Date(vectors.now);

/** The body of an event. */
export function bodyOf({ set }: VectorEvent, { number }: Pick<History, "number">): Uint8Array {
  const record: Record<string, unknown> = { ...vectors.record, reference: number, ...set };
  for (const name in record) if (record[name] === null) record[name] = undefined;
  return Buffer.from(JSON.stringify(record));
}

/** The links of the history, as the service has them. */
export const linksOf = ({ links }: History): JsonObject[] =>
  links.map((members) => parseJsonObject(JSON.stringify(members)) ?? {});

/** What a place knows of the order, without its links if it does not know them. */
export function orderOf(history: History, { knowsLinks }: { readonly knowsLinks: boolean }): Order {
  const { number, keys = [1, 2], events } = history;
  const wanted = comparableText(number);
  const payments = events.flatMap((event) => {
    const { record } = readRecord(bodyOf(event, history));
    const isOwn = keys.includes(event.key ?? 1) && recordNumber(record) === wanted;
    return record !== null && isOwn && event.repeats !== true ? [paymentIn(record)] : [];
  });
  if (!knowsLinks) return { number, payments };
  const links = linksOf(history).flatMap((json) => {
    const { link } = readPaymentLink(json);
    const id = link.id ?? "";
    return linkNumber(link, id) === wanted ? [orderLink(link, id, VECTORS_NOW)] : [];
  });
  return { number, payments, links };
}

/** How it stands, as a test compares it with a vector. */
export const asMembers = (standing: OrderStanding): Members =>
  JSON.parse(stringifyJson(orderJson(standing))) as Members;
