/** Sample transaction records: what the service would report of a payment, field by field of the specification's table. */
import { exponentOf } from "../domain/currency.ts";
import { JsonNumber } from "../domain/json.ts";
import { SALE, VERIFICATION } from "../domain/payment-link.ts";
import { makeReference, SUFFIX_ALPHABET, SUFFIX_LENGTH } from "../domain/reference.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";

export const OUTCOMES = ["approved", "declined", "cancelled"] as const;
export type SampleOutcome = (typeof OUTCOMES)[number];

export const LINK_KINDS = ["one-time", "reusable", "subscription"] as const;
export type LinkKind = (typeof LINK_KINDS)[number];

export interface Sample {
  readonly outcome: SampleOutcome;
  readonly link: LinkKind;
  /** As it is to be spelled; by default 10.00, and 0 for the start of a subscription. */
  readonly amount?: string | undefined;
  readonly currency?: string | undefined;
  /** The merchant's order number: the whole reference, or the base of a reusable link's. */
  readonly reference?: string | undefined;
}

/** What makes one record unlike the next. */
export interface SampleSource {
  readonly newId: () => string;
  readonly now: () => Date;
}

/** Which card the customer paid with: its last four digits and what the issuer said. */
const ANSWERS = {
  approved: { card: "1111", responseCode: "00", emvCryptogramType: "ARQC" },
  declined: { card: "0002", responseCode: "05", emvCryptogramType: "AAC" },
} as const;

export function sampleRecord(sample: Sample, { newId, now }: SampleSource): WellFormedRecord {
  const { outcome, link, currency = "EUR" } = sample;
  const start = link === "subscription";
  const date = now().toISOString();
  const number = numberFrom(newId());
  const answer = outcome === "cancelled" ? undefined : ANSWERS[outcome];
  return {
    uti: newId(),
    transType: start ? VERIFICATION : SALE,
    transApproved: outcome === "approved",
    transPartiallyApproved: false,
    transCancelled: outcome === "cancelled",
    amountTrans: new JsonNumber(sample.amount ?? (start ? "0" : tenIn(currency))),
    amountGratuity: new JsonNumber("0"),
    amountCashback: new JsonNumber("0"),
    cvmSignatureRequired: false,
    cvmPinVerified: false,
    transCurrencyCode: currency,
    terminalId: "1234567890",
    merchantId: "000000000012345",
    softwareVersion: "1.0.0",
    receiptNumber: number,
    retrievalReferenceNumber: number.padStart(12, "0"),
    ...(answer && { paymentId: newId(), responseCode: answer.responseCode }),
    stan: number,
    ...(outcome === "approved" ? { authorisationCode: number } : {}),
    ...(answer && { merchantTokenId: newId() }),
    cardPan: `************${answer?.card ?? ANSWERS.approved.card}`,
    cardStartDate: "2401",
    cardScheme: "VISA",
    cardPanSequenceNumber: "01",
    cardType: "EMV",
    emvAid: "A0000000031010",
    emvTsi: "E800",
    emvTvr: "0000000000",
    emvCryptogram: "",
    ...(answer && { emvCryptogramType: answer.emvCryptogramType }),
    reference: referenceOf(sample, newId),
    merchantName: "Sample Merchant",
    transDateTime: date,
    createdDateTime: date,
    merchantStoreId: new JsonNumber("1"),
    status: "Complete",
  };
}

/** Ten, with the decimals that the currency has. */
function tenIn(currency: string): string {
  const decimals = exponentOf(currency) ?? 2;
  return decimals === 0 ? "10" : `10.${"0".repeat(decimals)}`;
}

/** Endpoints rule 6: each payment of a reusable link has its own suffix. */
function referenceOf({ link, reference = "INV-1001" }: Sample, newId: () => string): string {
  if (link !== "reusable") return reference;
  const octets = Buffer.from(newId().replaceAll("-", ""), "hex").subarray(0, SUFFIX_LENGTH);
  const suffix = [...octets].map((octet) => SUFFIX_ALPHABET[octet % SUFFIX_ALPHABET.length]).join("");
  return makeReference(reference, suffix);
}

/** Six digits, as receipts and traces have. */
function numberFrom(id: string): string {
  const digits = Number.parseInt(id.replaceAll("-", "").slice(0, 8), 16) % 1_000_000;
  return String(digits).padStart(6, "0");
}
