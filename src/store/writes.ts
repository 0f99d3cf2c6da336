/** The writes of an event store: plain values, which can be posted to a thread, made from events and rejections. */
import { scaledAmount } from "../domain/money.ts";
import { type TransactionRecord, amountIn, outcomeOf, textOf } from "../domain/transaction.ts";
import type {
  Backlog,
  Claim,
  ClaimRequest,
  Forward,
  NewEvent,
  PrintedAs,
  Rejection,
  Retry,
  RunKeys,
  Stored,
} from "../events/event.ts";
import { type EventTexts, textsOf } from "../events/event-json.ts";
import { recordNumber } from "../orders/order-number.ts";
import type { EventQuery } from "./event-query.ts";
import { SEALED, sealOf, sealText } from "./seal.ts";
import type { Row, Value } from "./sql.ts";
import { type Worth, worthOf } from "./rejection-worth.ts";

/** The columns that the values of a write are for. */
export const EVENT_COLUMNS = {
  events: [...SEALED, "seal"],
  actions: ["event", "at", "action", "actor"],
  attempts: ["event", "at", "target", "status", "ms", "detail", "failure", "reply", "reply_text", "replay"],
  rejections: ["id", "received_at", "worth", "code", "status", "detail", "verdict", "head", "body"],
};

export interface EventWrite extends EventTexts {
  readonly type: "event";
  readonly key: string;
  /** The keys of the run: it is a repeat of an event that one of them has verified. */
  readonly keys: RunKeys;
  /** How it is forwarded: claimed for this many milliseconds, or, with 0, as soon as a receiver has room. Null if it is not. */
  readonly lease: number | null;
  /** Its bytes must have been stored before. */
  readonly isKnown: boolean;
  /** The form of its line, which is made where it is stored. */
  readonly print: PrintedAs | null;
  /** Who has made it of a stored rejection, which verifies now. */
  readonly acceptedBy?: string;
}

export interface RejectionWrite {
  readonly type: "rejection";
  readonly worth: Worth;
  readonly code: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  readonly values: readonly Value[];
}

/** How an attempt of a claimed event ended. */
export interface EndWrite {
  readonly type: "end";
  readonly claim: Claim;
  /** When the attempt began, in milliseconds since 1970. */
  readonly at: number;
  readonly values: readonly Value[];
  readonly isAccepted: boolean;
  readonly retry: Retry | undefined;
}

/** An attempt that belongs to no claim. */
export interface ReplayWrite {
  readonly type: "replay";
  readonly event: string;
  readonly values: readonly Value[];
  /** Ends the delivery of the event. */
  readonly settles: boolean;
}

/** What an operator can order for an event: a new plan of attempts, whose first is due now, or that it is never forwarded. */
export type OperatorOrder = "retry" | "skip";

/** The events of an order, or which of all that wait or failed. */
export type Ordered = { readonly ids: readonly string[] } | EventQuery;

export interface OrderWrite {
  readonly type: "order";
  readonly order: OperatorOrder;
  readonly events: Ordered;
  /** Only events of these keys; null for those of any key. */
  readonly keys: RunKeys | null;
  readonly actor: string;
}

export type Write =
  | EventWrite
  | RejectionWrite
  | EndWrite
  | ReplayWrite
  | OrderWrite
  | ({ readonly type: "claim" } & ClaimRequest)
  /** Gives claimed events back, without an attempt. */
  | { readonly type: "release"; readonly claims: readonly Claim[] }
  /** Records that rejected requests, received until a time in milliseconds since 1970, were not stored because there was no room. */
  | { readonly type: "dropped"; readonly until: number }
  /** Deletes some of what was received before a time; repeat it until none is left. */
  | { readonly type: "prune"; readonly before: Date }
  /** Reads what waits. In a file it is read by the thread that writes, so that it delays no webhook. */
  | { readonly type: "backlog" };

/** What a write of each kind results in. */
export interface ResultOf {
  /** Of events and accepted rejections; undefined for an event that had to be known and is not. */
  readonly event: Stored | undefined;
  readonly rejection: undefined;
  readonly end: undefined;
  readonly replay: undefined;
  readonly release: undefined;
  readonly dropped: undefined;
  /** The events as they are read from the store. */
  readonly claim: readonly Row[];
  /** The events that it has changed. */
  readonly order: readonly string[];
  readonly prune: Pruned;
  readonly backlog: Backlog;
}

export type WriteResult = ResultOf[keyof ResultOf];

export interface Pruned {
  readonly events: number;
  readonly rejections: number;
}

export type SettledWrite = PromiseSettledResult<WriteResult>;

/** What the thread of SQLite answers to a group: a result for each write, or why nothing can be written. */
export type ThreadAnswer = { readonly results: readonly SettledWrite[] } | { readonly failure: string };

/**
 * The text as PostgreSQL can store it: without NUL and without half surrogate pairs, which have no UTF-8. JSON escapes
 * both, and the bytes of the body keep them.
 */
const storable = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();

/** An entry of an index takes at most a third of a page. The body keeps the whole text. */
export const indexed = (text: string): string => storable(text.slice(0, 500));

export function eventWrite(event: NewEvent, lease: number | undefined, isKnown = false): EventWrite {
  const texts = textsOf(event);
  if (texts.key === null) throw new Error("no key has verified the event");
  return {
    type: "event",
    ...texts,
    key: texts.key,
    keys: event.keys,
    // A thread would be sent the whole buffer that the body is a part of.
    body: new Uint8Array(event.request.body),
    lease: lease ?? null,
    isKnown,
    print: event.print ?? null,
  };
}

const indexedText = (record: TransactionRecord | null, name: "uti" | "cardPan"): string =>
  indexed((record && textOf(record, name)) ?? "");

export const storedUti = (record: TransactionRecord | null): string => indexedText(record, "uti");

export function eventValues(texts: EventWrite, record: TransactionRecord | null, digest: string): Value[] {
  const { id, receivedAt, key, verdict, target, body } = texts;
  const [path = ""] = target.split("?", 1);
  const [card = ""] = /\d{4}$/.exec(indexedText(record, "cardPan")) ?? [];
  const [outcome, currency, amount] = [outcomeOf(record), currencyParameter(record), amountParameter(record)];
  const row = {
    id,
    uti: storedUti(record),
    received_at: receivedAt,
    outcome,
    // As orders are compared: what looks the same is the same order.
    reference: indexed(recordNumber(record)),
    key,
    path: indexed(path),
    currency,
    amount,
    card,
    payment: sealText(outcome, currency, amount),
    verdict,
    head: storedHead(texts),
    digest,
    body,
  };
  return [...SEALED.map((name) => row[name]), sealOf(row)];
}

const currencyParameter = (record: TransactionRecord | null): string =>
  record === null ? "" : indexed(textOf(record, "transCurrencyCode") ?? "").slice(0, 3);

/** Null where it has none that can be added up. */
function amountParameter(record: TransactionRecord | null): number | null {
  const amount = record === null ? undefined : amountIn(record, "amountTrans");
  return amount === undefined ? null : (scaledAmount(amount) ?? null);
}

const storedHead = ({
  method,
  scheme,
  authority,
  target,
  headers,
}: Pick<EventTexts, "method" | "scheme" | "authority" | "target" | "headers">): string =>
  `{"method":${JSON.stringify(method)},"scheme":"${scheme}","authority":${JSON.stringify(authority)},"target":${JSON.stringify(target)},"headers":${headers}}`;

export const attemptValues = (
  event: string,
  { at, target, status, ms, detail, failure, reply }: Forward,
  isReplay: boolean,
): Value[] => [
  event,
  at.getTime(),
  storable(target),
  status,
  Math.round(ms),
  storable(detail),
  failure,
  reply && JSON.stringify(reply.headers),
  reply && storable(reply.text),
  Number(isReplay),
];

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
  const body =
    request === null || request.body.length > MAX_REJECTED_BODY ? null : new Uint8Array(request.body);
  const worth = worthOf({ request, verdict }, body !== null);
  return {
    type: "rejection",
    worth,
    code,
    receivedAt: receivedAt.getTime(),
    values: [
      id,
      receivedAt.getTime(),
      worth,
      code,
      status,
      storable(detail),
      JSON.stringify(verdict),
      request && storedHead({ ...request, headers: JSON.stringify(request.headers) }),
      body,
    ],
  };
}

/** The bytes that a rejection takes while it waits, about. */
export const writeSize = ({ values }: RejectionWrite): number =>
  values.reduce<number>(
    (size, value) => size + (typeof value === "string" || value instanceof Uint8Array ? value.length : 0),
    512,
  );
