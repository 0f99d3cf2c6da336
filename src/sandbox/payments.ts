/** Payments through a link: what the customer chose becomes a transaction record by the specification's table. */
import { JsonNumber, type JsonObject } from "../domain/json.ts";
import { sampleRecord } from "../domain/sample-record.ts";
import { compareAmounts, decimalsProblem, formatAmount, isDecimal, signOf } from "../domain/money.ts";
import { DEFAULT_REFERENCE_MODE, SALE, VARIABLE_MODE } from "../domain/payment-link.ts";
import { makeReference } from "../domain/reference.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";
import type { Problem } from "../domain/errors.ts";
import type { Merchant } from "./accounts.ts";
import { isReusable, statusOf, type Link } from "./links.ts";
import { ServiceProblem } from "./problem.ts";
import { cardOf } from "./test-cards.ts";

export const CHOICES = ["approved", "declined", "cancelled"] as const;
export type Choice = (typeof CHOICES)[number];

/** What the customer sends from the checkout page. */
export interface Attempt {
  readonly outcome: Choice;
  /** What the customer entered; only a reusable link leaves it open (Endpoints rule 7). */
  readonly amount?: string;
  /** Only where the link's paymentReferenceMode is not FIXED. */
  readonly reference?: string;
}

/** What makes one payment's record unlike another's: handed in, so that a seed can repeat them. */
export interface PaymentIds {
  readonly newId: () => string;
  /** 9 characters of A-Z0-9. */
  readonly newSuffix: () => string;
  /** Counts up from 1. */
  readonly nextNumber: () => number;
}

interface PaymentParts {
  readonly merchant: Merchant;
  readonly ids: PaymentIds;
  /** Whether a payment already has the reference: every one of a reusable link is unique (Endpoints rule 6). */
  readonly isTaken: (reference: string) => boolean;
  readonly now: Date;
}

/** Takes a payment. Throws a 409 problem where the link is not active, a 422 where what was entered is not allowed. */
export function takePayment(link: Link, attempt: Attempt, parts: PaymentParts): WellFormedRecord {
  const { merchant, ids, now } = parts;
  const status = statusOf(link, now);
  if (status !== "active") throw new ServiceProblem(409, "Conflict", `the link is ${status}`);
  const amount = amountOf(link, attempt);
  const base = baseReference(link, attempt);
  link.viewedDate ??= now;
  link.attemptedDate = now;
  if (attempt.outcome === "approved") link.paidDate = now;
  const reference = isReusable(link) ? uniqueReference(base, parts) : base;
  const { currency, terminalId, transactionType = SALE } = link.request;
  return sampleRecord(
    {
      outcome: attempt.outcome,
      transType: transactionType,
      amount,
      currency: currency.toUpperCase(),
      reference,
      terminalId,
      merchant,
      cardPan: cardOf(attempt.outcome).masked,
      softwareVersion: "sandbox",
      number: String(ids.nextNumber()).padStart(6, "0"),
    },
    { newId: ids.newId, now },
  );
}

function uniqueReference(base: string, { ids, isTaken }: PaymentParts): string {
  for (;;) {
    const reference = makeReference(base, ids.newSuffix());
    if (!isTaken(reference)) return reference;
  }
}

function amountOf(link: Link, attempt: Attempt): JsonNumber {
  const { amount, currency, linkOptions } = link.request;
  const entered = attempt.amount ?? (signOf(amount) > 0 ? amount.toString() : undefined);
  if (linkOptions === undefined) {
    if (
      attempt.amount !== undefined &&
      (!isDecimal(attempt.amount) || compareAmounts(attempt.amount, amount) !== 0)
    )
      throw unprocessable({ at: "amount", message: "is fixed by the link" });
    return amount;
  }
  if (entered === undefined)
    throw unprocessable({ at: "amount", message: "must be entered: the link leaves it open" });
  if (!isDecimal(entered) || signOf(entered) <= 0)
    throw unprocessable({ at: "amount", message: "must be a decimal above 0, such as 10.50" });
  const tooFine = decimalsProblem(entered, currency);
  if (tooFine !== undefined) throw unprocessable({ at: "amount", message: tooFine });
  const { mode, minAmount, maxAmount } = linkOptions;
  // Endpoints rule 9: bounds apply in this mode alone.
  if (mode === VARIABLE_MODE) {
    if (minAmount !== undefined && compareAmounts(entered, minAmount) < 0)
      throw unprocessable({ at: "amount", message: `must be at least ${formatAmount(minAmount, currency)}` });
    if (maxAmount !== undefined && compareAmounts(entered, maxAmount) > 0)
      throw unprocessable({ at: "amount", message: `must be at most ${formatAmount(maxAmount, currency)}` });
  }
  return new JsonNumber(entered);
}

function baseReference(link: Link, attempt: Attempt): string {
  const { invoiceId, linkOptions } = link.request;
  const fixed = (linkOptions?.paymentReferenceMode ?? DEFAULT_REFERENCE_MODE) === DEFAULT_REFERENCE_MODE;
  if (attempt.reference !== undefined && fixed)
    throw unprocessable({ at: "reference", message: "is fixed by the link" });
  return attempt.reference ?? invoiceId ?? link.id;
}

const unprocessable = (problem: Problem): ServiceProblem =>
  new ServiceProblem(422, "Unprocessable Content", `${problem.at} ${problem.message}`, [problem]);

/** A transaction as its retrieval answers it: the record, and what the merchant stored with it (Overview 6). */
export function transactionResponse(record: TransactionRecord, link: Link): JsonObject {
  const { merchantCustomData } = link.request;
  return { ...record, ...(merchantCustomData === undefined ? {} : { merchantCustomData }) };
}
