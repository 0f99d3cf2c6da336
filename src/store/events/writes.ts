/** The writes of an event store: plain values, which can be posted to a thread. */
import type { StoreResult } from "../../receiver/events.ts";

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
  /** The log that writes. */
  readonly owner: string;
  /** The time until which the log claims the event; null if it does not forward it at once. */
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

export type Write = EventWrite | LookUp | ForwardWrite | RejectionWrite;

/** Takes or renews the lease of the queue, unless another forwarder has it. */
export interface LeaseWrite {
  readonly type: "lease";
  readonly owner: string;
  readonly now: number;
  readonly expires: number;
}

export interface ReleaseWrite {
  readonly type: "release";
  readonly owner: string;
  readonly epoch: number;
}

/** An attempt to forward an event from the queue. */
export interface AttemptWrite extends Omit<ForwardWrite, "type"> {
  readonly type: "attempt";
  readonly epoch: number;
  /** The number of earlier attempts. */
  readonly attempts: number;
  /** When the next attempt is due; null without a next attempt. */
  readonly due: number | null;
}

export type QueueWrite = LeaseWrite | ReleaseWrite | AttemptWrite;

/** A write for the thread that writes to SQLite. */
export type ThreadWrite = Write | QueueWrite;

/** Only repeated deliveries and look-ups have a result. */
export type WriteResult = PromiseSettledResult<StoreResult | null>;

/** The results of a group; "moved" if its files were removed or replaced, and it must be written again. */
export type GroupAnswer = readonly WriteResult[] | "moved";

/** The most rejections to store; beyond it, the oldest are deleted. */
export const MAX_REJECTIONS = 1000;
/** The most bytes of rejected bodies to store: invalid requests must not fill the disk. */
export const MAX_REJECTED_BYTES = 32 * 1024 * 1024;

/** The stored status of a forward that the application did not answer. */
export const NO_ANSWER = 0;
