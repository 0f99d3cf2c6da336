/** What the receiver reports: verified webhooks, rejected requests, their ids, the log that stores both, and an event as a line of JSON. */
import { type ReadRecord, summaryOf } from "../domain/transaction.ts";
import { type HttpRequest, targetUri } from "../http/message.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { stringifyJson } from "../domain/json.ts";

/** A webhook that the receiver accepted: verified, unless it also accepts unverified ones. */
export interface WebhookEvent {
  readonly type: "event";
  readonly id: string;
  readonly receivedAt: Date;
  /** The same record was received before. */
  readonly repeated: boolean;
  readonly verdict: Verdict;
  readonly request: HttpRequest;
  readonly content: ReadRecord;
  /** How it is printed as JSON, if it is. */
  readonly print?: PrintedAs | undefined;
  /** Its line, where the store has made it. */
  readonly line?: string | undefined;
}

/** The forms of an event's line: without record and body it is compact. */
export type PrintedAs = "whole" | "compact";

/** An event that was just verified: only the log knows whether it is a repeat. */
export type NewEvent = Omit<WebhookEvent, "repeated" | "line">;

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

/** The last time that an id can have. */
const LAST = 36 ** TIME_LENGTH - 1;

/** Every id of a later time is greater than this text, and no id of an earlier one. */
export const idAt = (time: Date): string =>
  inDigits(Math.min(LAST, Math.max(0, time.getTime())), TIME_LENGTH);

/** A request that was rejected, with the check that failed. */
export interface Rejection {
  readonly type: "rejected";
  readonly id: string;
  readonly receivedAt: Date;
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly hint?: string;
  /** Null where the signature was not looked at. */
  readonly verdict: Verdict | null;
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

/**
 * What became of an event: it waits for an attempt, the application has accepted it, it has not and nothing is sent again
 * by itself, or an operator has decided that it is never forwarded.
 */
export type DeliveryState = "pending" | "delivered" | "failed" | "skipped";

/** What the log knows about a stored event. */
export interface Stored {
  readonly repeated: boolean;
  /** The id of the first delivery, to which all repeats and attempts of the event belong. */
  readonly first: string;
  /** Null if it is not forwarded. */
  readonly state: DeliveryState | null;
  /** The number of the attempt that this receiver makes now; undefined if it makes none. */
  readonly attempt?: number | undefined;
  /** The event's line, where the store has made it: not that of a repeat. */
  readonly line?: string | undefined;
}

/** Where the receiver stores events. */
export interface EventLog {
  /**
   * Resolves once the event is durable; rejects if it is not stored. With a lease, in milliseconds, it is also claimed for
   * an attempt at once, unless the application has accepted it, an operator has skipped it, or another attempt is under
   * way. With a lease of 0 it waits until a receiver has room.
   */
  readonly append: (event: NewEvent, lease?: number) => Promise<Stored>;
  /** The same for a webhook whose bytes must have been stored before; undefined if they were not. */
  readonly again: (event: NewEvent, lease?: number) => Promise<Stored | undefined>;
  /** Resolves once the rejection is stored; rejects if it is not. */
  reject(rejection: Rejection): Promise<void>;
  /**
   * Resolves once the end of an attempt is durable. An accepted event is delivered; any other is due again after
   * `retryAfter` milliseconds, and without them it has failed. Nothing is written if the event has been claimed again.
   */
  ended(claim: Claim, forward: Forward, retryAfter?: number): Promise<void>;
}

/** What identifies an attempt: its event, and its number. */
export interface Claim {
  readonly id: string;
  readonly attempt: number;
}

/** An event that was claimed from the queue. */
export interface Claimed extends Claim {
  /** The attempts before, by the present plan. */
  readonly made: number;
  /** The reason if its row does not hold what paylink wrote. */
  readonly event: WebhookEvent | { readonly damage: string };
}

/** The events that wait to be forwarded, which any number of receivers share: each is claimed by one at a time. */
export interface DeliveryQueue {
  /** Claims events that are due, at most so many, for so many milliseconds: the first to become due come first. */
  claim(wanted: Wanted): Promise<readonly Claimed[]>;
  /** Gives claimed events back, without an attempt. */
  release(claims: readonly Claim[]): Promise<void>;
  backlog(): Promise<Backlog>;
}

/** Which events to claim. */
export interface Wanted {
  readonly limit: number;
  readonly outcomes: readonly string[];
  readonly lease: number;
}

/** Events that are not forwarded yet. */
export interface Backlog {
  readonly events: number;
  /** When the oldest of them was received. */
  readonly oldest: Date | undefined;
  /** The events that failed, which wait for nothing. */
  readonly failed: number;
  /** When any event was last attempted, by any receiver. */
  readonly lastForward: Date | undefined;
}

/** How much the line of JSON matters to somebody who reads a log. */
export type Level = "info" | "warning" | "error";

/** A line of `listen --json` that is not an event. Every one says when it was and how much it matters. */
export const jsonLine = (
  type: string,
  at: Date,
  members: Readonly<Record<string, unknown>>,
  level: Level = "info",
): string => JSON.stringify({ type, ...members, at, level });

/** The check that refused a request; undefined where its signature verified, and something else was wrong. */
export const failedCheck = (verdict: Rejection["verdict"]): string | undefined =>
  verdict === null ? "http" : verdict.failure?.check;

export function rejectionLine(rejection: Omit<Rejection, "request">): string {
  const { type, id, receivedAt, code, status, detail, verdict, hint } = rejection;
  const check = failedCheck(verdict);
  return jsonLine(type, receivedAt, { id, receivedAt, code, status, detail, check, hint }, "warning");
}

export const levelOf = ({ verdict }: Pick<WebhookEvent, "verdict">): Level =>
  verdict.verdict === "valid" ? "info" : "warning";

/** What is stored and printed of an event, as texts: they are made once, and cheap to post to a thread. */
export interface EventTexts {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  /** As JSON, as the header lines. */
  readonly verdict: string;
  readonly headers: string;
  readonly method: string;
  readonly scheme: HttpRequest["scheme"];
  readonly authority: string;
  readonly target: string;
  readonly body: Uint8Array;
}

export function textsOf({ id, receivedAt, verdict, request }: Omit<NewEvent, "content">): EventTexts {
  const { method, scheme, authority, target, headers, body } = request;
  return {
    id,
    receivedAt: receivedAt.getTime(),
    verdict: JSON.stringify(verdict),
    headers: JSON.stringify(headers),
    method,
    scheme,
    authority,
    target,
    body,
  };
}

/**
 * An event as `listen --json` prints it: enough to verify it again. With `--compact`, record and body are left out. It is joined
 * from texts: the largest, record and body, exist already, and one object of all would take three times as long (listen bench).
 */
export const eventLine = (event: WebhookEvent, isCompact = false): string =>
  lineOf(textsOf(event), event.content, { repeated: event.repeated, level: levelOf(event), isCompact });

export function lineOf(
  texts: EventTexts,
  content: ReadRecord,
  {
    repeated,
    level,
    isCompact,
  }: { readonly repeated: boolean; readonly level: Level; readonly isCompact: boolean },
): string {
  const { outcome, reason, amount, currency, reference, uti, violations } = summaryOf(content);
  const at = `"${new Date(texts.receivedAt).toISOString()}"`;
  const line =
    `{"type":"event","id":${JSON.stringify(texts.id)},"receivedAt":${at},"at":${at},"level":"${level}"` +
    `,"outcome":"${outcome}"${reason === undefined ? "" : `,"reason":${JSON.stringify(reason)}`}` +
    `,"amount":${stringifyJson(amount)},"currency":${stringifyJson(currency)}` +
    `,"reference":${stringifyJson(reference)},"uti":${stringifyJson(uti)}` +
    `,"violations":${JSON.stringify(violations)},"repeated":${repeated},"verdict":${texts.verdict}` +
    `,"method":${JSON.stringify(texts.method)},"url":${JSON.stringify(urlOf(texts))},"headers":${texts.headers}`;
  if (isCompact) return `${line}}`;
  const body = bytes(texts.body);
  return `${line},"record":${recordText(content, body)},"bodyBase64":"${body.toString("base64")}"}`;
}

const urlOf = (request: Parameters<typeof targetUri>[0]): string =>
  request.authority === "" ? request.target : targetUri(request);

/** A request in the form that `verify` reads: the members that the line of an event has of it. */
export function requestDocument(request: HttpRequest) {
  const { method, headers, body } = request;
  return { method, url: urlOf(request), headers, bodyBase64: bytes(body).toString("base64") };
}

/** The record as one line: the text of the body, if it is the record. In JSON, line breaks are only between tokens. */
function recordText({ record, isWhole }: ReadRecord, body: Buffer): string {
  if (!isWhole) return stringifyJson(record);
  return body.toString("utf8").replaceAll("\r", " ").replaceAll("\n", " ");
}

/** A record that is no event, in the same members. */
export const recordLine = (read: Pick<ReadRecord, "record" | "violations">): string =>
  stringifyJson({ ...summaryOf(read), record: read.record });

const bytes = (body: Uint8Array): Buffer => Buffer.from(body.buffer, body.byteOffset, body.byteLength);
