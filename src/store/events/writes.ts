/** What the writing thread is asked to write, and what it answers: plain values that can be posted to a thread. */
import type { StoreResult } from "../../receiver/events.ts";
import type { Value } from "../database.ts";

export interface EventWrite {
  readonly type: "event";
  readonly id: string;
  readonly uti: string;
  readonly receivedAt: number;
  /** The columns from `outcome` to `verdict`, in the order of the table. */
  readonly columns: readonly Value[];
  readonly body: Uint8Array;
  /** The log that writes. */
  readonly owner: string;
  /** Until when the log claims the event; null where it does not forward it. */
  readonly claimUntil: number | null;
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
  /** The columns after `event`. */
  readonly columns: readonly Value[];
}

export interface RejectionWrite {
  readonly type: "rejection";
  readonly columns: readonly Value[];
}

export type Write = EventWrite | LookUp | ForwardWrite | RejectionWrite;

/** The first delivery of an event, a forward and a rejection have no result. */
export type WriteResult = PromiseSettledResult<StoreResult | null>;

/** The results of a group; "moved" where its files were removed or replaced, so that it is to be written again. */
export type GroupAnswer = readonly WriteResult[] | "moved";

/** Rejections to store at most: more are deleted, the oldest first. */
export const MAX_REJECTIONS = 1000;

/** The stored status of a forward that the application did not answer. */
export const NO_ANSWER = 0;
