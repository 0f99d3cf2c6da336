/** What the receiver reports: verified webhooks, rejected requests, their ids, the log that stores both, and an event as a line of JSON. */
import {
  type ReadRecord,
  type RecordSummary,
  summaryOf,
  type TransactionRecord,
} from "../domain/transaction.ts";
import { type HeaderLine, type HttpRequest, targetUri } from "../http/message.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { stringifyJson } from "../domain/json.ts";

/** A webhook that the receiver accepted: verified, unless it also accepts unverified ones. */
export interface WebhookEvent extends ReadRecord {
  readonly type: "event";
  readonly id: string;
  readonly receivedAt: Date;
  /** The same record was received before. */
  readonly repeated: boolean;
  readonly verdict: Verdict;
  readonly request: HttpRequest;
}

/** An event that was just verified: only the log knows whether it is a repeat. */
export type NewEvent = Omit<WebhookEvent, "repeated">;

/** 36^8 milliseconds last until the year 2059. */
const TIME_LENGTH = 8;
const NUMBER_LENGTH = 6;
const NUMBERS = 36 ** NUMBER_LENGTH;

/**
 * Makes the ids of events: short enough to read aloud, and sorted by arrival. The time and a counter. Two equal ids would lose a webhook, since a log refuses a repeated id. The counter starts at a
 * random number, because another process may write to the same log.
 */
export function createEventIds({
  now,
  newId,
}: {
  readonly now: () => Date;
  readonly newId: () => string;
}): () => string {
  let number = Number.parseInt(newId().slice(0, 8), 16);
  return () => {
    number = (number + 1) % NUMBERS;
    return inDigits(now().getTime(), TIME_LENGTH) + inDigits(number, NUMBER_LENGTH);
  };
}

const inDigits = (value: number, length: number): string => value.toString(36).padStart(length, "0");

/** A request that was rejected. */
export interface Rejection {
  readonly type: "rejected";
  readonly id: string;
  readonly receivedAt: Date;
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  /** Null where the signature was not looked at. */
  readonly verdict: Verdict | null;
  readonly hint?: string;
  /** The part that was read: without a body if the head alone was rejected, null if it was not an HTTP request. */
  readonly request: HttpRequest | null;
}

/** One attempt to forward an event, and how the application answered. */
export interface Forward {
  readonly at: Date;
  readonly target: string;
  /** The application's status; null if it did not answer. */
  readonly status: number | null;
  readonly ms: number;
  /** The beginning of the application's answer, or why there was none; empty for a 2xx. */
  readonly detail: string;
  /** Milliseconds since the signature was made, where that is probably why the application refused it. Not stored. */
  readonly signatureAge?: number;
}

/** The application accepts an event with any 2xx. */
export const isAccepted = (status: number | null): boolean =>
  status !== null && status >= 200 && status < 300;

/** What the log knows about a stored event. */
export interface StoreResult {
  readonly repeated: boolean;
  /** The id of the first delivery, to which all repeats and forwards of the event belong. */
  readonly first: string;
  /** The application has already accepted the event, or an operator has skipped it: it is not forwarded again. */
  readonly accepted: boolean;
  /** The log of another listener has claimed the event and is forwarding it. */
  readonly claimedElsewhere: boolean;
  /** The status of the last attempt to forward it; undefined without an attempt or an answer. */
  readonly answered: number | undefined;
}

/** What a log knows about an event that it has not stored before. */
export const firstDelivery = (id: string): StoreResult => ({
  repeated: false,
  first: id,
  accepted: false,
  claimedElsewhere: false,
  answered: undefined,
});

/** How an event is forwarded: by the receiver that stores it, which claims it until a time, or from the queue. */
export type ForwardPlan = Date | "queue";

/** Where the receiver stores events: the writing half of an `EventStore`. */
export interface EventLog {
  /**
   * Resolves once the event is durable; rejects if it is not stored. With a time, it is also claimed, unless another log
   * has claimed it: no other log forwards it until that time or `forwarded`. With "queue", it is also added to the queue,
   * unless the application has accepted it.
   */
  append(event: NewEvent, plan?: ForwardPlan): Promise<StoreResult>;
  /** The present state of an event, named by the id of its first delivery. */
  lookUp(first: string, now: Date): Promise<StoreResult>;
  /** Resolves once the rejection is stored; rejects if it is not. */
  reject(rejection: Rejection): Promise<void>;
  /** Resolves once an attempt to forward the event with this first delivery is durable. Accepted events leave the queue. */
  forwarded(first: string, forward: Forward): Promise<void>;
}

/** How much the line of JSON matters to somebody who reads a log. */
export type Level = "info" | "warning" | "error";

/** An event as `listen --json` prints it: enough to verify it again. With `--compact`, record and body are left out. */
export interface EventLine extends RecordSummary {
  readonly type: "event";
  readonly at: Date;
  readonly level: Level;
  readonly id: string;
  readonly receivedAt: Date;
  readonly repeated: boolean;
  readonly verdict: Verdict;
  readonly record?: TransactionRecord | null;
  readonly method: string;
  /** The absolute URI; the target alone if the message names no authority that can be trusted. */
  readonly url: string;
  readonly headers: readonly HeaderLine[];
  readonly trailers?: readonly HeaderLine[];
  readonly bodyBase64?: string;
}

/** Any other line of `listen --json`. Every one says when it was and how much it matters. */
export const jsonLine = (
  type: string,
  at: Date,
  members: Readonly<Record<string, unknown>>,
  level: Level = "info",
): string => JSON.stringify({ type, ...members, at, level });

/** The check that refused a request; undefined where its signature verified, and something else was wrong. */
export const failedCheck = (verdict: Rejection["verdict"]): string | undefined =>
  verdict === null ? "http" : verdict.failure?.check;

export function rejectionLine({
  type,
  id,
  receivedAt,
  code,
  status,
  detail,
  verdict,
  hint,
}: Omit<Rejection, "request">): string {
  const check = failedCheck(verdict);
  return jsonLine(type, receivedAt, { id, receivedAt, code, status, detail, check, hint }, "warning");
}

type Members = Partial<Record<keyof EventLine, unknown>>;

export const levelOf = ({ verdict }: WebhookEvent): Level =>
  verdict.verdict === "valid" ? "info" : "warning";

/** The text of an `EventLine`. It is joined from parts: the largest, record and body, exist as text already. */
export function eventLine(event: WebhookEvent, isCompact = false): string {
  const { type, id, receivedAt, repeated, verdict, request } = event;
  const { method, headers, trailers, body } = request;
  const { outcome, reason, violations, ...members } = summaryOf(event);
  const url = urlOf(request);
  const at = receivedAt;
  const level = levelOf(event);
  const head = JSON.stringify({ type, id, receivedAt, at, level, outcome, reason } satisfies Members);
  const rest = { violations, repeated, verdict, method, url, headers, trailers } satisfies Members;
  const line = `${head.slice(0, -1)},${stringifyJson(members).slice(1, -1)},${JSON.stringify(rest).slice(1)}`;
  if (isCompact) return line;
  return `${line.slice(0, -1)},"record":${recordText(event)},"bodyBase64":"${bytes(body).toString("base64")}"}`;
}

const urlOf = (request: HttpRequest): string =>
  request.authority === "" ? request.target : targetUri(request);

/** A request in the form that `verify` reads: the members that an `EventLine` has of it. */
export function requestDocument(request: HttpRequest) {
  const { method, headers, trailers, body } = request;
  return { method, url: urlOf(request), headers, trailers, bodyBase64: bytes(body).toString("base64") };
}

/** The record as one line: the text of the body, if it is the record. In JSON, line breaks are only between tokens. */
function recordText({ record, isWhole, request }: WebhookEvent): string {
  if (!isWhole) return stringifyJson(record);
  return bytes(request.body)
    .toString("utf8")
    .replace(/[\r\n]+/g, " ");
}

/** A record that is no event, in the same members. */
export const recordLine = (read: Pick<ReadRecord, "record" | "violations">): string =>
  stringifyJson({ ...summaryOf(read), record: read.record });

const bytes = (body: Uint8Array): Buffer => Buffer.from(body.buffer, body.byteOffset, body.byteLength);
