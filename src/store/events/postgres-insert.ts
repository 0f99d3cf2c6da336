/** Inserts any number of rows into a table of PostgreSQL. */
import type { Connection } from "../postgres/server-connections.ts";
import type { Row } from "./event-rows.ts";

/**
 * The text as PostgreSQL can store it: without NUL and without half surrogate pairs, which have no UTF-8. JSON escapes
 * both, and the bytes of the body keep them.
 */
export const text = (value: string): string => value.replaceAll("\0", "\ufffd").toWellFormed();

/** A statement has at most 65,535 values. */
const MAX_ROWS = 1000;

export async function insert(
  connection: Connection,
  into: string,
  rows: readonly (readonly unknown[])[],
  ending = "",
): Promise<Row[]> {
  const inserted: Row[] = [];
  for (let from = 0; from < rows.length; from += MAX_ROWS) {
    const part = rows.slice(from, from + MAX_ROWS);
    let number = 0;
    const places = part.map((values) => `(${values.map(() => `$${++number}`).join()})`).join();
    inserted.push(
      ...(await connection.query(`INSERT INTO paylink.${into} VALUES ${places} ${ending}`, part.flat())),
    );
  }
  return inserted;
}
