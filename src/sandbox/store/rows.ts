/** What the ledger stores: links, payments, deliveries and attempts with their columns; and its lists, read in pages. */
import * as z from "zod/mini";
import { isJsonObject, stringifyJson, type JsonObject } from "../../domain/json.ts";
import { parseJson } from "../../domain/parse-json.ts";
import { paymentLinkRequest } from "../../domain/payment-link.ts";
import type { HeaderLine } from "../../http/message.ts";
import type { Value } from "../../store/database.ts";
import { CUSTOMER_FIELD_NAMES } from "../customer.ts";

const date = z.codec(z.string(), z.date(), {
  decode: (text) => new Date(text),
  encode: (moment) => moment.toISOString(),
});
const integer = z.codec(z.union([z.number(), z.bigint()]), z.number(), {
  decode: Number,
  encode: (value) => value,
});
/** A text with JSON, whose value the schema reads. */
const json = <T>(schema: { parse(value: unknown): T }) =>
  z.codec(z.string(), z.custom<T>(), {
    decode: (text) => {
      const parsed = parseJson(text);
      return schema.parse(parsed.ok ? parsed.value.value : undefined);
    },
    encode: (value) => stringifyJson(value),
  });
const headerLines = json<readonly HeaderLine[]>(z.array(z.tuple([z.string(), z.string()])));

export const linkRow = z.object({
  id: z.string(),
  request: json(paymentLinkRequest),
  createdDate: date,
  expirationDate: z.string(),
  viewedDate: z.nullable(date),
  attemptedDate: z.nullable(date),
  paidDate: z.nullable(date),
  cancelledDate: z.nullable(date),
});
export type Link = z.infer<typeof linkRow>;

export const paymentRow = z.object({
  uti: z.string(),
  linkId: z.string(),
  record: json(z.custom<JsonObject>(isJsonObject)),
  /** Given by the merchant or entered by the customer. */
  customer: json(z.partialRecord(z.enum(CUSTOMER_FIELD_NAMES), z.string())),
  /** The token of the rendered form that was submitted; null without a form. */
  form: z.nullable(z.string()),
});
export type Payment = Readonly<z.infer<typeof paymentRow>>;

/** A webhook to deliver: committed together with its payment, and kept after it was delivered or has failed. */
export const deliveryRow = z.object({
  id: z.string(),
  linkId: z.string(),
  uti: z.string(),
  url: z.string(),
  body: z.instanceof(Uint8Array),
  state: z.enum(["waiting", "delivered", "failed"]),
  /** All attempts so far. */
  attempts: integer,
  /** Attempts since it was queued or resent: the position in the schedule. */
  tries: integer,
  /** Milliseconds since 1970, by the sandbox's clock. */
  due: integer,
});
export type Delivery = Readonly<z.infer<typeof deliveryRow>>;
export type DeliveryState = Delivery["state"];

/** One POST of a delivery: the headers, the signature base and the response. */
export const attemptRow = z.object({
  deliveryId: z.string(),
  number: integer,
  at: date,
  headers: headerLines,
  base: z.string(),
  /** The receiver's status; null without a response. */
  status: z.nullable(integer),
  /** The headers of the response. */
  answerHeaders: headerLines,
  answer: z.string(),
  detail: z.string(),
  /** Milliseconds from the request to the response or the failure; null if nothing was sent. */
  duration: z.nullable(integer),
});
export type Attempt = Readonly<z.infer<typeof attemptRow>>;

// The lists are read by position, so that a page costs the same in a list of any length.

/** The rows of a list to read: those that match every member that is given. */
export interface ListQuery {
  /** Part of an id, a reference or an address. */
  readonly text?: string;
  /** The status of a link, the outcome of a payment, the state of a delivery. */
  readonly state?: string;
  readonly ids?: readonly string[];
  /** Payments and deliveries of a link. */
  readonly linkId?: string;
  /** Deliveries of a payment. */
  readonly uti?: string;
  /** The rows after or before a position that a page named; without a position, the first page. */
  readonly older?: string | undefined;
  readonly newer?: string | undefined;
  readonly limit: number;
  /** The current time, which decides whether a link has expired. */
  readonly now: Date;
}

/** The newest rows first, but failed deliveries before all others. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** All rows that match, on all pages. */
  readonly total: number;
  /** The rows on the pages before this one. */
  readonly skipped: number;
  /** The positions to continue from; undefined if there are no more rows. */
  readonly newer: string | undefined;
  readonly older: string | undefined;
}

type Row = Record<string, Value>;
type Condition = readonly [sql: string, ...values: Value[]];

/** What differs between the lists; all SQL. */
interface ListSource<T> {
  readonly table: string;
  readonly schema: { parse(row: unknown): T };
  readonly key: string;
  /** The columns of an index, from the most significant; the last page has the lowest values. */
  readonly order: readonly string[];
  readonly hasState: (state: string, now: Date) => Condition;
  readonly contains: (text: string) => Condition;
}

/** Ignores the case of ASCII letters. */
const inText = (columns: string): string => `instr(lower(${columns}), lower(?)) > 0`;
const WITH_REFERENCE = `FROM payments WHERE ${inText("reference || ' ' || uti")}`;

/** `statusOf` as SQL; its parameter is the current time. */
const LINK_STATUS = `CASE
  WHEN cancelledDate IS NOT NULL THEN 'cancelled'
  WHEN paidDate IS NOT NULL AND json_type(request, '$.linkOptions') IS NULL THEN 'paid'
  WHEN julianday(expirationDate) <= julianday(?) THEN 'expired'
  WHEN attemptedDate IS NOT NULL AND paidDate IS NULL THEN 'attempted'
  WHEN viewedDate IS NULL THEN 'active'
  ELSE 'viewed' END`;

const requestText = (field: string): string => `coalesce(json_extract(request, '$.${field}'), '')`;

export const LINKS: ListSource<Link> = {
  table: "links",
  schema: linkRow,
  key: "id",
  order: ["seq"],
  hasState: (state, now) => [`${LINK_STATUS} = ?`, now.toISOString(), state],
  contains: (text) => [
    `(${inText(`id || ' ' || ${["invoiceId", "description", "customerName"].map(requestText).join(" || ' ' || ")}`)}
      OR id IN (SELECT linkId ${WITH_REFERENCE}))`,
    text,
    text,
  ],
};

export const PAYMENTS: ListSource<Payment> = {
  table: "payments",
  schema: paymentRow,
  key: "uti",
  order: ["seq"],
  hasState: (state) => ["outcome = ?", state],
  contains: (text) => [inText("linkId || ' ' || reference || ' ' || uti"), text],
};

export const DELIVERIES: ListSource<Delivery> = {
  table: "deliveries",
  schema: deliveryRow,
  key: "id",
  order: ["failed", "seq"],
  hasState: (state) => ["state = ?", state],
  contains: (text) => [
    `(${inText("linkId || ' ' || id || ' ' || uti || ' ' || url")} OR uti IN (SELECT uti ${WITH_REFERENCE}))`,
    text,
    text,
  ],
};

export function readList<T>(
  source: ListSource<T>,
  query: ListQuery,
  read: (sql: string, ...values: Value[]) => Row[],
): ListPage<T> {
  const { table, order } = source;
  const matching = conditionsOf(source, query);
  const select = (what: string, conditions: readonly Condition[], end = ""): Row[] => {
    const where = conditions.map(([sql]) => sql).join(" AND ") || "TRUE";
    const values = conditions.flatMap(([, ...given]) => given);
    return read(`SELECT ${what} FROM ${table} WHERE ${where} ${end}`, ...values);
  };
  const count = (conditions: readonly Condition[]): number =>
    Number(select("count(*) AS n", conditions)[0]?.["n"]);
  const beside = (operator: "<" | ">", position: string): Condition => [
    `(${order.join(", ")}) ${operator} (${order.map(() => "?").join(", ")})`,
    ...position.split(".").map(Number),
  ];
  const rowsBy = (direction: "ASC" | "DESC", conditions: readonly Condition[]): Row[] =>
    select(
      "*",
      conditions,
      `ORDER BY ${order.map((column) => `${column} ${direction}`).join(", ")} LIMIT ${query.limit}`,
    );
  const pageAt = (): Row[] | undefined => {
    const { older, newer } = query;
    if (isPosition(older, order)) return rowsBy("DESC", [...matching, beside("<", older)]);
    if (!isPosition(newer, order)) return undefined;
    const above = rowsBy("ASC", [...matching, beside(">", newer)]).toReversed();
    return above.length < query.limit ? undefined : above;
  };
  const later = pageAt();
  const rows = later ?? rowsBy("DESC", matching);
  const positionOf = (row: Row | undefined): string | undefined =>
    row === undefined ? undefined : order.map((column) => String(row[column])).join(".");
  const first = positionOf(rows[0]);
  const skipped = later === undefined || first === undefined ? 0 : count([...matching, beside(">", first)]);
  const total = count(matching);
  return {
    rows: rows.map((row) => source.schema.parse(row)),
    total,
    skipped,
    newer: skipped > 0 ? first : undefined,
    older: skipped + rows.length < total ? positionOf(rows.at(-1)) : undefined,
  };
}

/** Positions arrive in addresses, so any text is possible. */
const isPosition = (text: string | undefined, order: readonly string[]): text is string =>
  text !== undefined &&
  text.split(".").length === order.length &&
  text.split(".").every((part) => /^\d{1,15}$/.test(part));

function conditionsOf(
  source: ListSource<unknown>,
  { text = "", state = "", ids, linkId, uti, now }: ListQuery,
): Condition[] {
  return [
    ...(text === "" ? [] : [source.contains(text)]),
    ...(state === "" ? [] : [source.hasState(state, now)]),
    ...(ids === undefined
      ? []
      : [[`${source.key} IN (SELECT value FROM json_each(?))`, JSON.stringify(ids)] as const]),
    ...(linkId === undefined ? [] : [["linkId = ?", linkId] as const]),
    ...(uti === undefined ? [] : [["uti = ?", uti] as const]),
  ];
}
