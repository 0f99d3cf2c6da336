/** The writes of an event store: plain values, which can be posted to a thread, made from events, forwards and rejections. */
import { outcomeOf, textOf } from "../domain/transaction.ts";
import type { HttpRequest } from "../http/message.ts";
import type { Pruned } from "../receiver/event-store.ts";
import type { Forward, ForwardPlan, NewEvent, Rejection, StoreResult } from "../receiver/events.ts";
import type { Row } from "./dialects.ts";
import { storedVerdict } from "./stored-verdict.ts";

export interface StoredMessage {
  readonly method: string;
  readonly scheme: string;
  readonly authority: string;
  readonly target: string;
  /** Header lines and trailers as JSON. */
  readonly headers: string;
  readonly trailers: string;
  readonly body: Uint8Array;
}

/** Without the record and most of the verdict, which are read again from the message. */
export interface EventWrite extends StoredMessage {
  readonly type: "event";
  readonly id: string;
  readonly uti: string;
  /** Milliseconds since 1970, as every time here. */
  readonly receivedAt: number;
  readonly outcome: string;
  readonly reference: string;
  readonly code: string;
  /** Their names, separated by commas. */
  readonly warnings: string;
  /** As JSON. */
  readonly details: string;
  /** The store that writes. */
  readonly owner: string;
  /** The time until which it claims the event; null if it does not forward it at once. */
  readonly claimUntil: number | null;
  /** The event is to be forwarded from the queue. */
  readonly queued: boolean;
}

/** Writes nothing, and has the same result as another delivery of the event. */
export interface LookUp {
  readonly type: "look-up";
  readonly first: string;
  readonly owner: string;
  readonly now: number;
}

/** An attempt to forward an event. */
export interface ForwardWrite {
  readonly type: "forward";
  /** The id of the first delivery. */
  readonly first: string;
  readonly owner: string;
  readonly at: number;
  readonly target: string;
  readonly status: number;
  readonly ms: number;
  readonly detail: string;
}

/** An attempt whose turn the queue has given. */
export interface AttemptWrite extends Omit<ForwardWrite, "type"> {
  readonly type: "attempt";
  readonly now: number;
  /** Milliseconds until the next attempt; null without a next attempt. */
  readonly retryAfter: number | null;
}

/** Asks the queue for events to forward. */
export interface ClaimWrite {
  readonly type: "claim";
  readonly owner: string;
  readonly now: number;
  /** How long the claims last, in milliseconds. */
  readonly duration: number;
  /** The most events to claim. */
  readonly limit: number;
  /** The events whose claims are renewed. */
  readonly held: readonly string[];
  /** The delays that retries are held to, as in `Wanted`. */
  readonly delays?: readonly number[] | undefined;
}

export interface RejectionWrite {
  readonly type: "rejection";
  readonly id: string;
  readonly receivedAt: number;
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  /** As JSON. */
  readonly checks: string;
  /** Null if it was not an HTTP request. */
  readonly message: StoredMessage | null;
}

/** Deletes some of the older events; repeat it until none is left. */
export interface PruneWrite {
  readonly type: "prune";
  readonly before: number;
}

export type Write =
  EventWrite | LookUp | ForwardWrite | AttemptWrite | ClaimWrite | RejectionWrite | PruneWrite;

/** What a write tells; each member is of one kind of write. */
export interface Told {
  /** Of repeated deliveries and look-ups. */
  readonly state?: StoreResult | undefined;
  readonly claimed?: ClaimedRows;
  readonly pruned?: Pruned;
}

export interface ClaimedRows {
  /** The events, as they are read from the store. */
  readonly rows: readonly Row[];
  /** Milliseconds until the next retry is due; undefined where none is planned. */
  readonly nextDue: number | undefined;
}

export type WriteResult = PromiseSettledResult<Told>;

/** The results of a group; "moved" if its files were removed or replaced, and it must be written again. */
export type GroupAnswer = readonly WriteResult[] | "moved";

/** The stored status of a forward that the application did not answer. */
export const NO_ANSWER = 0;

/**
 * The text as PostgreSQL can store it: without NUL and without half surrogate pairs, which have no UTF-8. JSON escapes
 * both, and the bytes of the body keep them.
 */
const storable = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();

/** An entry of an index takes at most a third of a page. The body keeps the whole text. */
export const indexed = (text: string): string => storable(text.slice(0, 500));

export function eventWrite(
  { id, receivedAt, record, verdict, request }: NewEvent,
  owner: string,
  plan: ForwardPlan | undefined,
): EventWrite {
  const { code, warnings, details } = storedVerdict(verdict);
  return {
    type: "event",
    id,
    uti: indexed((record && textOf(record, "uti")) ?? ""),
    receivedAt: receivedAt.getTime(),
    outcome: outcomeOf(record),
    reference: indexed((record && textOf(record, "reference")) ?? ""),
    code,
    warnings: warnings.join(),
    details: storable(JSON.stringify(details)),
    ...messageOf(request),
    owner,
    claimUntil: plan instanceof Date ? plan.getTime() : null,
    queued: plan === "queue",
  };
}

export const forwardValues = (
  first: string,
  { at, target, status, ms, detail }: Forward,
  owner: string,
): Omit<ForwardWrite, "type"> => ({
  first,
  owner,
  at: at.getTime(),
  target: storable(target),
  status: status ?? NO_ANSWER,
  ms: Math.round(ms),
  detail: storable(detail),
});

export const rejectionWrite = ({
  id,
  receivedAt,
  code,
  status,
  detail,
  checks,
  request,
}: Rejection): RejectionWrite => ({
  type: "rejection",
  id,
  receivedAt: receivedAt.getTime(),
  code,
  status,
  detail: storable(detail),
  checks: JSON.stringify(checks),
  message: request && messageOf(request),
});

function messageOf(request: HttpRequest): StoredMessage {
  const { method, scheme, authority, target, headers, trailers = [], body } = request;
  return {
    method,
    scheme,
    authority: storable(authority),
    target: storable(target),
    headers: JSON.stringify(headers),
    trailers: JSON.stringify(trailers),
    // A copy: a view would be posted to the thread with all of its buffer.
    body: new Uint8Array(body),
  };
}
