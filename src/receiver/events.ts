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
}

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
}

/** Where events are kept. `append` resolves when the event is as durable as the log makes it, never before. */
export interface EventLog {
  append(event: Omit<WebhookEvent, "repeated">): Promise<{ readonly repeated: boolean }>;
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
  readonly url: string;
  readonly headers: readonly HeaderLine[];
  readonly bodyBase64: string;
}
