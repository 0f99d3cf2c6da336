/** Rows of the event tables, of SQLite and PostgreSQL alike, parsed into stored events, rejections, arrivals and forwards. */
import * as z from "zod/mini";
import { type HttpRequest, withBody } from "../http/message.ts";
import { messageOf } from "../domain/system-reason.ts";
import type { Arrival, DamagedEvent, Queued, StoredEvent, StoredRejection } from "../receiver/event-store.ts";
import type { Forward } from "../receiver/events.ts";
import type { Row } from "./dialects.ts";
import { rejectionVerdictColumn, verdictColumn } from "./stored-verdict.ts";
import { NO_ANSWER } from "./writes.ts";

const headers = z.array(z.readonly(z.tuple([z.string(), z.string()])));
const time = z.pipe(
  z.number(),
  z.transform((milliseconds) => new Date(milliseconds)),
);
const json = <T extends z.ZodMiniType>(schema: T) =>
  z.pipe(
    z.pipe(
      z.string(),
      z.transform((text): unknown => JSON.parse(text)),
    ),
    schema,
  );
const messageRow = z.object({
  method: z.string(),
  scheme: z.enum(["http", "https"]),
  authority: z.string(),
  target: z.string(),
  headers: json(headers),
  trailers: json(headers),
  body: z.instanceof(Uint8Array),
});
const eventRow = z.object({
  id: z.string(),
  uti: z.string(),
  received_at: time,
  outcome: z.string(),
  reference: z.string(),
  details: verdictColumn,
  repeats: z.number(),
  accepted: z.number(),
  attempted: z.number(),
});
/** All are null where the event is not in the queue. */
const queuedRow = z.object({
  attempts: z.nullable(z.number()),
  due: z.nullable(z.number()),
  skipped: z.nullable(time),
});
/** What is needed of an event to take it out of the queue. A rejection has no uti. */
const nameRow = z.object({ id: z.string(), uti: z._default(z.string(), "") });
const rejectionRow = z.object({
  id: z.string(),
  received_at: time,
  code: z.string(),
  status: z.number(),
  detail: z.string(),
  checks: rejectionVerdictColumn,
});
const arrivalRow = z.object({ id: z.string(), received_at: time });
const forwardRow = z.object({
  at: time,
  target: z.string(),
  status: z.pipe(
    z.number(),
    z.transform((status) => (status === NO_ANSWER ? null : status)),
  ),
  ms: z.number(),
  detail: z.string(),
});

export function eventFromRow(row: Row): StoredEvent {
  const parsed = eventRow.parse(row);
  const { received_at: receivedAt, accepted, attempted, details: verdict, ...rest } = parsed;
  const request = requestFromRow(row);
  const queued = queuedFromRow(row);
  const failed = attempted > 0 && accepted === 0 && (queued?.state ?? "failed") === "failed";
  return { type: "event", receivedAt, accepted: accepted > 0, failed, ...rest, verdict, queued, request };
}

function queuedFromRow(row: Row): Queued | null {
  const { attempts, due, skipped } = queuedRow.parse(row);
  if (attempts === null) return null;
  if (skipped !== null) return { state: "skipped", attempts, next: null, skippedAt: skipped };
  return {
    state: due === null ? "failed" : "pending",
    attempts,
    next: due === null || attempts === 0 ? null : new Date(due),
  };
}

/** An event of the queue that is damaged must not stop those behind it. */
export function queuedEventFromRow(row: Row): StoredEvent | DamagedEvent {
  try {
    return eventFromRow(row);
  } catch (error) {
    return { type: "damaged", ...nameRow.parse(row), queued: queuedFromRow(row), reason: damageOf(error) };
  }
}

/** A rejection that is damaged must not stop those behind it either. */
export function followedRejectionFromRow(row: Row): StoredRejection | DamagedEvent {
  try {
    return rejectionFromRow(row);
  } catch (error) {
    return { type: "damaged", ...nameRow.parse(row), queued: null, reason: damageOf(error) };
  }
}

const damageOf = (error: unknown): string =>
  error instanceof z.core.$ZodError
    ? `it has no valid ${error.issues.map(({ path }) => path.join(".")).join(", ")}`
    : messageOf(error);

export function rejectionFromRow(row: Row): StoredRejection {
  const { received_at: receivedAt, checks: verdict, ...rest } = rejectionRow.parse(row);
  const request = row["method"] === null ? null : requestFromRow(row);
  return { type: "rejected", receivedAt, ...rest, verdict, request };
}

export function arrivalFromRow(row: Row): Arrival {
  const { id, received_at: receivedAt } = arrivalRow.parse(row);
  return { id, receivedAt };
}

export const forwardFromRow = (row: Row): Forward => forwardRow.parse(row);

export function requestFromRow(row: Row): HttpRequest {
  const { body, trailers, ...head } = messageRow.parse(row);
  return withBody(head, body, trailers);
}
