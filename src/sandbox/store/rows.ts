/** Rows of the ledger's tables: links, payments, deliveries and attempts as values to store, and read back. */
import * as z from "zod/mini";
import { parseWebAddress } from "../../domain/addresses.ts";
import { stringifyJson, type JsonObject } from "../../domain/json.ts";
import { parseJsonObject } from "../../domain/parse-json.ts";
import { paymentLinkRequest } from "../../domain/payment-link.ts";
import { outcomeOf, textOf } from "../../domain/transaction.ts";
import type { Value } from "../../store/database.ts";
import { CUSTOMER_FIELDS } from "../customer.ts";
import type { Attempt, Delivery, Link, Payment } from "../ledger.ts";

type Row = Readonly<Record<string, unknown>>;

const date = z.pipe(
  z.string(),
  z.transform((text) => new Date(text)),
);
const dateOrNull = z.nullable(date);
const integer = z.pipe(z.union([z.number(), z.bigint()]), z.transform(Number));

const json = z.pipe(
  z.string(),
  z.transform((text, { issues }): JsonObject => {
    const object = parseJsonObject(text);
    if (object !== undefined) return object;
    issues.push({ code: "custom", message: "is not a JSON object", input: text });
    return z.NEVER;
  }),
);

const linkRow = z.object({
  id: z.string(),
  request: json,
  created: date,
  expires: z.string(),
  viewed: dateOrNull,
  attempted: dateOrNull,
  paid: dateOrNull,
  cancelled: dateOrNull,
});

export function linkFromRow(row: Row): Link {
  const { id, request, created, expires, viewed, attempted, paid, cancelled } = linkRow.parse(row);
  return {
    id,
    request: paymentLinkRequest.parse(request),
    createdDate: created,
    expirationDate: expires,
    viewedDate: viewed,
    attemptedDate: attempted,
    paidDate: paid,
    cancelledDate: cancelled,
  };
}

const customer = z.pipe(json, z.partialRecord(z.enum(CUSTOMER_FIELDS), z.string()));

const paymentRow = z.pipe(
  z.object({ uti: z.string(), link: z.string(), record: json, customer, form: z.nullable(z.string()) }),
  z.transform(({ link: linkId, ...payment }) => ({ ...payment, linkId })),
);

export const paymentFromRow = (row: Row): Payment => paymentRow.parse(row);

const deliveryRow = z.pipe(
  z.object({
    id: z.string(),
    link: z.string(),
    uti: z.string(),
    url: z.string(),
    body: z.instanceof(Uint8Array),
    state: z.enum(["waiting", "delivered", "failed"]),
    attempts: integer,
    tries: integer,
    due: integer,
  }),
  z.transform(({ link: linkId, ...delivery }) => ({ ...delivery, linkId })),
);

export const deliveryFromRow = (row: Row): Delivery => deliveryRow.parse(row);

const headerLines = z.pipe(
  z.string(),
  z.transform((text) => z.array(z.tuple([z.string(), z.string()])).parse(JSON.parse(text))),
);

const attemptRow = z.pipe(
  z.object({
    delivery: z.string(),
    number: integer,
    at: date,
    headers: headerLines,
    base: z.string(),
    status: z.nullable(integer),
    answer_headers: headerLines,
    answer: z.string(),
    detail: z.string(),
    duration: z.nullable(integer),
  }),
  z.transform(({ delivery: deliveryId, answer_headers: answerHeaders, ...attempt }) => ({
    ...attempt,
    deliveryId,
    answerHeaders,
  })),
);

export const attemptFromRow = (row: Row): Attempt => attemptRow.parse(row);

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export const linkValues = (link: Link): Value[] => [
  stringifyJson(link.request),
  link.createdDate.toISOString(),
  link.expirationDate,
  iso(link.viewedDate),
  iso(link.attemptedDate),
  iso(link.paidDate),
  iso(link.cancelledDate),
];

export const paymentValues = ({ uti, linkId, record, customer, form }: Payment): Value[] => [
  uti,
  linkId,
  textOf(record, "reference") ?? "",
  outcomeOf(record).toLowerCase(),
  stringifyJson(record),
  JSON.stringify(customer),
  form,
];

export const deliveryValues = (delivery: Delivery): Value[] => [
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

export const attemptValues = (attempt: Attempt): Value[] => [
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
