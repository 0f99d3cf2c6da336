/** Statements of SQL whose values travel with their text. */

export type Value = null | number | bigint | string | Uint8Array;

/** A row as either database gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** A statement or a part of one: each `?` of its text is a place, for the values in their order. */
export interface Sql {
  readonly text: string;
  readonly values: readonly Value[];
}

/** What is put into it is a value, or a part of a statement with its own values. */
export function sql(texts: readonly string[], ...parts: readonly (Value | Sql)[]): Sql {
  let [text = ""] = texts;
  const values: Value[] = [];
  parts.forEach((part, at) => {
    if (isSql(part)) {
      text += part.text;
      values.push(...part.values);
    } else {
      text += "?";
      values.push(part);
    }
    text += texts[at + 1] ?? "";
  });
  return { text, values };
}

const isSql = (part: Value | Sql): part is Sql =>
  typeof part === "object" && part !== null && !(part instanceof Uint8Array);

/** A text of paylink's own: a value from elsewhere must never be one. */
export const raw = (text: string): Sql => ({ text, values: [] });

export const joined = (parts: readonly Sql[], between: string): Sql => ({
  text: parts.map(({ text }) => text).join(between),
  values: parts.flatMap(({ values }) => values),
});

/** Without conditions, everything. */
export const allOf = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? raw("TRUE") : joined(conditions, " AND ");

/** Whether a column has one of these values. PostgreSQL accepts no empty list. */
export const isOneOf = (column: Sql, values: readonly Value[]): Sql =>
  values.length === 0 ? raw("FALSE") : sql`${column} IN (${placesOf(values)})`;

export const isNoneOf = (column: Sql, values: readonly Value[]): Sql =>
  values.length === 0 ? raw("TRUE") : sql`${column} NOT IN (${placesOf(values)})`;

const placesOf = (values: readonly Value[]): Sql => ({ text: values.map(() => "?").join(), values });

/** Behind a text, it sorts after every text that begins with that text. */
export const LAST_CHARACTER = "\u{10ffff}";

/** Whether a column begins with a text, as its index finds it. */
export const beginsWith = (column: Sql, text: string): Sql =>
  sql`${column} >= ${text} AND ${column} < ${text + LAST_CHARACTER}`;
