/** The interface of an event store, which several processes can write and read: everything that `listen` received. */
import type { Json } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { readRecord, type ReadRecord } from "../domain/transaction.ts";
import type { HttpRequest } from "../http/message.ts";
import type { EventLog, Forward, Rejection, WebhookEvent } from "./events.ts";

/** The state of an event in the queue. Accepted events leave the queue. */
export interface Queued {
  /** A failed event is not tried again, and one that an operator has skipped is never forwarded. */
  readonly state: "pending" | "failed" | "skipped";
  /** The attempts so far. */
  readonly attempts: number;
  /** When the next retry is due; null before the first attempt and after the last one. */
  readonly next: Date | null;
  /** When it was skipped. */
  readonly skippedAt?: Date;
}

/** What an operator can order for an event: a new plan of attempts, whose first is due now, or that it is never forwarded. */
export type Order = "retry" | "skip";

/** An event as it is stored. The record is not stored again beside the body that holds it. */
export type StoredEvent = Omit<WebhookEvent, "repeated" | keyof ReadRecord> & {
  readonly uti: string;
  readonly outcome: string;
  readonly reference: string;
  /** How often it was delivered after the first time. */
  readonly repeats: number;
  /** The application has accepted it. */
  readonly accepted: boolean;
  /** The application has not accepted it, it waits for no further attempt, and nobody has skipped it. */
  readonly failed: boolean;
  /** Its state in the queue; null if it is not in the queue. */
  readonly queued: Queued | null;
};

/** An event in the queue that cannot be read back, because its row does not hold what paylink wrote. */
export interface DamagedEvent {
  readonly type: "damaged";
  readonly id: string;
  readonly uti: string;
  readonly queued: Queued | null;
  readonly reason: string;
}

export type StoredRejection = Omit<Rejection, "hint">;

/** One more delivery of an event that was already stored. */
export interface Arrival {
  readonly id: string;
  readonly receivedAt: Date;
}

export interface RejectionFilter {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Only the newest ones, at most this many. */
  readonly limit?: number | undefined;
  /** In place of the order of arrival. */
  readonly newestFirst?: boolean | undefined;
}

export interface EventFilter extends RejectionFilter {
  readonly outcome?: string | undefined;
  /** A part of the reference. */
  readonly reference?: string | undefined;
  /** Only events that failed, whether they were forwarded before they were acknowledged or from the queue. */
  readonly failed?: boolean | undefined;
  /** Only events that wait to be forwarded. */
  readonly pending?: boolean | undefined;
}

export interface Pruned {
  readonly events: number;
  readonly rejections: number;
}

/** What a forwarder asks the queue for. */
export interface Wanted {
  /** The most events. */
  readonly limit: number;
  /** Only events with one of these outcomes: those of one target. */
  readonly outcomes: readonly string[];
  /** Only first attempts. */
  readonly firsts?: boolean;
  /** The most bytes of their bodies; a larger one is given alone. */
  readonly bytes: number;
  /** How long they are this forwarder's, in milliseconds. */
  readonly duration: number;
  /** The ids of those that it has claimed before: they stay its own for as long again. */
  readonly held: readonly string[];
  /** The ids of those that it has claimed and gives to any forwarder, without an attempt. */
  readonly back: readonly string[];
  /**
   * Milliseconds before each retry: one that is due later than that from now is due now, and an event that has had all
   * attempts fails. To look for those reads all that wait for a retry, so undefined leaves it.
   */
  readonly delays?: readonly number[] | undefined;
}

export interface Claimed {
  readonly events: readonly (StoredEvent | DamagedEvent)[];
  /** Milliseconds until a retry is due; undefined where none is planned. */
  readonly nextDue: number | undefined;
  /** The events that have failed now because they had more attempts than the delays allow. */
  readonly failed: number;
}

/** Events that were acknowledged and wait to be forwarded. */
export interface Backlog {
  readonly events: number;
  /** When the oldest of them was received. */
  readonly oldest: Date | undefined;
  /** The events that failed, which wait for nothing. */
  readonly failed: number;
  /** When any event was last attempted, by any forwarder. */
  readonly lastForward: Date | undefined;
}

/**
 * Any number of forwarders work on the queue. Each event is claimed by one of them, and by others only when the time of the
 * claim has passed. Of the events with one reference, one is claimed at a time: those without an attempt in order of
 * arrival, then those whose retry is due.
 */
export interface ForwardQueue {
  claim(wanted: Wanted): Promise<Claimed>;
  /**
   * Records an attempt and ends the claim. An accepted event leaves the queue. Any other is retried after `retryAfter`
   * milliseconds; without them it has failed. Changes nothing if another forwarder has claimed the event meanwhile, or the
   * attempt is already recorded.
   */
  attempted(event: Pick<StoredEvent, "id">, forward: Forward, retryAfter: number | undefined): Promise<void>;
  /** The waiting events, how many failed, and the last attempt. */
  backlog(): Promise<Backlog>;
}

/** What a look at a store that is followed gives, a page at a time. */
export interface Followed {
  readonly found: readonly (StoredEvent | StoredRejection | DamagedEvent)[];
  /** There is no more for now. */
  readonly isEnd: boolean;
  /** The database is another one than at the last look. */
  readonly isAnother: boolean;
}

export interface EventStore extends EventLog {
  /** The file, or the URL of the database without its password. */
  readonly place: string;
  readonly queue: ForwardQueue;
  /**
   * Obeys an order for events, by their ids, and returns those that it has changed. Events that the application has accepted
   * stay as they are, and so do those that are being forwarded.
   */
  order(order: Order, events: readonly string[]): Promise<readonly string[]>;
  /** Resolves if the store can be written, and rejects with the reason if not. Can be called at any time. */
  ready(): Promise<void>;
  /** The events and rejections whose uti or id begins with `prefix`, newest first, at most 20 of each. */
  find(prefix: string): Promise<(StoredEvent | StoredRejection)[]>;
  /** Reads in order of arrival by default, in constant memory. Events that arrive meanwhile are not included. */
  events(filter?: EventFilter): AsyncIterable<StoredEvent>;
  rejections(filter?: RejectionFilter): AsyncIterable<StoredRejection>;
  /**
   * Each look gives the events that pass the filter and were stored since the last one; the first, those since `since`. With
   * `rejected`, it gives rejections instead.
   */
  follow(filter: EventFilter, rejected?: boolean): (now: Date) => Promise<Followed>;
  /** The deliveries after the first one. */
  arrivals(first: string): Promise<Arrival[]>;
  forwards(first: string): Promise<Forward[]>;
  /** Counts what `prune` would delete. */
  countBefore(before: Date): Promise<Pruned>;
  /**
   * Deletes everything received before a moment, except events that wait to be forwarded, in small batches. `between` is
   * awaited after each.
   */
  prune(before: Date, between?: () => Promise<void>): Promise<Pruned>;
  /** Gives what deleted events took back to the system. A file of before 0.3 is written anew for it, once. */
  shrink(): Promise<void>;
  /** Resolves when everything is written and the store is closed. */
  close(): Promise<void>;
}

/** The event with its record, which is read again from the body. */
export function asReceived({ type, id, receivedAt, verdict, request }: StoredEvent): WebhookEvent {
  return { type, id, receivedAt, repeated: false, verdict, request, ...readStored(request) };
}

/** The JSON of the body, of which the record may be a part; undefined if it is no JSON. */
export function storedJson(request: HttpRequest): Json | undefined {
  const json = parseJson(new TextDecoder().decode(request.body));
  return json.ok ? json.value.value : undefined;
}

export const readStored = (request: HttpRequest): ReadRecord => readRecord(request.body);
