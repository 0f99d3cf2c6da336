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

/** What differs between the lists. */
interface ListSource<T> {
  readonly table: string;
  readonly schema: { parse(row: unknown): T };
  readonly ids: readonly string[];
  readonly hasState: (state: string, now: Date) => Condition;
}

export const LINKS: ListSource<Link> = {
  table: "links",
  schema: linkRow,
  ids: ["id"],
  hasState: (state, now) => [`${LINK_STATUS} = ?`, now.toISOString(), state],
};

export const PAYMENTS: ListSource<Payment> = {
  table: "payments",
  schema: paymentRow,
  ids: ["uti", "linkId"],
  hasState: (state) => ["outcome = ?", state],
};

export const DELIVERIES: ListSource<Delivery> = {
  table: "deliveries",
  schema: deliveryRow,
  ids: ["id", "uti", "linkId"],
  hasState: (state) => ["state = ?", state],
};

export function readList<T>(
  source: ListSource<T>,
  query: ListQuery,
  read: (sql: string, ...values: Value[]) => Row[],
): ListPage<T> {
  const { limit } = query;
  const conditions = conditionsOf(source, query);
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

const conditionsOf = (
  source: ListSource<unknown>,
  { text = "", state = "", linkId, uti, older, now }: ListQuery,
): readonly Condition[] => [
  ...searchWords(text).map((word) => contains(word, source.ids)),
  ...(state === "" ? [] : [source.hasState(state, now)]),
  ...(linkId === undefined ? [] : [["linkId = ?", linkId] as const]),
  ...(uti === undefined ? [] : [["uti = ?", uti] as const]),
  ...(older === undefined ? [] : [["seq < ?", Number(older)] as const]),
];

/** The shortest start of an id that finds it, in characters: ids are random, and contain every short word. */
const ID_START = 5;

function contains(word: string, ids: readonly string[]): Condition {
  const starts = word.length < ID_START ? [] : ids;
  const sql = ["instr(searched, ?) > 0", ...starts.map((id) => `instr(lower(${id}), ?) = 1`)];
  return [`(${sql.join(" OR ")})`, word, ...starts.map(() => word)];
}

/** The words that are searched for, in lower case. An amount is found with and without the commas between its thousands. */
const searchWords = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => (/^\d[\d,]*(?:\.\d*)?$/.test(word) ? word.replaceAll(",", "") : word));
