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
}

export interface ForwardWrite {
  readonly type: "forward";
  readonly columns: readonly Value[];
}

export interface RejectionWrite {
  readonly type: "rejection";
  readonly columns: readonly Value[];
}

export type Write = EventWrite | ForwardWrite | RejectionWrite;

/** The first delivery of an event, a forward and a rejection have no result. */
export type WriteResult = PromiseSettledResult<StoreResult | null>;

/** Rejections to store at most: more are deleted, the oldest first. */
export const MAX_REJECTIONS = 1000;

/** The stored status of a forward that the application did not answer. */
export const NO_ANSWER = 0;
