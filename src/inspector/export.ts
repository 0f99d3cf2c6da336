/** What a list shows as a file: CSV that spreadsheets open as text. */
import { stringify } from "csv-stringify/sync";
import { amountIn, textOf } from "../domain/transaction.ts";
import { csvCell } from "../render/csv-cell.ts";
import type { EventStore } from "../store/event-store.ts";
import type { EventQuery } from "../store/event-query.ts";
import { type EventRow, shownState, withAttempts } from "./rows.ts";

/** The most rows of a file, the newest ones. */
export const EXPORTED = 10_000;

/** The most rows that are read at once: a server ends a reading that takes long. */
const ROWS_A_READ = 1_000;

export async function exportedRows(store: EventStore, query: EventQuery): Promise<EventRow[]> {
  const rows: EventRow[] = [];
  for (;;) {
    const page = await store.list(query, { before: rows.at(-1)?.stored.id, limit: ROWS_A_READ });
    rows.push(...(await withAttempts(store, page)));
    if (page.length < ROWS_A_READ || rows.length >= EXPORTED) return rows;
  }
}

const EXPORT_COLUMNS = [
  "received",
  "id",
  "state",
  "outcome",
  "amount",
  "currency",
  "order",
  "uti",
  "card",
  "answer",
  "attempts",
  "reason",
] as const;

type Cells = Readonly<Partial<Record<(typeof EXPORT_COLUMNS)[number], string>>>;

export const eventCsv = (rows: readonly EventRow[]): string =>
  stringify(
    rows.map((row) => {
      const cells = exportCells(row);
      return EXPORT_COLUMNS.map((name) => csvCell(cells[name] ?? ""));
    }),
    { columns: [...EXPORT_COLUMNS], header: true, record_delimiter: "\r\n" },
  );

function exportCells({ stored, attempt }: EventRow): Cells {
  const common = { received: stored.receivedAt.toISOString(), id: stored.id, state: shownState(stored) };
  if (stored.type === "rejected") return { ...common, answer: String(stored.status), reason: stored.code };
  const { record } = stored.content;
  const text = (name: "transCurrencyCode" | "cardPan"): string => (record && textOf(record, name)) ?? "";
  return {
    ...common,
    outcome: stored.outcome,
    amount: String((record && amountIn(record, "amountTrans")) ?? ""),
    currency: text("transCurrencyCode"),
    order: stored.reference,
    uti: stored.uti,
    card: text("cardPan").slice(-4),
    answer: attempt?.status == null ? "" : String(attempt.status),
    attempts: stored.delivery === null ? "" : String(stored.delivery.attempts),
  };
}
