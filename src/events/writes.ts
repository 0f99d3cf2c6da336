/** The writes of an event store: plain values, which can be posted to a thread, made from events, forwards and rejections. */
import { outcomeOf, textOf } from "../domain/transaction.ts";
import type { HttpRequest } from "../http/message.ts";
import type { Verdict } from "../signatures/verdict.ts";
import type { Order, Pruned, Wanted } from "../receiver/event-store.ts";
import type { Forward, ForwardPlan, NewEvent, Rejection, StoreResult } from "../receiver/events.ts";
import type { Row, Value } from "./dialects.ts";

const MESSAGE = ["method", "scheme", "authority", "target", "headers", "trailers", "body"];

/** The columns that the values of a write are for. */
export const COLUMNS = {
  events: ["id", "uti", "received_at", "outcome", "reference", "code", "warnings", "details", ...MESSAGE],
  forwards: ["event", "at", "target", "status", "ms", "detail"],
  rejections: ["id", "received_at", "code", "status", "detail", "checks", ...MESSAGE],
};

export interface EventWrite {
  readonly type: "event";
  readonly id: string;
  readonly uti: string;
  /** Milliseconds since 1970, as every time here. */
  readonly receivedAt: number;
  readonly reference: string;
  readonly outcome: string;
  readonly body: Uint8Array;
  /** Without the record and most of the verdict, which are read again from the message. */
  readonly values: readonly Value[];
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
  readonly status: number;
  readonly values: readonly Value[];
}

/** An attempt whose turn the queue has given. */
export interface AttemptWrite extends Omit<ForwardWrite, "type"> {
  readonly type: "attempt";
  readonly now: number;
  /** Milliseconds until the next attempt; null without a next attempt. */
  readonly retryAfter: number | null;
}

/** Asks the queue for events to forward. */
export interface ClaimWrite extends Wanted {
  readonly type: "claim";
  readonly owner: string;
  readonly now: number;
}

/** What an operator orders for events, by their ids. */
export interface OrderWrite {
  readonly type: "order";
  readonly order: Order;
  readonly events: readonly string[];
  readonly now: number;
}

export interface RejectionWrite {
  readonly type: "rejection";
  readonly values: readonly Value[];
}

/** Deletes some of the older events; repeat it until none is left. */
export interface PruneWrite {
  readonly type: "prune";
  readonly before: number;
}

export type Write =
  EventWrite | LookUp | ForwardWrite | AttemptWrite | ClaimWrite | OrderWrite | RejectionWrite | PruneWrite;

/** What a write tells; each member is of one kind of write. */
export interface Told {
  /** Of repeated deliveries and look-ups. */
  readonly state?: StoreResult | undefined;
  readonly claimed?: ClaimedRows;
  readonly pruned?: Pruned;
  /** The events that an order has changed. */
  readonly changed?: readonly string[];
}

export interface ClaimedRows {
  /** The events, as they are read from the store. */
  readonly rows: readonly Row[];
  /** Milliseconds until the next retry is due; undefined where none is planned. */
  readonly nextDue: number | undefined;
  /** The events that fail because they have had all attempts. */
  readonly failed: number;
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
  { id, receivedAt: received, record, verdict, request }: NewEvent,
  owner: string,
  plan: ForwardPlan | undefined,
): EventWrite {
  const uti = indexed((record && textOf(record, "uti")) ?? "");
  const reference = indexed((record && textOf(record, "reference")) ?? "");
  const outcome = outcomeOf(record);
  const receivedAt = received.getTime();
  // A copy: a view would be posted to the thread with all of its buffer.
  const body = new Uint8Array(request.body);
  const verdictValues = [verdict.code, verdict.warnings.join(), verdictText(verdict)];
  return {
    type: "event",
    id,
    uti,
    receivedAt,
    reference,
    outcome,
    body,
    values: [id, uti, receivedAt, outcome, reference, ...verdictValues, ...headValues(request), body],
    owner,
    claimUntil: plan instanceof Date ? plan.getTime() : null,
    queued: plan === "queue",
  };
}

const verdictText = (verdict: Verdict | null): string => storable(JSON.stringify(verdict));

const headValues = ({ method, scheme, authority, target, headers, trailers = [] }: HttpRequest): Value[] => [
  method,
  scheme,
  storable(authority),
  storable(target),
  JSON.stringify(headers),
  JSON.stringify(trailers),
];

export function forwardWrite(first: string, forward: Forward, owner: string): ForwardWrite {
  const { at, target, ms, detail } = forward;
  const status = forward.status ?? NO_ANSWER;
  const values = [first, at.getTime(), storable(target), status, Math.round(ms), storable(detail)];
  return { type: "forward", first, owner, status, values };
}

export function rejectionWrite({ request, ...rejection }: Rejection): RejectionWrite {
  const { id, receivedAt, code, status, detail, verdict } = rejection;
  const message =
    request === null ? MESSAGE.map(() => null) : [...headValues(request), new Uint8Array(request.body)];
  const values = [id, receivedAt.getTime(), code, status, storable(detail), verdictText(verdict), ...message];
  return { type: "rejection", values };
}
