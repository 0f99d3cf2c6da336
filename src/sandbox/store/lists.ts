/** The ledger's lists, read in pages by position, so that a page costs the same in a list of any length. */
import type { Value } from "../../store/database.ts";
import type { ListPage, ListQuery } from "../ledger.ts";

type Row = Record<string, Value>;
type Condition = readonly [sql: string, ...values: Value[]];

/** What differs between the lists; all SQL. */
interface ListSource {
  readonly table: string;
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
  WHEN cancelled IS NOT NULL THEN 'cancelled'
  WHEN paid IS NOT NULL AND json_type(request, '$.linkOptions') IS NULL THEN 'paid'
  WHEN julianday(expires) <= julianday(?) THEN 'expired'
  WHEN attempted IS NOT NULL AND paid IS NULL THEN 'attempted'
  WHEN viewed IS NULL THEN 'active'
  ELSE 'viewed' END`;

const requestText = (field: string): string => `coalesce(json_extract(request, '$.${field}'), '')`;

export const LINKS: ListSource = {
  table: "links",
  key: "id",
  order: ["seq"],
  hasState: (state, now) => [`${LINK_STATUS} = ?`, now.toISOString(), state],
  contains: (text) => [
    `(${inText(`id || ' ' || ${["invoiceId", "description", "customerName"].map(requestText).join(" || ' ' || ")}`)}
      OR id IN (SELECT link ${WITH_REFERENCE}))`,
    text,
    text,
  ],
};

export const PAYMENTS: ListSource = {
  table: "payments",
  key: "uti",
  order: ["seq"],
  hasState: (state) => ["outcome = ?", state],
  contains: (text) => [inText("link || ' ' || reference || ' ' || uti"), text],
};

export const DELIVERIES: ListSource = {
  table: "deliveries",
  key: "id",
  order: ["failed", "seq"],
  hasState: (state) => ["state = ?", state],
  contains: (text) => [
    `(${inText("link || ' ' || id || ' ' || uti || ' ' || url")} OR uti IN (SELECT uti ${WITH_REFERENCE}))`,
    text,
    text,
  ],
};

export type ReadRows = (sql: string, ...values: Value[]) => Row[];

export function readList<T>(
  source: ListSource,
  query: ListQuery,
  read: ReadRows,
  parse: (row: Row) => T,
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
    rows: rows.map(parse),
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
  source: ListSource,
  { text = "", state = "", ids, linkId, uti, now }: ListQuery,
): Condition[] {
  return [
    ...(text === "" ? [] : [source.contains(text)]),
    ...(state === "" ? [] : [source.hasState(state, now)]),
    ...(ids === undefined
      ? []
      : [[`${source.key} IN (SELECT value FROM json_each(?))`, JSON.stringify(ids)] as const]),
    ...(linkId === undefined ? [] : [["link = ?", linkId] as const]),
    ...(uti === undefined ? [] : [["uti = ?", uti] as const]),
  ];
}
