/** The writes of an event store: plain values, which can be posted to a thread, made from events, attempts and rejections. */
import { scaledAmount } from "../domain/money.ts";
import { amountIn, outcomeOf, textOf, type TransactionRecord } from "../domain/transaction.ts";
import { fieldLines, type HttpRequest } from "../http/message.ts";
import {
  type Backlog,
  type Forward,
  isAccepted,
  type NewEvent,
  type Rejection,
  type Stored,
} from "../receiver/events.ts";
import type { Row, Value } from "./dialects.ts";

/** The columns that the values of a write are for. */
export const COLUMNS = {
  events: ["id", "uti", "received_at", "outcome", "reference", "verdict", "head", "body"],
  attempts: ["event", "at", "target", "status", "ms", "detail", "replay"],
  rejections: ["id", "received_at", "signed", "code", "status", "detail", "verdict", "head", "body"],
};

export interface EventWrite {
  readonly type: "event";
  readonly id: string;
  /** Milliseconds since 1970, as every time here. */
  readonly receivedAt: number;
  readonly body: Uint8Array;
  readonly values: readonly Value[];
  /** How it is forwarded: claimed for so many milliseconds, or, with 0, as soon as a receiver has room. Null if it is not. */
  readonly lease: number | null;
  /** What its delivery has besides: outcome, currency and amount. */
  readonly payment: readonly Value[];
  /** Its bytes must have been stored before. */
  readonly isKnown: boolean;
}

/** How an attempt of a claimed event ended. */
export interface EndWrite {
  readonly type: "end";
  readonly event: string;
  /** The attempt's number, as it was claimed. */
  readonly attempt: number;
  readonly values: readonly Value[];
  readonly isAccepted: boolean;
  /** Milliseconds until the next attempt; null without one. */
  readonly retryAfter: number | null;
}

/** Gives claimed events back, without an attempt. */
export interface ReleaseWrite {
  readonly type: "release";
  readonly claims: readonly Claim[];
}

/** An attempt that belongs to no claim. */
export interface ReplayWrite {
  readonly type: "replay";
  readonly event: string;
  readonly values: readonly Value[];
  /** Ends the delivery of the event. */
  readonly settles: boolean;
  readonly payment: readonly Value[];
}

/** What identifies an attempt. */
export interface Claim {
  readonly id: string;
  readonly attempt: number;
}

/** Asks for events that are due. */
export interface ClaimWrite {
  readonly type: "claim";
  readonly limit: number;
  readonly outcomes: readonly string[];
  readonly lease: number;
}

/** What an operator can order for an event: a new plan of attempts, whose first is due now, or that it is never forwarded. */
export type Order = "retry" | "skip";

export interface OrderWrite {
  readonly type: "order";
  readonly order: Order;
  /** The events, or which of all that wait or failed. */
  readonly events: { readonly ids: readonly string[] } | Selection;
  readonly actor: string;
}

/** Which events, by the columns that lists filter by. */
export interface Selection {
  readonly outcome?: string | undefined;
  /** A part of the reference. */
  readonly reference?: string | undefined;
  /** The order number: the reference, or what is before its suffix. */
  readonly order?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** Makes an event of a stored rejection, which verifies now. */
export interface AcceptWrite extends Omit<EventWrite, "type"> {
  readonly type: "accept";
  readonly actor: string;
}

export interface RejectionWrite {
  readonly type: "rejection";
  readonly isSigned: boolean;
  readonly values: readonly Value[];
}

/** Deletes some of what was received before a time; repeat it until none is left. */
export interface PruneWrite {
  readonly type: "prune";
  readonly before: number;
}

/** Remembers one value by its name. */
export interface FactWrite {
  readonly type: "fact";
  readonly name: string;
  readonly value: string;
}

/** Reads what waits. In a file it is read by the thread that writes, so that it delays no webhook. */
export interface BacklogRead {
  readonly type: "backlog";
}

export type Write =
  | EventWrite
  | EndWrite
  | ReleaseWrite
  | ReplayWrite
  | ClaimWrite
  | OrderWrite
  | AcceptWrite
  | RejectionWrite
  | PruneWrite
  | FactWrite
  | BacklogRead;

/** What a write tells; each member is of one kind of write. */
export interface Told {
  /** Of events and accepted rejections; undefined for an event that had to be known and is not. */
  readonly stored?: Stored | undefined;
  /** Of claims: the events as they are read from the store. */
  readonly claimed?: readonly Row[];
  readonly pruned?: Pruned;
  /** The events that an order has changed. */
  readonly changed?: readonly string[];
  readonly backlog?: Backlog;
}

export interface Pruned {
  readonly events: number;
  readonly rejections: number;
}

export type WriteResult = PromiseSettledResult<Told>;

/** What the thread of SQLite answers to a group. */
export interface ThreadAnswer {
  readonly results: readonly WriteResult[];
  /** Why the whole group failed; undefined if it did not. */
  readonly failure?: string;
}

/**
 * The text as PostgreSQL can store it: without NUL and without half surrogate pairs, which have no UTF-8. JSON escapes
 * both, and the bytes of the body keep them.
 */
const storable = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();

/** An entry of an index takes at most a third of a page. The body keeps the whole text. */
const indexed = (text: string): string => storable(text.slice(0, 500));

export function eventWrite(
  { id, receivedAt: received, record, verdict, request }: NewEvent,
  lease: number | undefined,
  isKnown = false,
): EventWrite {
  const text = (name: "uti" | "reference"): string => indexed((record && textOf(record, name)) ?? "");
  const receivedAt = received.getTime();
  // A copy: a view would be posted to the thread with all of its buffer.
  const body = new Uint8Array(request.body);
  return {
    type: "event",
    id,
    receivedAt,
    body,
    values: [
      id,
      text("uti"),
      receivedAt,
      outcomeOf(record),
      text("reference"),
      storable(JSON.stringify(verdict)),
      headOf(request),
      body,
    ],
    lease: lease ?? null,
    payment: paymentOf(record),
    isKnown,
  };
}

/** Outcome, currency, and the amount that was approved: no other is money that an application misses. */
function paymentOf(record: TransactionRecord | null): Value[] {
  const outcome = outcomeOf(record);
  const isApproved = outcome === "APPROVED" || outcome === "PARTIALLY_APPROVED";
  const amount = record === null || !isApproved ? undefined : amountIn(record, "amountTrans");
  const currency = record === null ? "" : indexed(textOf(record, "transCurrencyCode") ?? "").slice(0, 3);
  return [outcome, currency, (amount && scaledAmount(amount)) ?? null];
}

export const acceptWrite = (event: NewEvent, actor: string): AcceptWrite => ({
  ...eventWrite(event, 0),
  type: "accept",
  actor,
});

const headOf = ({ method, scheme, authority, target, headers }: HttpRequest): string =>
  JSON.stringify({ method, scheme, authority, target, headers });

const attemptValues = (
  event: string,
  { at, target, status, ms, detail }: Forward,
  isReplay: boolean,
): Value[] => [
  event,
  at.getTime(),
  storable(target),
  status,
  Math.round(ms),
  storable(detail),
  Number(isReplay),
];

export const endWrite = (
  { id, attempt }: Claim,
  forward: Forward,
  retryAfter: number | undefined,
): EndWrite => ({
  type: "end",
  event: id,
  attempt,
  values: attemptValues(id, forward, false),
  isAccepted: isAccepted(forward.status),
  retryAfter: retryAfter ?? null,
});

export const replayWrite = (
  event: string,
  forward: Forward,
  settles: boolean,
  record: TransactionRecord | null,
): ReplayWrite => ({
  type: "replay",
  event,
  values: attemptValues(event, forward, true),
  settles: settles && isAccepted(forward.status),
  payment: paymentOf(record),
});

/** The most bytes of a rejected body that are stored. */
const MAX_REJECTED_BODY = 64 * 1024;

export function rejectionWrite({
  id,
  receivedAt,
  code,
  status,
  detail,
  verdict,
  request,
}: Rejection): RejectionWrite {
  const isSigned = request !== null && fieldLines(request.headers, "signature").length > 0;
  const body =
    request === null || request.body.length > MAX_REJECTED_BODY ? null : new Uint8Array(request.body);
  return {
    type: "rejection",
    isSigned,
    values: [
      id,
      receivedAt.getTime(),
      Number(isSigned),
      code,
      status,
      storable(detail),
      storable(JSON.stringify(verdict)),
      request === null ? null : headOf(request),
      body,
    ],
  };
}

/** The bytes that a write takes while it waits, about. */
export function sizeOf(write: Write): number {
  const values: readonly Value[] = "values" in write ? write.values : [];
  let size = 512;
  for (const value of values)
    if (typeof value === "string" || value instanceof Uint8Array) size += value.length;
  return size;
}
