/** What is stored of an event: its delivery, and everything that happened to it. */
import type { Outcome } from "../domain/outcome.ts";
import type { ForwardState, Forward, Rejection, WebhookEvent } from "./event.ts";

/** What becomes of an event that is forwarded. */
export interface StoredDelivery {
  readonly state: ForwardState;
  /** The attempts so far, without replays. */
  readonly attempts: number;
  /** An attempt is under way. */
  readonly isTrying: boolean;
  /** When the next attempt is due; null if an attempt is under way, or none follows. */
  readonly next: Date | null;
  /** It failed, and the service sends it again: it was told that the application had not accepted it. */
  readonly comesAgain: boolean;
}

/** An event as it is stored. The record is not stored again beside the body that holds it. */
export interface StoredEvent extends WebhookEvent {
  readonly uti: string;
  readonly outcome: Outcome;
  /** As orders are compared. */
  readonly reference: string;
  /** The thumbprint of the key that has verified it. */
  readonly key: string;
  /** How often it was delivered after the first time. */
  readonly repeats: number;
  /** Null if it is forwarded nowhere. */
  readonly delivery: StoredDelivery | null;
}

/** What is stored of a request, whether it was accepted or rejected. */
export type StoredRequest = StoredEvent | Rejection;

/** One more delivery of an event that was already stored. */
export interface Arrival {
  readonly id: string;
  readonly receivedAt: Date;
}

/** An attempt as it is stored, also one that `events replay` made. */
export interface StoredAttempt extends Omit<Forward, "signatureAge"> {
  readonly isReplay: boolean;
}

/** What an operator did to an event: `actor` is the user of the system. */
export interface Action {
  readonly at: Date;
  readonly action: "retry" | "skip" | "accept";
  readonly actor: string;
}

/** Everything that happened to an event after its arrival, in order. */
export interface History {
  readonly arrivals: readonly Arrival[];
  readonly attempts: readonly StoredAttempt[];
  readonly actions: readonly Action[];
}
