/** Judges stored events of former versions again: the column that lists filter by must say what the record says now. */
import { isJsonObject, type Json } from "../domain/json.ts";
import { outcomeOf, textOf, type TransactionRecord } from "../domain/transaction.ts";
import { readStored } from "../receiver/event-store.ts";
import type { Dialect, Row, Value } from "./dialects.ts";
import { requestFromRow } from "./rows.ts";
import { indexed } from "./writes.ts";

/** Versions of the schema before this one have outcomes by two flags alone: a part of the amount counted as the payment. */
const JUDGED_SINCE = 3;
/** Rows in memory at once. */
const PAGE_SIZE = 100;

type Statement = readonly [sql: string, values: Value[]];

/** Yields the statements of a migration from a version, and takes the rows of each: one driver is synchronous. */
export function* judgeAgain({ schema }: Dialect, from: number): Generator<Statement, void, readonly Row[]> {
  if (from >= JUDGED_SINCE) return;
  let rows: readonly Row[] = [];
  do {
    const after = Number(rows.at(-1)?.["seq"] ?? 0);
    rows = yield [`SELECT * FROM ${schema}events WHERE seq > ? ORDER BY seq LIMIT ${PAGE_SIZE}`, [after]];
    for (const row of rows) {
      const outcome = outcomeNow(row);
      if (outcome !== row["outcome"])
        yield [`UPDATE ${schema}events SET outcome = ? WHERE seq = ?`, [outcome, Number(row["seq"])]];
    }
  } while (rows.length === PAGE_SIZE);
}

function outcomeNow(row: Row): string {
  try {
    const { record } = readStored(requestFromRow(row), undefined);
    return outcomeOf(recordWith(String(row["uti"]), record) ?? record);
  } catch {
    // Whoever reads the row is told that it is damaged.
    return String(row["outcome"]);
  }
}

/** The record where the service wraps it: the setting of that time is not stored, but the uti that was found is. */
function recordWith(uti: string, json: Json): TransactionRecord | undefined {
  if (Array.isArray(json)) return json.map((item: Json) => recordWith(uti, item)).find(Boolean);
  if (!isJsonObject(json)) return undefined;
  if (indexed(textOf(json, "uti") ?? "") === uti) return json;
  return recordWith(uti, Object.values(json));
}
