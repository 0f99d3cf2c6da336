/** Sample transaction records: what the service reports for each kind of payment. */
import { exponentOf } from "../domain/money.ts";
import { JsonNumber, stringifyJson } from "../values/json.ts";
import { sampleRecord } from "./sample-record.ts";
import { SALE, VERIFICATION } from "../domain/payment-link.ts";
import { makeReference, suffixFrom } from "../domain/reference.ts";
import type { SampleOutcome } from "../domain/outcome.ts";
import { cardFor } from "./test-cards.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";

export const LINK_KINDS = ["one-time", "reusable", "subscription"] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

export interface Sample {
  readonly outcome: SampleOutcome;
  readonly link: LinkKind;
  /** Written as given; by default 10.00, and 0 for the start of a subscription. */
  readonly amount?: string | undefined;
  readonly currency?: string | undefined;
  /** The order number: the whole reference, or the beginning of a reusable link's. */
  readonly reference?: string | undefined;
  readonly terminalId?: string | undefined;
}

/** What a customer is to pay. */
export interface SampleOrder {
  readonly number: string;
  readonly amount: string;
  readonly currency: string;
}

/** Of a sample for which nobody names another one. */
export const SAMPLE_CURRENCY = "EUR";

/** Where a record's ids and times come from. */
export interface SampleSource {
  readonly newId: () => string;
  readonly now: () => Date;
}

const MERCHANT = { merchantId: "000000000012345", merchantName: "Sample Merchant", merchantStoreId: 1 };

/** The record of a payment to the sample merchant, with the sample card of its outcome. */
export function recordOfSample(sample: Sample, { newId, now }: SampleSource): WellFormedRecord {
  const { outcome, link, currency = SAMPLE_CURRENCY, terminalId = "1234567890" } = sample;
  const start = link === "subscription";
  return sampleRecord(
    {
      transType: start ? VERIFICATION : SALE,
      amount: new JsonNumber(sample.amount ?? (start ? "0" : tenIn(currency))),
      currency,
      reference: sampleReference(sample, newId),
      card: cardFor(outcome),
      terminalId,
      merchant: MERCHANT,
      softwareVersion: "1.0.0",
      number: numberFrom(newId()),
    },
    { newId, now: now() },
  );
}

/** The approved payment of an order through a one-time link. */
export const approvedPayment = ({ number, amount, currency }: SampleOrder): Sample => ({
  outcome: "approved",
  link: "one-time",
  amount,
  currency,
  reference: number,
});

/** The amount with all decimals of its currency, which a program that parses and serialises it drops. */
export function paddedSample({ amount, currency }: SampleOrder): string {
  const [whole = "", decimals = ""] = amount.split(".");
  const length = Math.max(decimals.length, exponentOf(currency) ?? 2);
  return length === 0 ? whole : `${whole}.${decimals.padEnd(length, "0")}`;
}

export const sampleBody = (sample: Sample, source: SampleSource): Uint8Array =>
  new TextEncoder().encode(stringifyJson(recordOfSample(sample, source)));

/** Ten, with the decimals that the currency has. */
function tenIn(currency: string): string {
  const decimals = exponentOf(currency) ?? 2;
  return decimals === 0 ? "10" : `10.${"0".repeat(decimals)}`;
}

/** Endpoints rule 6: each payment of a reusable link has its own suffix. */
function sampleReference({ link, reference = "INV-1001" }: Sample, newId: () => string): string {
  if (link !== "reusable") return reference;
  return makeReference(reference, suffixFrom(newId()));
}

/** Six digits, as receipts and traces have. */
function numberFrom(id: string): string {
  const digits = Number.parseInt(id.replaceAll("-", "").slice(0, 8), 16) % 1_000_000;
  return String(digits).padStart(6, "0");
}
