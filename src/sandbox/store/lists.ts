/** The lists of the dashboard, read by position, so that a page costs the same in a list of any length. */
import type { Value } from "../../store/database.ts";
import { deliveryRow, linkRow, paymentRow, type Delivery, type Link, type Payment } from "./rows.ts";
import { LINK_STATUS } from "./schema.ts";

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
  /** The rows after a position that a page named; without a position, the newest. */
  readonly older?: string | undefined;
  readonly limit: number;
  /** The current time, which decides whether a link has expired. */
  readonly now: Date;
}

/** The newest rows first. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** The position to continue from; undefined if there are no more rows. */
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
  "(SELECT status FROM attempts WHERE deliveryId = deliveries.id ORDER BY number DESC LIMIT 1)";

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
  const { limit, older } = query;
  const conditions: readonly Condition[] = [
    ...conditionsOf(source, query),
    ...(isPosition(older) ? [["seq < ?", Number(older)] as const] : []),
  ];
  const where = conditions.map(([sql]) => sql).join(" AND ") || "TRUE";
  const values = conditions.flatMap(([, ...given]) => given);
  // One row more says whether there is another page.
  const found = read(
    `SELECT * FROM ${source.table} WHERE ${where} ORDER BY seq DESC LIMIT ${limit + 1}`,
    ...values,
  );
  const rows = found.slice(0, limit);
  return {
    rows: rows.map((row) => source.schema.parse(row)),
    older: found.length > limit ? String(rows.at(-1)?.["seq"]) : undefined,
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
