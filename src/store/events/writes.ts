/** What an event store is asked to write: plain values, which can be posted to a thread. */
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

/** The record and most of the verdict are read from the message again. */
export interface EventWrite extends StoredMessage {
  readonly type: "event";
  readonly id: string;
  readonly uti: string;
  /** Milliseconds since 1970, as every time here. */
  readonly receivedAt: number;
  readonly outcome: string;
  readonly reference: string;
  readonly code: string;
  /** Their names with commas between. */
  readonly warnings: string;
  /** As JSON. */
  readonly details: string;
  /** The log that writes. */
  readonly owner: string;
  /** Until when the log claims the event; null where it does not forward it at once. */
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
  /** Null where it was not an HTTP request. */
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
  /** Those made before. */
  readonly attempts: number;
  /** When the event is to be tried again; null if it is not. */
  readonly due: number | null;
}

export type QueueWrite = LeaseWrite | ReleaseWrite | AttemptWrite;

/** What the thread that writes to SQLite is asked. */
export type ThreadWrite = Write | QueueWrite;

/** Only repeated deliveries and look-ups have a result. */
export type WriteResult = PromiseSettledResult<StoreResult | null>;

/** The results of a group; "moved" where its files were removed or replaced, so that it is to be written again. */
export type GroupAnswer = readonly WriteResult[] | "moved";

/** Rejections to store at most: more are deleted, the oldest first. */
export const MAX_REJECTIONS = 1000;
/** Bytes of rejected bodies to store: invalid requests must not fill the disk. */
export const MAX_REJECTED_BYTES = 32 * 1024 * 1024;

/** The stored status of a forward that the application did not answer. */
export const NO_ANSWER = 0;
