/** The interface to what the sandbox stores: links, payments, deliveries and their attempts. */
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import type { HeaderLine } from "../http/message.ts";
import type { CustomerDetails } from "./customer.ts";

export interface Link {
  readonly id: string;
  readonly request: PaymentLinkRequest;
  readonly createdDate: Date;
  readonly expirationDate: string;
  viewedDate: Date | null;
  attemptedDate: Date | null;
  paidDate: Date | null;
  cancelledDate: Date | null;
}

export interface Payment {
  readonly uti: string;
  readonly linkId: string;
  readonly record: TransactionRecord;
  /** Given by the merchant or entered by the customer. */
  readonly customer: CustomerDetails;
  /** The token of the rendered form that was submitted; null without a form. */
  readonly form: string | null;
}

export type DeliveryState = "waiting" | "delivered" | "failed";

/** A webhook to deliver: committed together with its payment, and kept after it was delivered or has failed. */
export interface Delivery {
  readonly id: string;
  readonly linkId: string;
  readonly uti: string;
  readonly url: string;
  readonly body: Uint8Array;
  readonly state: DeliveryState;
  /** All attempts so far. */
  readonly attempts: number;
  /** Attempts since it was queued or resent: the position in the schedule. */
  readonly tries: number;
  /** Milliseconds since 1970, by the sandbox's clock. */
  readonly due: number;
}

/** One POST of a delivery: the headers, the signature base and the response. */
export interface Attempt {
  readonly deliveryId: string;
  readonly number: number;
  readonly at: Date;
  readonly headers: readonly HeaderLine[];
  readonly base: string;
  /** The receiver's status; null without a response. */
  readonly status: number | null;
  /** The headers of the response. */
  readonly answerHeaders: readonly HeaderLine[];
  readonly answer: string;
  readonly detail: string;
  /** Milliseconds from the request to the response or the failure; null if nothing was sent. */
  readonly duration: number | null;
}

/** The rows of a list to read: those that match every member that is given. */
export interface ListQuery {
  /** Part of an id, a reference or an address. */
  readonly text?: string;
  /** The status of a link, the outcome of a payment, the state of a delivery. */
  readonly state?: string;
  readonly ids?: readonly string[];
  /** Payments and deliveries of a link. */
  readonly linkId?: string;
  /** Deliveries of a payment. */
  readonly uti?: string;
  /** The rows after or before a position that a page named; without a position, the first page. */
  readonly older?: string | undefined;
  readonly newer?: string | undefined;
  readonly limit: number;
  /** The current time, which decides whether a link has expired. */
  readonly now: Date;
}

/** The newest rows first, but failed deliveries before all others. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** All rows that match, on all pages. */
  readonly total: number;
  /** The rows on the pages before this one. */
  readonly skipped: number;
  /** The positions to continue from; undefined if there are no more rows. */
  readonly newer: string | undefined;
  readonly older: string | undefined;
}

export interface LedgerCounts {
  readonly links: number;
  readonly payments: number;
  readonly deliveries: number;
  readonly failed: number;
}

/** Call everything that changes it within `write`. Reads see each change at once. */
export interface Ledger {
  /** Makes all changes of a unit, or none if it throws. Runs it at once; resolves when the changes are durable. */
  write(unit: () => void): Promise<void>;
  addLink(link: Link): void;
  saveLink(link: Link): void;
  findLink(id: string): Link | undefined;
  /** Whether a link of the terminal has this `invoiceId`. */
  hasInvoice(terminalId: string, invoiceId: string): boolean;
  links(query: ListQuery): ListPage<Link>;
  /** The links that were created between two moments, both included; the newest first. */
  linksCreated(from: Date, to: Date): Iterable<Link>;
  addPayment(payment: Payment): void;
  findPayment(uti: string): Payment | undefined;
  /** The payment that a rendered form of a link has made. */
  findPaymentByForm(linkId: string, form: string): Payment | undefined;
  hasReference(reference: string): boolean;
  payments(query: ListQuery): ListPage<Payment>;
  addDelivery(delivery: Delivery): void;
  findDelivery(id: string): Delivery | undefined;
  deliveries(query: ListQuery): ListPage<Delivery>;
  /** Stores an attempt and updates its delivery; `due` is the time of the next attempt. */
  addAttempt(attempt: Attempt, state: DeliveryState, due: number): void;
  findAttempt(deliveryId: string, number: number): Attempt | undefined;
  /** The newest attempts, the last one first. */
  attemptsOf(deliveryId: string, limit: number): Attempt[];
  /** Starts the schedule again. */
  resend(deliveryId: string, due: number): void;
  /** Starts the schedule of every failed delivery again. */
  resendFailed(due: number): void;
  /** The origins of the addresses of waiting deliveries. */
  waitingOrigins(): string[];
  /** The delivery of an origin that has been due for the longest, unless its link is busy. */
  nextFor(origin: string, now: number, busyLinks: ReadonlySet<string>): Delivery | undefined;
  /** The time of the first delivery that is due after a moment. */
  nextDue(after: number): number | undefined;
  counts(): LedgerCounts;
  /** Deletes everything. */
  reset(): void;
  close(): Promise<void>;
}
