/** The events that a person names: by their order number, or by how their uti or id begins. */
import { comparableText } from "../values/comparable-text.ts";
import { beginsWith, type Dialect, type Sql, union } from "./dialects.ts";

/**
 * Their ids, at most `most` by each name. The indexes of the columns find them: by `id` alone, a server without statistics would read the
 * whole table.
 */
export function namedEvents({ schema }: Dialect, name: string, most: number): Sql {
  const number = comparableText(name);
  const beginning = (column: string, text: string): Sql => {
    const { sql, values } = beginsWith(column, text);
    return {
      sql: `SELECT id FROM (SELECT id FROM ${schema}events WHERE ${sql}
        ORDER BY ${column}, id DESC LIMIT ${most}) AS by_${column}`,
      values,
    };
  };
  return union([
    beginning("uti", name),
    beginning("id", name),
    // The payments of a reusable link have a suffix behind its order number.
    beginning("reference", `${number}-`),
    {
      sql: `SELECT id FROM (SELECT id FROM ${schema}events WHERE reference = ?
        ORDER BY id DESC LIMIT ${most}) AS by_order`,
      values: [number],
    },
  ]);
}
