/** What the receiver reports: verified webhooks, rejected requests and attempts to forward, and the log and queue that store them. */
import type { ReadRecord } from "../domain/transaction.ts";
import type { HeaderLine, HttpRequest } from "../http/message.ts";
import type { SendFailure } from "../http/send-failure.ts";
import type { OrderStanding } from "../orders/standing.ts";
import { DEFAULT_POLICY } from "../signatures/policy.ts";
import type { Verdict } from "../signatures/verdict.ts";

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
  /** How its order stands: as of its arrival where it has just arrived, else as of now. Undefined without an order number. */
  readonly order?: OrderStanding | undefined;
}

/**
 * The forms of an event's line: without headers, record and body it is compact. The thread of the store makes it beside what it writes:
 * without that, a webhook takes 8 % more processor time (the load of the listen bench on SQLite; median of six pairs).
 */
export type PrintedAs = "whole" | "compact";

/** An event that was just verified: only the log knows whether it is a repeat. */
export interface NewEvent extends Omit<WebhookEvent, "repeated" | "line" | "order"> {
  /** The keys of the run that has verified it. Only an event of one of them can be the same event. */
  readonly keys: RunKeys;
}

/**
 * The thumbprints (RFC 7638) of the keys that a run has, and of those that it had before a key set changed. It acts on no event
 * that another key has verified.
 */
export type RunKeys = readonly string[];

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

/** What an application answered, as it is stored and shown. */
export interface ReplyText {
  readonly headers: readonly HeaderLine[];
  /** The beginning of its body, decoded by its coding and charset. Card numbers are masked. */
  readonly text: string;
}

/** Whether the body is there: it was not read if the head alone was rejected, or if it was too large or incomplete. */
export const bodyIsKept = ({
  verdict,
  code,
  request,
}: Pick<Rejection, "verdict" | "code" | "request">): boolean =>
  request !== null && (verdict !== null || code === "internal_error");

/** One attempt to forward an event, and how the application answered. */
export interface Forward {
  readonly at: Date;
  readonly target: string;
  /** The application's status; null if it did not answer. */
  readonly status: number | null;
  /** Why it did not answer; null if it did. */
  readonly failure: SendFailure | null;
  readonly ms: number;
  /** The first words of the application's answer, of a page those that people see, or why there was none; empty for a 2xx. */
  readonly detail: string;
  /** Null if it did not answer. */
  readonly reply: ReplyText | null;
  /** Milliseconds since the signature was made, where that is probably why the application refused it. Not stored. */
  readonly signatureAge?: number;
}

/**
 * What became of an event: it waits for an attempt, the application has accepted it, it has not and nothing is sent again
 * by itself, or an operator has decided that it is never forwarded.
 */
export type ForwardState = "pending" | "delivered" | "failed" | "skipped";

/** What the log knows about a stored event. */
export interface Stored {
  readonly repeated: boolean;
  /** The id of the first delivery, to which all repeats and attempts of the event belong. */
  readonly first: string;
  /** Null if it is not forwarded. */
  readonly state: ForwardState | null;
  /** The number of the attempt that this receiver makes now; undefined if it makes none. */
  readonly attempt?: number | undefined;
  /** The event's line, where the store has made it: not that of a repeat. */
  readonly line?: string | undefined;
  /** How its order stood when it first arrived; it is in the line, where the store has made one. */
  readonly order?: OrderStanding | undefined;
  /** It makes its order one that is paid twice, or keeps it one. */
  readonly isPaidBefore?: boolean;
}

/** Where the receiver stores events. */
export interface EventLog {
  /**
   * Resolves once the event is durable; rejects if it is not stored. With a lease, in milliseconds, it is also claimed for
   * an attempt at once, unless the application has accepted it, an operator has skipped it, or another attempt is under
   * way. With a lease of 0 it waits until a receiver has room. The same bytes, verified by a key of another run, are another
   * event.
   */
  readonly append: (event: NewEvent, lease?: number) => Promise<Stored>;
  /**
   * Stores one more delivery of a webhook whose bytes must have been stored before; undefined if they were not. Its signature is
   * too old to prove more, so it is never forwarded.
   */
  readonly again: (event: NewEvent) => Promise<Stored | undefined>;
  /** Resolves once the rejection is stored; rejects if it is not. */
  reject(rejection: Rejection): Promise<void>;
  /**
   * Resolves once the end of an attempt is durable. An accepted event is delivered; any other is due again as `retry` says,
   * and has failed without it. Nothing is written if the event has been claimed again.
   */
  ended(claim: Claim, forward: Forward, retry?: Retry): Promise<void>;
}

/** How an event that the application has not accepted is sent again: from the queue after milliseconds, or by the sender, which got the answer. */
export type Retry = number | "by the sender";

/** What identifies an attempt: its event, and its number. */
export interface Claim {
  readonly id: string;
  readonly attempt: number;
}

/** An event that was claimed from the queue. */
export interface Claimed extends Claim {
  /** The attempts so far in the current plan of retries. */
  readonly made: number;
  /** The reason if its row does not hold what paylink wrote. */
  readonly event: WebhookEvent | { readonly damage: string };
}

/** The events that wait to be forwarded, which any number of receivers share: each is claimed by one at a time. */
export interface DeliveryQueue {
  /** Claims at most `limit` events that are due, for `lease` milliseconds: those that have been due for longest come first. */
  claim(wanted: ClaimRequest): Promise<readonly Claimed[]>;
  /** Gives claimed events back, without an attempt. */
  release(claims: readonly Claim[]): Promise<void>;
  backlog(): Promise<Backlog>;
}

/** Which events to claim. */
export interface ClaimRequest {
  readonly limit: number;
  readonly outcomes: readonly string[];
  readonly keys: RunKeys;
  readonly lease: number;
  /** Only those that were not attempted yet, or that an operator has ordered to retry. */
  readonly isFresh?: boolean;
}

/** Events that are not forwarded yet. */
export interface Backlog {
  /** By the key that has verified them; only keys that have some. */
  readonly keys: readonly KeyBacklog[];
  /** When any event was last attempted, by any receiver. */
  readonly lastForward: Date | undefined;
}

/** The events of one key that are not forwarded yet. */
export interface KeyBacklog {
  /** Its thumbprint. */
  readonly key: string;
  readonly events: number;
  /** When the oldest of them was received; where a clock was ahead then, when that was noticed. */
  readonly oldest: Date | undefined;
  /** For how many milliseconds an event has been due without a receiver that claims it; 0 if none has. */
  readonly overdue: number;
  /** The events that failed, which wait for nothing. */
  readonly failed: number;
}

/** The age of the service's signature in milliseconds, once it is older than verifiers accept. */
export function lateAge(
  { verdict, receivedAt }: Pick<WebhookEvent, "verdict" | "receivedAt">,
  at: Date,
): number | undefined {
  const signedAt = verdict.created === null ? receivedAt.getTime() : verdict.created * 1000;
  const age = at.getTime() - signedAt;
  return age > DEFAULT_POLICY.maxAge * 1000 ? age : undefined;
}

/** If something due is unclaimed for this many milliseconds, and nothing was attempted meanwhile, nothing is being forwarded. */
const UNCLAIMED_AFTER = 60_000;

/** Whether nothing is forwarded: `overdue` is for how many milliseconds something has been due. */
export const isUnclaimed = (overdue: number, lastAttempt: Date | null | undefined, now: Date): boolean =>
  overdue > UNCLAIMED_AFTER &&
  // One in the future was made while a clock was ahead.
  (lastAttempt == null || Math.abs(now.getTime() - lastAttempt.getTime()) > UNCLAIMED_AFTER);
