/** The three sides of a reconciliation: what the service says was paid, what arrived, and what the merchant booked. */
import type { OrderLink } from "../orders/order.ts";
import type { StoredPayment } from "../store/payments.ts";

/** A link of the service. */
export interface ComparedLink extends OrderLink {
  /** As the service spells it; empty without one. */
  readonly orderNumber: string;
  /** Milliseconds since 1970; undefined if the service does not say it. */
  readonly paidAt: number | undefined;
  /** Milliseconds since 1970, where `paidAt` is not known: its creation, before which it was not paid. */
  readonly paidAfter: number | undefined;
  /** It was paid in the period. Others only say how the order stands. */
  readonly isCompared: boolean;
}

/** A verified webhook that arrived, with the newest state of its delivery. */
export type ReceivedPayment = Omit<StoredPayment, "key" | "hasEarlier">;

export interface BookedLine {
  /** From 1. */
  readonly line: number;
  readonly orderNumber: string;
  /** A decimal, negative for a refund. */
  readonly amount: string;
  /** Undefined if the books do not say it: that of the payment is meant. */
  readonly currency: string | undefined;
}

/** A webhook that was rejected and names an order number in its body, which nothing has verified. */
export interface RefusedWebhook {
  /** The id of the rejection. */
  readonly id: string;
  /** The reason. */
  readonly code: string;
  readonly receivedAt: number;
}
