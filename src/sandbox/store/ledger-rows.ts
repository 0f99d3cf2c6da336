/** What the ledger stores: links, payments, deliveries and attempts with their columns. */
import type { PaymentLinkRequest } from "../../domain/payment-link-shapes.ts";
import * as z from "zod/mini";
import { isJsonObject, stringifyJson, type JsonObject } from "../../values/json.ts";
import { parseJson, parseJsonObject } from "../../values/parse-json.ts";
import type { HeaderLine } from "../../http/message.ts";
import type { Verdict } from "../../signatures/verdict.ts";

const date = z.codec(z.string(), z.date(), {
  decode: (text) => new Date(text),
  encode: (moment) => moment.toISOString(),
});
const integer = z.codec(z.union([z.number(), z.bigint()]), z.number(), {
  decode: Number,
  encode: (value) => value,
});
/** A text with JSON, whose value the schema reads. */
const jsonColumn = <T>(schema: { parse(value: unknown): T }) =>
  z.codec(z.string(), z.custom<T>(), {
    decode: (text) => {
      const parsed = parseJson(text);
      return schema.parse(parsed.ok ? parsed.value.value : undefined);
    },
    encode: (value) => stringifyJson(value),
  });
const bytesColumn = z.custom<Uint8Array>((value) => value instanceof Uint8Array);
const headerColumn = jsonColumn<readonly HeaderLine[]>(z.array(z.tuple([z.string(), z.string()])));

export const linkRow = z.object({
  id: z.string(),
  request: jsonColumn(z.custom<PaymentLinkRequest>(isJsonObject)),
  createdDate: date,
  expirationDate: z.string(),
  viewedDate: z.nullable(date),
  attemptedDate: z.nullable(date),
  paidDate: z.nullable(date),
  cancelledDate: z.nullable(date),
});
export type Link = z.infer<typeof linkRow>;

/** A link to which nothing has happened yet. */
export const UNTOUCHED = {
  viewedDate: null,
  attemptedDate: null,
  paidDate: null,
  cancelledDate: null,
} as const;

export const paymentRow = z.object({
  uti: z.string(),
  linkId: z.string(),
  record: jsonColumn(z.custom<JsonObject>(isJsonObject)),
  /** The token of the rendered form that was submitted; null without a form. */
  form: z.nullable(z.string()),
});
export type PaymentRow = Readonly<z.infer<typeof paymentRow>>;

/** A webhook to deliver: committed together with its payment, and kept after it was delivered or has failed. */
export const deliveryRow = z.object({
  id: z.string(),
  linkId: z.string(),
  uti: z.string(),
  url: z.string(),
  body: bytesColumn,
  state: z.enum(["pending", "delivered", "failed"]),
  /** All attempts so far. */
  attempts: integer,
  /** Attempts since it was queued or resent: the position in the schedule. */
  tries: integer,
  /** Milliseconds since 1970, by the sandbox's clock. */
  due: integer,
});
export type Delivery = Readonly<z.infer<typeof deliveryRow>>;
export type DeliveryState = Delivery["state"];

/** The record in the body of a webhook. */
export const recordOf = ({ body }: Delivery): JsonObject =>
  parseJsonObject(new TextDecoder().decode(body)) ?? {};

/** One POST of a delivery: what was sent, and the response. */
export const attemptRow = z.object({
  deliveryId: z.string(),
  number: integer,
  at: date,
  /** When it was signed, by this machine's clock. */
  signedAt: date,
  headers: headerColumn,
  /** The sandbox's own judgement with the keys that it published then; null if nothing was sent. */
  verdict: z.nullable(jsonColumn<Verdict>(z.custom<Verdict>(isJsonObject))),
  /** The receiver's status; null without a response. */
  status: z.nullable(integer),
  /** The headers of the response. */
  answerHeaders: headerColumn,
  answer: z.string(),
  detail: z.string(),
  /** Milliseconds from the request to the response or the failure; null if nothing was sent. */
  duration: z.nullable(integer),
});
export type DeliveryAttempt = Readonly<z.infer<typeof attemptRow>>;
