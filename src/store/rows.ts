/** Rows of the event tables, of SQLite and PostgreSQL alike, parsed into stored events, rejections, arrivals and attempts. */
import * as z from "zod/mini";
import { messageOf } from "../domain/system-reason.ts";
import { readRecord, type ReadRecord } from "../domain/transaction.ts";
import { withBody } from "../http/message.ts";
import type { Claimed, DeliveryState, Forward, Rejection, WebhookEvent } from "../receiver/events.ts";
import type { Row } from "./dialects.ts";
import { rejectionVerdictColumn, verdictColumn } from "./stored-verdict.ts";

/** What becomes of an event that is forwarded. */
export interface Delivery {
  readonly state: DeliveryState;
  /** The attempts so far, without replays. */
  readonly attempts: number;
  /** An attempt is under way. */
  readonly isTrying: boolean;
  /** When the next attempt is due; null if an attempt is under way, or none follows. */
  readonly next: Date | null;
}

/** An event as it is stored. The record is not stored again beside the body that holds it. */
export type StoredEvent = Omit<WebhookEvent, "repeated" | keyof ReadRecord> & {
  readonly uti: string;
  readonly outcome: string;
  readonly reference: string;
  /** How often it was delivered after the first time. */
  readonly repeats: number;
  /** Null if it is forwarded nowhere. */
  readonly delivery: Delivery | null;
};

/** The event with its record, which is read again from the body. */
export const asReceived = ({ type, id, receivedAt, verdict, request }: StoredEvent): WebhookEvent => ({
  type,
  id,
  receivedAt,
  repeated: false,
  verdict,
  request,
  ...readRecord(request.body),
});

export type StoredRejection = Omit<Rejection, "hint">;

/** A row that cannot be read back, because it does not hold what paylink wrote. */
export interface DamagedRow {
  readonly type: "damaged";
  readonly id: string;
  readonly reason: string;
}

/** One more delivery of an event that was already stored. */
export interface Arrival {
  readonly id: string;
  readonly receivedAt: Date;
}

/** An attempt as it is stored. */
export interface StoredAttempt extends Forward {
  /** `events replay` made it. */
  readonly isReplay: boolean;
}

/** What an operator did to an event. */
export interface Action {
  readonly at: Date;
  readonly action: "retry" | "skip" | "accept";
  /** The user of the system. */
  readonly actor: string;
}

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
const head = json(
  z.object({
    method: z.string(),
    scheme: z.enum(["http", "https"]),
    authority: z.string(),
    target: z.string(),
    headers: z.array(z.readonly(z.tuple([z.string(), z.string()]))),
  }),
);
const eventRow = z.object({
  id: z.string(),
  uti: z.string(),
  received_at: time,
  outcome: z.string(),
  reference: z.string(),
  verdict: verdictColumn,
  head,
  body: z.instanceof(Uint8Array),
  repeats: z.number(),
  state: z.nullable(z.string()),
  due: z.nullable(z.number()),
  attempts: z.number(),
});
const rejectionRow = z.object({
  id: z.string(),
  received_at: time,
  code: z.string(),
  status: z.number(),
  detail: z.string(),
  verdict: rejectionVerdictColumn,
  head: z.nullable(head),
  body: z.nullable(z.instanceof(Uint8Array)),
});
const arrivalRow = z.object({ id: z.string(), received_at: time });
const attemptRow = z.object({
  at: time,
  target: z.string(),
  status: z.nullable(z.number()),
  ms: z.number(),
  detail: z.string(),
  replay: z.number(),
});
const actionRow = z.object({ at: time, action: z.enum(["retry", "skip", "accept"]), actor: z.string() });

const NOTHING = new Uint8Array();

/** An event that is claimed is `trying`, until the end of the attempt is written. */
export function stateOf(state: unknown): DeliveryState | null {
  if (state === "trying") return "pending";
  return STATES.find((one) => one === state) ?? null;
}

const STATES: readonly DeliveryState[] = ["pending", "delivered", "failed", "skipped"];

export function eventFromRow(row: Row): StoredEvent {
  const parsed = eventRow.parse(row);
  const { id, uti, outcome, reference, repeats, state: text, due, attempts } = parsed;
  const state = stateOf(text);
  const isTrying = text === "trying";
  return {
    type: "event",
    id,
    receivedAt: parsed.received_at,
    uti,
    outcome,
    reference,
    repeats,
    delivery:
      state === null
        ? null
        : { state, attempts, isTrying, next: due === null || isTrying ? null : new Date(due) },
    verdict: parsed.verdict,
    request: withBody(parsed.head, parsed.body),
  };
}

export function rejectionFromRow(row: Row): StoredRejection {
  const { received_at: receivedAt, head, body, verdict, ...rest } = rejectionRow.parse(row);
  return {
    type: "rejected",
    receivedAt,
    ...rest,
    verdict,
    request: head && withBody(head, body ?? NOTHING),
  };
}

/** A row that is damaged must not stop those behind it. */
export const orDamaged =
  <T>(convert: (row: Row) => T) =>
  (row: Row): T | DamagedRow => {
    try {
      return convert(row);
    } catch (error) {
      return { type: "damaged", id: String(row["id"]), reason: damageOf(error) };
    }
  };

/** `row` is that of the event, or its id alone if the event is gone. */
export function claimedFromRow(row: Row): Claimed {
  const { id, attempt, made } = z
    .object({ id: z.string(), attempt: z.number(), made: z.number() })
    .parse(row);
  const event = orDamaged(eventFromRow)(row);
  return { id, attempt, made, event: event.type === "damaged" ? { damage: event.reason } : event };
}

const damageOf = (error: unknown): string =>
  error instanceof z.core.$ZodError
    ? `it has no valid ${error.issues.map(({ path }) => path.join(".")).join(", ")}`
    : messageOf(error);

export function arrivalFromRow(row: Row): Arrival {
  const { id, received_at: receivedAt } = arrivalRow.parse(row);
  return { id, receivedAt };
}

export function attemptFromRow(row: Row): StoredAttempt {
  const { replay, ...forward } = attemptRow.parse(row);
  return { ...forward, isReplay: replay !== 0 };
}

export const actionFromRow = (row: Row): Action => actionRow.parse(row);
