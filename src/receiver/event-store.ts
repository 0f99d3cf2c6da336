/** The interface of an event store: everything that `listen` received, to be written and read by several processes. */
import { readContent } from "./content.ts";
import { eventJson, type EventLog, type Forward, type Rejection, type WebhookEvent } from "./events.ts";

/** An event as it is stored. The record is not stored again beside the body that holds it. */
export type StoredEvent = Omit<WebhookEvent, "repeated" | "record" | "breaches" | "json"> & {
  readonly uti: string;
  readonly outcome: string;
  readonly reference: string;
  /** How often it was delivered after the first time. */
  readonly repeats: number;
  /** The application has accepted it. */
  readonly accepted: boolean;
};

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
}

export interface EventFilter extends RejectionFilter {
  readonly outcome?: string | undefined;
  /** A part of the reference. */
  readonly reference?: string | undefined;
}

export interface Pruned {
  readonly events: number;
  readonly rejections: number;
}

/** A running `listen`, as others that use the same store find it. */
export interface Listener {
  /** The URL that the service posts to. */
  readonly address: string;
  /** The URL that it is bound to on its machine. */
  readonly bound: string;
}

export interface EventStore extends EventLog {
  /** Resolves once the store can be written; may be asked again at any time. Throws `file_unreadable` or `file_unwritable`. */
  ready(): Promise<void>;
  /** The events and rejections whose uti or id begins with this, newest first, at most 20 of each. */
  find(prefix: string): Promise<(StoredEvent | StoredRejection)[]>;
  /** Reads in order of arrival, in constant memory. What arrives during the reading is not included. */
  events(filter?: EventFilter): AsyncIterable<StoredEvent>;
  rejections(filter?: RejectionFilter): AsyncIterable<StoredRejection>;
  /** The deliveries after the first one. */
  arrivals(first: string): Promise<Arrival[]>;
  forwards(first: string): Promise<Forward[]>;
  /** Counts what `prune` would delete. */
  countBefore(before: Date): Promise<Pruned>;
  /** Deletes everything received before this moment. */
  prune(before: Date): Promise<Pruned>;
  /** Listeners that were added and not removed. One that was killed is still among them. */
  listeners(): Promise<Listener[]>;
  addListener(listener: Listener): Promise<void>;
  removeListener(listener: Listener): Promise<void>;
  /** Resolves when everything is written and the store is closed. */
  close(): Promise<void>;
}

/** The limit that `listen` had when it stored an event does not apply to reading it. */
const MAX_CONTENT = 64 * 1024 * 1024;

/** The event with its record, which is read from the body again, at `recordAt`. */
export function asReceived(
  { type, id, receivedAt, verdict, request }: StoredEvent,
  recordAt: string | undefined,
): WebhookEvent {
  const { record, breaches } = readContent(request, MAX_CONTENT, recordAt);
  const json = eventJson(verdict, request);
  return { type, id, receivedAt, repeated: false, verdict, request, record, breaches, json };
}
