/** What a list shows as a file: CSV that spreadsheets open as text. */
import { amountIn, textOf, type TransactionRecord } from "../domain/transaction.ts";
import type { StoredEvent } from "../events/history.ts";
import { csvRecord } from "../render/csv-listing.ts";
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

type ExportedCell = (row: EventRow) => string | undefined;

const ofRecord =
  (read: (record: TransactionRecord) => string | undefined): ExportedCell =>
  ({ stored }) =>
    stored.type === "event" && stored.content.record !== null ? read(stored.content.record) : undefined;
const ofEvent =
  (read: (event: StoredEvent) => string | undefined): ExportedCell =>
  ({ stored }) =>
    stored.type === "event" ? read(stored) : undefined;

const CELLS: Readonly<Record<string, ExportedCell>> = {
  received: ({ stored }) => stored.receivedAt.toISOString(),
  id: ({ stored }) => stored.id,
  state: ({ stored }) => shownState(stored),
  outcome: ofEvent(({ outcome }) => outcome),
  amount: ofRecord((record) => amountIn(record, "amountTrans")?.toString()),
  currency: ofRecord((record) => textOf(record, "transCurrencyCode")),
  order: ofEvent(({ reference }) => reference),
  uti: ofEvent(({ uti }) => uti),
  card: ofRecord((record) => textOf(record, "cardPan")?.slice(-4)),
  answer: ({ stored, attempt }) =>
    stored.type === "rejected" ? String(stored.status) : attempt?.status?.toString(),
  attempts: ofEvent(({ delivery }) => delivery?.attempts.toString()),
  reason: ({ stored }) => (stored.type === "rejected" ? stored.code : undefined),
};

export const eventCsv = (rows: readonly EventRow[]): string =>
  [
    csvRecord(Object.keys(CELLS)),
    ...rows.map((row) => csvRecord(Object.values(CELLS).map((cell) => cell(row) ?? ""))),
    "",
  ].join("\r\n");
