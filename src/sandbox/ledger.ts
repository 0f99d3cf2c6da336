/** What the sandbox keeps on disk, and the one interface to it: links, payments, deliveries and their attempts. */
import type { TransactionRecord } from "../domain/transaction.ts";
import type { HeaderLine } from "../http/message.ts";
import type { Link } from "./links.ts";

export interface Payment {
  readonly uti: string;
  readonly linkId: string;
  readonly record: TransactionRecord;
}

export type DeliveryState = "waiting" | "delivered" | "failed";

/** A webhook on its way: written together with the payment it tells of, and kept whatever becomes of it. */
export interface Delivery {
  readonly id: string;
  readonly linkId: string;
  readonly uti: string;
  readonly url: string;
  readonly body: Uint8Array;
  readonly state: DeliveryState;
  /** Attempts so far, for ever. */
  readonly attempts: number;
  /** Attempts since it was queued or resent: its place in the schedule. */
  readonly tries: number;
  /** Milliseconds since 1970, by the sandbox's clock. */
  readonly due: number;
}

/** One POST of a delivery: what was sent, over what it was signed, and what came back. */
export interface Attempt {
  readonly deliveryId: string;
  readonly number: number;
  readonly at: Date;
  readonly headers: readonly HeaderLine[];
  readonly base: string;
  /** The receiver's status; null where no answer came. */
  readonly status: number | null;
  readonly answer: string;
  readonly detail: string;
}

/** What a list is narrowed to: `text` is looked for in ids and references, `state` is the row's own. */
export interface Filter {
  readonly text?: string;
  readonly state?: string;
  readonly limit: number;
}

/** Everything that changes it is called within `write`; reads see each change at once. */
export interface Ledger {
  /** Makes all changes of a unit, or none if it throws. Runs it at once; resolves when the changes are durable. */
  write(unit: () => void): Promise<void>;
  addLink(link: Link): void;
  saveLink(link: Link): void;
  findLink(id: string): Link | undefined;
  links(filter: Filter): Link[];
  addPayment(payment: Payment): void;
  findPayment(uti: string): Payment | undefined;
  hasReference(reference: string): boolean;
  payments(filter: Filter): Payment[];
  addDelivery(delivery: Delivery): void;
  findDelivery(id: string): Delivery | undefined;
  deliveries(filter: Filter): Delivery[];
  /** Puts what became of an attempt beside it; `due` is when the next one is. */
  addAttempt(attempt: Attempt, state: DeliveryState, due: number): void;
  attemptsOf(deliveryId: string): Attempt[];
  /** Begins the schedule anew. */
  resend(deliveryId: string, due: number): void;
  /** The origins of the addresses that something is waiting for. */
  waitingOrigins(): string[];
  /** What is due longest for an origin, of a link that is not among those busy. */
  nextFor(origin: string, now: number, busyLinks: ReadonlySet<string>): Delivery | undefined;
  /** When the first delivery falls due after a moment. */
  nextDue(after: number): number | undefined;
  counts(): { readonly links: number; readonly payments: number };
  /** Forgets everything. */
  reset(): void;
  close(): Promise<void>;
}
