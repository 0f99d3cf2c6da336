/** Writes events so that what was acknowledged survives anything: one transaction for all that came together. */
import { outcomeOf, textOf } from "../../domain/transaction.ts";
import type { EventLog, Forward, Kept, NewEvent, Rejection } from "../../receiver/events.ts";
import {
  MAX_REJECTIONS,
  type Batch,
  type EventRow,
  type ForwardRow,
  type RejectionRow,
  type Written,
} from "./event-batch.ts";

/** Entries that are not kept waiting for more: what comes in one burst would else be written only once all of it is read. */
const ENOUGH = 24;

export interface EventWriter extends EventLog {
  /** Resolves when all that was to be written has been. */
  readonly settled: () => Promise<void>;
}

/** One thing to write, and who waits for it. */
interface Entry {
  readonly row: EventRow | ForwardRow;
  readonly done: (written: Kept | null) => void;
  readonly failed: (error: unknown) => void;
}

/** `write` gives what became of each entry once that is durable: nobody is told before. */
export function createEventWriter(write: (batch: Batch) => Written[] | Promise<Written[]>): EventWriter {
  let waiting: Entry[] = [];
  let rejections: RejectionRow[] = [];
  let unkept = 0;
  let writing = Promise.resolve();
  const writeAll = (): void => {
    if (waiting.length + rejections.length === 0) return;
    const batch = { entries: waiting.map(({ row }) => row), rejections };
    const written = settle(waiting, async () => write(batch)).then(() => (unkept -= batch.rejections.length));
    writing = Promise.all([writing, written]).then(() => undefined);
    [waiting, rejections] = [[], []];
  };
  /** What arrives in one turn of the event loop is written together. */
  const schedule = (): void => {
    const count = waiting.length + rejections.length;
    if (count >= ENOUGH) writeAll();
    else if (count === 1) setImmediate(writeAll);
  };
  const enqueue = (row: Entry["row"]): Promise<Kept | null> =>
    new Promise((done, failed) => {
      waiting.push({ row, done, failed });
      schedule();
    });
  return {
    append: async (event) =>
      (await enqueue(eventRow(event))) ?? { repeated: false, first: event.id, taken: false },
    forwarded: async (first, forward) => void (await enqueue(forwardRow(first, forward))),
    reject: (rejection) => {
      // A flood of rubbish must not outgrow what would be kept of it anyway.
      if (unkept >= MAX_REJECTIONS) return;
      unkept += 1;
      rejections.push(rejectionRow(rejection));
      schedule();
    },
    settled: async () => {
      writeAll();
      await writing;
    },
  };
}

async function settle(entries: readonly Entry[], write: () => Promise<Written[]>): Promise<void> {
  try {
    const written = await write();
    entries.forEach(({ done, failed }, index) => {
      const one = written[index] ?? null;
      if (one !== null && "failed" in one) failed(new Error(one.failed));
      else done(one);
    });
  } catch (error) {
    for (const { failed } of entries) failed(error);
  }
}

function eventRow({ id, receivedAt, record, request, json }: NewEvent): EventRow {
  return {
    type: "event",
    id,
    uti: (record && textOf(record, "uti")) ?? "",
    receivedAt: receivedAt.getTime(),
    columns: [
      record === null ? "" : outcomeOf(record),
      (record && textOf(record, "reference")) ?? "",
      request.method,
      request.scheme,
      request.authority,
      request.target,
      json.headers,
      JSON.stringify(request.trailers ?? []),
      json.verdict,
    ],
    body: octets(request.body),
  };
}

function forwardRow(first: string, { at, target, status, ms, detail }: Forward): ForwardRow {
  return { type: "forward", columns: [first, at.getTime(), target, status, Math.round(ms), detail] };
}

function rejectionRow(rejection: Rejection): RejectionRow {
  const { id, receivedAt, code, status, detail, checks, request } = rejection;
  return {
    columns: [
      id,
      receivedAt.getTime(),
      code,
      status,
      detail,
      JSON.stringify(checks),
      request?.method ?? null,
      request?.scheme ?? null,
      request?.authority ?? null,
      request?.target ?? null,
      request === null ? null : JSON.stringify(request.headers),
      request === null ? null : JSON.stringify(request.trailers ?? []),
    ],
    body: request === null ? null : octets(request.body),
  };
}

const octets = (body: Uint8Array): string =>
  Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1");
