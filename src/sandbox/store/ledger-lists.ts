/** The lists of the dashboard, read by position, so that a page costs the same in a list of any length. */
import { outcomeNamed } from "../../domain/outcome.ts";
import type { PaymentGroup } from "../../pages/totals.ts";
import type { Bars } from "../../pages/trend.ts";
import type { Value } from "../../store/sql.ts";
import {
  type Delivery,
  type Link,
  type PaymentRow,
  deliveryRow,
  linkRow,
  paymentRow,
} from "./ledger-rows.ts";
import { LINK_STATUS } from "./schema.ts";

/** The rows of a list to read: those that match every member that is given. */
export interface LedgerQuery {
  /** Words, each of which a row shows or whose id begins with it. */
  readonly text?: string;
  /** The status of a link, the outcome of a payment, the state of a delivery. */
  readonly state?: string;
  /** Payments and deliveries of a link. */
  readonly linkId?: string;
  /** Deliveries of a payment. */
  readonly uti?: string;
  /** The outcome of the payment that a delivery is about, as it is called in addresses. */
  readonly outcome?: string;
  readonly since?: Date | undefined;
  /** The end of the time, which is not in it. */
  readonly until?: Date | undefined;
  /** The rows after a position that a page named; without a position, the newest. */
  readonly older?: string | undefined;
  readonly limit: number;
  /** The current time, which decides whether a link has expired. */
  readonly now: Date;
}

/** The newest rows first. */
export interface LedgerPage<Row> {
  readonly rows: readonly Row[];
  /** The position to continue from; undefined if there are no more rows. */
  readonly older: string | undefined;
}

/** How many rows of each state there were in each part of a time. */
export type CountsByState = ReadonlyMap<string, readonly number[]>;

/** The most rows that are added up and charted: the newest ones. The sandbox does nothing else meanwhile. */
export const ROWS_COUNTED = 10_000;

type LedgerRow = Readonly<Record<string, Value>>;
/** Reads the rows of a statement. */
export type ReadRows = (sql: string, ...values: Value[]) => readonly LedgerRow[];
type SqlCondition = readonly [sql: string, ...values: Value[]];

/** What differs between the lists. */
interface ListSource<T> {
  readonly table: string;
  readonly schema: { parse(row: unknown): T };
  readonly ids: readonly string[];
  /** The column with the time when it was made. */
  readonly at: string;
  /** A moment as that column has it. */
  readonly moment: (date: Date) => Value;
  readonly hasState: (state: string, now: Date) => SqlCondition;
}

/** A list with charts; its times are milliseconds since 1970. */
interface ChartedSource<T> extends ListSource<T> {
  /** The column that bars tell apart. */
  readonly state: string;
}

const milliseconds = (date: Date): number => date.getTime();

export const LINK_ROWS: ListSource<Link> = {
  table: "links",
  schema: linkRow,
  ids: ["id"],
  at: "createdDate",
  moment: (date) => date.toISOString(),
  hasState: (state, now) => [`${LINK_STATUS} = ?`, now.toISOString(), state],
};

export const PAYMENT_ROWS: ChartedSource<PaymentRow> = {
  table: "payments",
  schema: paymentRow,
  ids: ["uti", "linkId"],
  at: "at",
  moment: milliseconds,
  state: "outcome",
  hasState: (state) => ["outcome = ?", state],
};

export const DELIVERY_ROWS: ChartedSource<Delivery> = {
  table: "deliveries",
  schema: deliveryRow,
  ids: ["id", "uti", "linkId"],
  at: "at",
  moment: milliseconds,
  state: "state",
  hasState: (state) => ["state = ?", state],
};

export function readLedgerPage<T>(source: ListSource<T>, query: LedgerQuery, read: ReadRows): LedgerPage<T> {
  const { limit } = query;
  // With `+`, SQLite walks from the newest row: with the index of the time, it would read and sort all rows of a period.
  const conditions = listConditions({ ...source, at: `+${source.at}` }, query);
  const where = whereOf(conditions);
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

/** Some columns of the newest rows that a query finds, on whatever page. */
function newestRows(
  source: ListSource<unknown>,
  query: LedgerQuery,
  columns: string,
  most = ROWS_COUNTED,
): SqlCondition {
  const conditions = listConditions(source, { ...query, older: undefined });
  return [
    `SELECT ${columns} FROM ${source.table} WHERE ${whereOf(conditions)} ORDER BY ${source.at} DESC LIMIT ${most}`,
    ...conditions.flatMap(([, ...given]) => given),
  ];
}

/** How many rows a query finds, on whatever page. More than `ROWS_COUNTED` are one more. */
export function countRows(source: ListSource<unknown>, query: LedgerQuery, read: ReadRows): number {
  const [sql, ...values] = newestRows(source, query, "1", ROWS_COUNTED + 1);
  return Number(read(`SELECT count(*) AS n FROM (${sql})`, ...values)[0]?.["n"] ?? 0);
}

/** Adds up the payments that a query finds, on whatever page: the newest `ROWS_COUNTED`. */
export function sumPayments(query: LedgerQuery, read: ReadRows): PaymentGroup[] {
  const [sql, ...values] = newestRows(PAYMENT_ROWS, query, "outcome, currency, amount");
  const found = read(
    `SELECT outcome, currency, count(*) AS n, CAST(coalesce(sum(amount), 0) AS text) AS sum, count(amount) AS summed
     FROM (${sql}) GROUP BY outcome, currency`,
    ...values,
  );
  return found.map(({ outcome, currency, n, sum, summed }) => ({
    outcome: outcomeNamed(String(outcome)) ?? "UNCLEAR",
    currency: String(currency),
    events: Number(n),
    sum: BigInt(String(sum)),
    unsummed: Number(n) - Number(summed),
  }));
}

/** The rows of the time that bars show. */
export const queryOfBars = ({ since, until }: Bars): LedgerQuery => ({
  since,
  until,
  limit: ROWS_COUNTED,
  now: until,
});

/** How many rows of each state were made in each part of a time. */
export function readBars(source: ChartedSource<unknown>, bars: Bars, read: ReadRows): CountsByState {
  const [sql, ...values] = newestRows(
    source,
    queryOfBars(bars),
    `${source.at} AS at, ${source.state} AS state`,
  );
  const counts = new Map<string, number[]>();
  const found = read(
    // The values are bound as floating-point numbers, whose quotient is not a whole number.
    `SELECT state, CAST((at - ?) / ? AS INTEGER) AS part, count(*) AS n FROM (${sql}) GROUP BY state, part`,
    bars.since.getTime(),
    bars.width,
    ...values,
  );
  for (const { state, part, n } of found) {
    const own = counts.get(String(state)) ?? Array.from({ length: bars.parts }, () => 0);
    own[Number(part)] = Number(n);
    counts.set(String(state), own);
  }
  return counts;
}

const whereOf = (conditions: readonly SqlCondition[]): string =>
  conditions.map(([sql]) => sql).join(" AND ") || "TRUE";

const listConditions = (
  source: ListSource<unknown>,
  { text = "", state = "", outcome = "", linkId, uti, since, until, older, now }: LedgerQuery,
): readonly SqlCondition[] => [
  ...searchWords(text).map((word) => contains(word, source.ids)),
  ...(state === "" ? [] : [source.hasState(state, now)]),
  ...(outcome === "" ? [] : [["outcome = ?", outcome] as const]),
  ...(since === undefined ? [] : [[`${source.at} >= ?`, source.moment(since)] as const]),
  ...(until === undefined ? [] : [[`${source.at} < ?`, source.moment(until)] as const]),
  ...(linkId === undefined ? [] : [["linkId = ?", linkId] as const]),
  ...(uti === undefined ? [] : [["uti = ?", uti] as const]),
  ...(older === undefined ? [] : [["seq < ?", Number(older)] as const]),
];

/** The shortest start of an id that finds it, in characters: ids are random, and contain every short word. */
const ID_START = 5;

function contains(word: string, ids: readonly string[]): SqlCondition {
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
