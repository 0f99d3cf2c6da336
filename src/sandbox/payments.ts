/** Payments through a link: checks what the customer entered, and makes the transaction record. */
import { JsonNumber, type JsonObject } from "../domain/json.ts";
import { sampleRecord } from "../domain/sample-record.ts";
import { compareAmounts, decimalsProblem, formatAmount, isDecimal, signOf } from "../domain/money.ts";
import { DEFAULT_REFERENCE_MODE, SALE, VARIABLE_MODE } from "../domain/payment-link.ts";
import { makeReference } from "../domain/reference.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";
import type { Problem } from "../domain/errors.ts";
import type { Merchant } from "./access-tokens.ts";
import type { PaymentIds } from "./ids.ts";
import { isOpen, isReusable, statusOf, type Link } from "./links.ts";
import { ServiceProblem } from "./service-problem.ts";

export const CHOICES = ["approved", "declined", "cancelled"] as const;
export type Choice = (typeof CHOICES)[number];

export interface TestCard {
  /** As printed on a card. */
  readonly number: string;
  /** As the service masks it. */
  readonly masked: string;
  readonly outcome: Exclude<Choice, "cancelled">;
}

const APPROVED: TestCard = { number: "4111 1111 1111 1111", masked: "************1111", outcome: "approved" };
const DECLINED: TestCard = { number: "4000 0000 0000 0002", masked: "************0002", outcome: "declined" };

export const TEST_CARDS: readonly TestCard[] = [APPROVED, DECLINED];

/** The card in the record of a payment; a cancelled payment shows the first card. */
const cardFor = (outcome: Choice): TestCard => (outcome === "declined" ? DECLINED : APPROVED);

/** What the customer enters on the checkout page. */
export interface PaymentInput {
  readonly outcome: Choice;
  /** Only for a reusable link (Endpoints rule 7). */
  readonly amount?: string;
  /** Only if the link's paymentReferenceMode is not FIXED. */
  readonly reference?: string;
}

interface PaymentParts {
  readonly merchant: Merchant;
  readonly ids: PaymentIds;
  /** Whether a payment already has the reference; those of a reusable link are unique (Endpoints rule 6). */
  readonly isUsed: (reference: string) => boolean;
  readonly now: Date;
}

/** Updates the link's dates. Throws a 409 problem if the link is not open, a 422 problem for invalid input. */
export function takePayment(link: Link, input: PaymentInput, parts: PaymentParts): WellFormedRecord {
  const { merchant, ids, now } = parts;
  const status = statusOf(link, now);
  if (!isOpen(status)) throw new ServiceProblem(409, "Conflict", `the link is ${status}`);
  const amount = amountOf(link, input);
  const base = baseReference(link, input);
  link.viewedDate ??= now;
  link.attemptedDate = now;
  if (input.outcome === "approved") link.paidDate = now;
  const reference = isReusable(link) ? uniqueReference(base, parts) : base;
  const { currency, terminalId, transactionType = SALE } = link.request;
  return sampleRecord(
    {
      outcome: input.outcome,
      transType: transactionType,
      amount,
      currency: currency.toUpperCase(),
      reference,
      terminalId,
      merchant,
      cardPan: cardFor(input.outcome).masked,
      softwareVersion: "sandbox",
      number: String(ids.nextNumber()).padStart(6, "0"),
    },
    { newId: ids.newId, now },
  );
}

function uniqueReference(base: string, { ids, isUsed }: PaymentParts): string {
  for (;;) {
    const reference = makeReference(base, ids.newSuffix());
    if (!isUsed(reference)) return reference;
  }
}

function amountOf(link: Link, input: PaymentInput): JsonNumber {
  const { amount, currency, linkOptions } = link.request;
  const entered = input.amount ?? (signOf(amount) > 0 ? amount.toString() : undefined);
  if (linkOptions === undefined) {
    if (
      input.amount !== undefined &&
      (!isDecimal(input.amount) || compareAmounts(input.amount, amount) !== 0)
    )
      throw unprocessable({ at: "amount", message: "is fixed by the link" });
    return amount;
  }
  if (entered === undefined)
    throw unprocessable({ at: "amount", message: "is required: the link has no fixed amount" });
  if (!isDecimal(entered) || signOf(entered) <= 0)
    throw unprocessable({ at: "amount", message: "must be a decimal above 0, such as 10.50" });
  const tooFine = decimalsProblem(entered, currency);
  if (tooFine !== undefined) throw unprocessable({ at: "amount", message: tooFine });
  const { mode, minAmount, maxAmount } = linkOptions;
  // Endpoints rule 9: bounds apply in this mode only.
  if (mode === VARIABLE_MODE) {
    if (minAmount !== undefined && compareAmounts(entered, minAmount) < 0)
      throw unprocessable({ at: "amount", message: `must be at least ${formatAmount(minAmount, currency)}` });
    if (maxAmount !== undefined && compareAmounts(entered, maxAmount) > 0)
      throw unprocessable({ at: "amount", message: `must be at most ${formatAmount(maxAmount, currency)}` });
  }
  return new JsonNumber(entered);
}

function baseReference(link: Link, input: PaymentInput): string {
  const { invoiceId, linkOptions } = link.request;
  const fixed = (linkOptions?.paymentReferenceMode ?? DEFAULT_REFERENCE_MODE) === DEFAULT_REFERENCE_MODE;
  if (input.reference !== undefined && fixed)
    throw unprocessable({ at: "reference", message: "is fixed by the link" });
  return input.reference ?? invoiceId ?? link.id;
}

const unprocessable = (problem: Problem): ServiceProblem =>
  new ServiceProblem(422, "Unprocessable Content", `${problem.at} ${problem.message}`, [problem]);

/** The reply to reading a transaction: the record with the merchant's own data (Overview 6). */
export function transactionResponse(record: TransactionRecord, link: Link): JsonObject {
  const { merchantCustomData } = link.request;
  return { ...record, ...(merchantCustomData === undefined ? {} : { merchantCustomData }) };
}
