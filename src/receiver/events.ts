/** What the receiver makes of the requests it gets: events that were taken, rejections, and the log that keeps them. */
import type { Breach, TransactionRecord } from "../domain/transaction.ts";
import type { HeaderLine, HttpRequest } from "../http/message.ts";
import type { Check, Verdict } from "../signatures/verdict.ts";

/** A webhook that was taken: verified, unless the receiver was told not to insist. */
export interface WebhookEvent {
  readonly type: "event";
  readonly id: string;
  readonly receivedAt: Date;
  /** The same record came before. */
  readonly repeated: boolean;
  readonly verdict: Verdict;
  readonly record: TransactionRecord | null;
  readonly breaches: readonly Breach[];
  readonly request: HttpRequest;
  readonly json: EventJson;
}

/** The parts of an event that are both kept and printed, as JSON texts: each is written once. */
export interface EventJson {
  readonly verdict: string;
  readonly headers: string;
}

export const eventJson = (verdict: Verdict, { headers }: Pick<HttpRequest, "headers">): EventJson => ({
  verdict: JSON.stringify(verdict),
  headers: JSON.stringify(headers),
});

/** An event that has just been judged: whether it came before is for the log to say. */
export type NewEvent = Omit<WebhookEvent, "repeated">;

/** A request that was turned away, with the step that failed. */
export interface Rejection {
  readonly type: "rejected";
  readonly id: string;
  readonly receivedAt: Date;
  readonly code: string;
  readonly status: number;
  readonly detail: string;
  readonly checks: readonly Check[];
  readonly hint?: string;
  /** As far as it was read: without a body where the head alone decided, null where it was no request at all. */
  readonly request: HttpRequest | null;
}

/** One attempt to pass an event on, and what the application made of it. */
export interface Forward {
  readonly at: Date;
  readonly target: string;
  /** The application's status; 502 where it was not reached, 504 where it did not answer in time. */
  readonly status: number;
  readonly ms: number;
  /** The beginning of what the application said, or why it said nothing; empty for a 2xx. */
  readonly detail: string;
}

/** The application has taken an event with any 2xx. */
export const isTaken = (status: number): boolean => status >= 200 && status < 300;

/** What the log knows of an event once it is kept. */
export interface Kept {
  readonly repeated: boolean;
  /** The id of the first arrival: what every further arrival and forward belongs to. */
  readonly first: string;
  /** The application has it already. */
  readonly taken: boolean;
}

/** Where events are kept: the one interface that a backend has to offer. */
export interface EventLog {
  /** Resolves when the event is as durable as the log makes it, never before; rejects when it is not kept. */
  append(event: NewEvent): Promise<Kept>;
  /** Keeps what was turned away, within a bound; nobody waits for it. */
  reject(rejection: Rejection): void;
  /** Resolves when it is kept that the event, named by its first arrival, was passed on. */
  forwarded(first: string, forward: Forward): Promise<void>;
}

/** An event as `listen --json` prints it: enough to verify it again. */
export interface EventLine {
  readonly type: "event";
  readonly id: string;
  readonly receivedAt: string;
  readonly repeated: boolean;
  readonly verdict: Verdict;
  readonly record: TransactionRecord | null;
  readonly breaches: readonly Breach[];
  readonly method: string;
  /** The absolute URI; the target alone where the message names no authority that can be trusted. */
  readonly url: string;
  readonly headers: readonly HeaderLine[];
  readonly trailers?: readonly HeaderLine[];
  readonly bodyBase64: string;
}
