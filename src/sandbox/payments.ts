/** Payments through a link: what the customer chose becomes a transaction record by the specification's table. */
import { JsonNumber, type JsonObject } from "../domain/json.ts";
import { compareAmounts, decimalsProblem, formatAmount, isDecimal } from "../domain/money.ts";
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
  const { now } = parts;
  const status = statusOf(link, now);
  if (status !== "active") throw new ServiceProblem(409, "Conflict", `the link is ${status}`);
  const amount = amountOf(link, attempt);
  const base = baseReference(link, attempt);
  link.viewedDate ??= now;
  link.attemptedDate = now;
  if (attempt.outcome === "approved") link.paidDate = now;
  const reference = isReusable(link) ? uniqueReference(base, parts) : base;
  return recordOf(link, attempt.outcome, { amount, reference }, parts);
}

function uniqueReference(base: string, { ids, isTaken }: PaymentParts): string {
  for (;;) {
    const reference = makeReference(base, ids.newSuffix());
    if (!isTaken(reference)) return reference;
  }
}

function amountOf(link: Link, attempt: Attempt): JsonNumber {
  const { amount, currency, linkOptions } = link.request;
  const entered = attempt.amount ?? (compareAmounts(amount, "0") > 0 ? amount.toString() : undefined);
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
  if (!isDecimal(entered) || compareAmounts(entered, "0") <= 0)
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

function recordOf(
  link: Link,
  outcome: Choice,
  { amount, reference }: { amount: JsonNumber; reference: string },
  { merchant, ids, now }: PaymentParts,
): WellFormedRecord {
  const number = String(ids.nextNumber()).padStart(6, "0");
  const attempted = outcome !== "cancelled";
  const date = now.toISOString();
  return {
    uti: ids.newId(),
    transType: link.request.transactionType ?? SALE,
    transApproved: outcome === "approved",
    transPartiallyApproved: false,
    transCancelled: outcome === "cancelled",
    amountTrans: amount,
    amountGratuity: new JsonNumber("0"),
    amountCashback: new JsonNumber("0"),
    cvmSignatureRequired: false,
    cvmPinVerified: false,
    transCurrencyCode: link.request.currency.toUpperCase(),
    terminalId: link.request.terminalId,
    merchantId: merchant.merchantId,
    softwareVersion: "sandbox",
    receiptNumber: number,
    retrievalReferenceNumber: number.padStart(12, "0"),
    ...(attempted ? { paymentId: ids.newId(), responseCode: outcome === "approved" ? "00" : "05" } : {}),
    stan: number,
    ...(outcome === "approved" ? { authorisationCode: number } : {}),
    ...(attempted ? { merchantTokenId: ids.newId() } : {}),
    cardPan: cardOf(outcome).masked,
    cardStartDate: "2401",
    cardScheme: "VISA",
    cardPanSequenceNumber: "01",
    cardType: "EMV",
    emvAid: "A0000000031010",
    emvTsi: "E800",
    emvTvr: "0000000000",
    emvCryptogram: "",
    ...(attempted ? { emvCryptogramType: outcome === "approved" ? "ARQC" : "AAC" } : {}),
    reference,
    merchantName: merchant.merchantName,
    transDateTime: date,
    createdDateTime: date,
    merchantStoreId: new JsonNumber(String(merchant.merchantStoreId)),
    status: "Complete",
  };
}

/** A transaction as its retrieval answers it: the record, and what the merchant stored with it (Overview 6). */
export function transactionResponse(record: TransactionRecord, link: Link): JsonObject {
  const { merchantCustomData } = link.request;
  return { ...record, ...(merchantCustomData === undefined ? {} : { merchantCustomData }) };
}
