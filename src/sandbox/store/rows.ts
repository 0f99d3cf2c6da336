/** What the ledger stores: links, payments, deliveries and attempts with their columns; and its lists, read in pages. */
import * as z from "zod/mini";
import { isJsonObject, stringifyJson, type JsonObject } from "../../domain/json.ts";
import { parseJson } from "../../domain/parse-json.ts";
import type { PaymentLinkRequest } from "../../domain/payment-link.ts";
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
const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);
const headerLines = json<readonly HeaderLine[]>(z.array(z.tuple([z.string(), z.string()])));

export const linkRow = z.object({
  id: z.string(),
  request: json(z.custom<PaymentLinkRequest>(isJsonObject)),
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
  body: bytes,
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

/** One POST of a delivery: what was sent, and the response. */
export const attemptRow = z.object({
  deliveryId: z.string(),
  number: integer,
  at: date,
  /** When it was signed, by this machine's clock. */
  signedAt: date,
  /** How the webhook was tampered with, to see it refused; null for the service's own. */
  tampering: z.nullable(z.string()),
  headers: headerLines,
  /** The body of a tampered webhook; null where it is the delivery's. */
  body: z.nullable(bytes),
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
  /** Words, each of which a row shows or whose id begins with it. */
  readonly text?: string;
  /** The status of a link, the outcome of a payment, the state of a delivery. */
  readonly state?: string;
  /** Payments and deliveries of a link. */
  readonly linkId?: string;
  /** Deliveries of a payment. */
  readonly uti?: string;
  /** The rows after or before a position that a page named; without a position, the first page. */
  readonly older?: string | undefined;
  readonly newer?: string | undefined;
  /** The position of the newest row to read; later ones are only counted. */
  readonly top?: string | undefined;
  readonly limit: number;
  /** The current time, which decides whether a link has expired. */
  readonly now: Date;
}

/** The newest rows first. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** All rows that match, on all pages. */
  readonly total: number;
  /** The position of the newest row that matches; 0 without rows. */
  readonly newest: string;
  /** The rows that are newer than `top`. */
  readonly arrived: number;
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
  readonly hasState: (state: string, now: Date) => Condition;
  readonly contains: (word: string, now: Date) => Condition;
}

/** The text of the columns contains a word; ignores the case of ASCII letters. */
const shows = (columns: readonly string[], word: string): Condition => [
  `instr(lower(${columns.map((column) => `coalesce(${column}, '')`).join(" || ' ' || ")}), lower(?)) > 0`,
  word,
];

/** The shortest start of an id that finds it, in characters: ids are random, and contain every short word. */
const ID_START = 5;

const startsWith = (columns: readonly string[], word: string): Condition[] =>
  word.length < ID_START
    ? []
    : columns.map((column) => [`instr(lower(${column}), lower(?)) = 1`, word] as const);

const anyOf = (...conditions: readonly Condition[]): Condition => [
  `(${conditions.map(([sql]) => sql).join(" OR ")})`,
  ...conditions.flatMap(([, ...values]) => values),
];

const within = (sql: (condition: string) => string, [condition, ...values]: Condition): Condition => [
  sql(condition),
  ...values,
];

/** A number of a JSON column, as it is spelled and with two decimals, as most currencies show it. */
const amountText = (column: string, field: string): readonly string[] => {
  const amount = `json_extract(${column}, '$.${field}')`;
  return [`${column} -> '$.${field}'`, `printf('%.2f', ${amount})`];
};

/** `statusOf` as SQL; its parameter is the current time. */
const LINK_STATUS = `CASE
  WHEN cancelledDate IS NOT NULL THEN 'cancelled'
  WHEN paidDate IS NOT NULL AND json_type(request, '$.linkOptions') IS NULL THEN 'paid'
  WHEN julianday(expirationDate) <= julianday(?) THEN 'expired'
  WHEN attemptedDate IS NOT NULL AND paidDate IS NULL THEN 'attempted'
  WHEN viewedDate IS NULL THEN 'active'
  ELSE 'viewed' END`;

const LINK_TEXTS = ["invoiceId", "description", "customerName", "currency"];

const paymentShows = (word: string): Condition =>
  anyOf(
    shows(
      ["reference", "outcome", ...amountText("record", "amountTrans"), "record ->> '$.transCurrencyCode'"],
      word,
    ),
    ...startsWith(["uti"], word),
  );

export const LINKS: ListSource<Link> = {
  table: "links",
  schema: linkRow,
  hasState: (state, now) => [`${LINK_STATUS} = ?`, now.toISOString(), state],
  contains: (word, now) =>
    anyOf(
      shows(
        [...LINK_TEXTS.map((field) => `request ->> '$.${field}'`), ...amountText("request", "amount")],
        word,
      ),
      [`instr(${LINK_STATUS}, lower(?)) > 0`, now.toISOString(), word],
      ...startsWith(["id"], word),
      within((of) => `id IN (SELECT linkId FROM payments WHERE ${of})`, shows(["reference"], word)),
    ),
};

export const PAYMENTS: ListSource<Payment> = {
  table: "payments",
  schema: paymentRow,
  hasState: (state) => ["outcome = ?", state],
  contains: (word) =>
    anyOf(
      paymentShows(word),
      shows(["record ->> '$.cardPan'"], word),
      ...startsWith(["linkId"], word),
      within(
        (of) => `linkId IN (SELECT id FROM links WHERE ${of})`,
        shows(["request ->> '$.customerName'"], word),
      ),
    ),
};

/** The receiver's status of the newest attempt. */
const LAST_STATUS =
  "(SELECT status FROM attempts WHERE deliveryId = deliveries.id AND tampering IS NULL ORDER BY number DESC LIMIT 1)";

/** What follows the origin: a search must not find the password in an address. */
const URL_PATH = "iif(instr(substr(url, 9), '/') = 0, '', substr(url, instr(substr(url, 9), '/') + 8))";

export const DELIVERIES: ListSource<Delivery> = {
  table: "deliveries",
  schema: deliveryRow,
  hasState: (state) => ["state = ?", state],
  contains: (word) =>
    anyOf(
      shows(["state", "origin", URL_PATH, LAST_STATUS], word),
      ...startsWith(["id", "linkId", "uti"], word),
      within((of) => `uti IN (SELECT uti FROM payments WHERE ${of})`, paymentShows(word)),
      within(
        (of) => `linkId IN (SELECT id FROM links WHERE ${of})`,
        shows(["request ->> '$.customerName'"], word),
      ),
    ),
};

export function readList<T>(
  source: ListSource<T>,
  query: ListQuery,
  read: (sql: string, ...values: Value[]) => Row[],
): ListPage<T> {
  const { table } = source;
  const { limit, older, newer, top } = query;
  const matching = conditionsOf(source, query);
  const shown: readonly Condition[] = isPosition(top) ? [...matching, ["seq <= ?", Number(top)]] : matching;
  const select = (what: string, conditions: readonly Condition[], end = ""): Row[] => {
    const where = conditions.map(([sql]) => sql).join(" AND ") || "TRUE";
    const values = conditions.flatMap(([, ...given]) => given);
    return read(`SELECT ${what} FROM ${table} WHERE ${where} ${end}`, ...values);
  };
  const count = (conditions: readonly Condition[]): Row => {
    const [counted = {}] = select("count(*) AS n, coalesce(max(seq), 0) AS newest", conditions);
    return counted;
  };
  const rowsBy = (direction: "ASC" | "DESC", conditions: readonly Condition[]): Row[] =>
    select("*", conditions, `ORDER BY seq ${direction} LIMIT ${limit}`);
  const pageAt = (): Row[] | undefined => {
    if (isPosition(older)) return rowsBy("DESC", [...shown, ["seq < ?", Number(older)]]);
    if (!isPosition(newer)) return undefined;
    const above = rowsBy("ASC", [...shown, ["seq > ?", Number(newer)]]).toReversed();
    return above.length < limit ? undefined : above;
  };
  const later = pageAt();
  const rows = later ?? rowsBy("DESC", shown);
  const positionOf = (row: Row | undefined): string | undefined =>
    row === undefined ? undefined : String(row["seq"]);
  const first = positionOf(rows[0]);
  const skipped =
    later === undefined || first === undefined
      ? 0
      : Number(count([...shown, ["seq > ?", Number(first)]])["n"]);
  const all = count(matching);
  const total = Number(all["n"]);
  const arrived = shown === matching ? 0 : total - Number(count(shown)["n"]);
  return {
    rows: rows.map((row) => source.schema.parse(row)),
    total,
    newest: String(all["newest"]),
    arrived,
    skipped,
    newer: skipped > 0 ? first : undefined,
    older: skipped + rows.length < total - arrived ? positionOf(rows.at(-1)) : undefined,
  };
}

/** Positions arrive in addresses, so any text is possible. */
const isPosition = (text: string | undefined): text is string => /^\d{1,15}$/.test(text ?? "");

/** The most words of a search. */
const WORDS = 10;

/** The words that are searched for, in lower case. An amount is found with and without the commas between its thousands. */
export const searchWords = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .slice(0, WORDS)
    .map((word) => (/^\d[\d,]*(?:\.\d*)?$/.test(word) ? word.replaceAll(",", "") : word));

function conditionsOf(
  source: ListSource<unknown>,
  { text = "", state = "", linkId, uti, now }: ListQuery,
): readonly Condition[] {
  return [
    ...searchWords(text).map((word) => source.contains(word, now)),
    ...(state === "" ? [] : [source.hasState(state, now)]),
    ...(linkId === undefined ? [] : [["linkId = ?", linkId] as const]),
    ...(uti === undefined ? [] : [["uti = ?", uti] as const]),
  ];
}
