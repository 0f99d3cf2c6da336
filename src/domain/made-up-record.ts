/** The record of a payment that never was, field by field of the specification's table: for the sandbox and for samples. */
import { JsonNumber } from "./json.ts";
import type { WellFormedRecord } from "./transaction-fields.ts";

export interface MadeUpPayment {
  readonly outcome: "approved" | "declined" | "cancelled";
  readonly transType: string;
  readonly amount: JsonNumber;
  readonly currency: string;
  readonly reference: string;
  readonly terminalId: string;
  readonly merchant: {
    readonly merchantId: string;
    readonly merchantName: string;
    readonly merchantStoreId: number;
  };
  /** Masked, as the service gives it. */
  readonly cardPan: string;
  readonly softwareVersion: string;
  /** Six digits, as receipts and traces have. */
  readonly number: string;
}

/** What the issuer says; whoever cancels never asks it. */
const ANSWERS = {
  approved: { responseCode: "00", emvCryptogramType: "ARQC" },
  declined: { responseCode: "05", emvCryptogramType: "AAC" },
  cancelled: undefined,
} as const;

export function madeUpRecord(
  { outcome, transType, amount, currency, reference, terminalId, merchant, ...payment }: MadeUpPayment,
  { newId, now }: { readonly newId: () => string; readonly now: Date },
): WellFormedRecord {
  const { cardPan, softwareVersion, number } = payment;
  const answer = ANSWERS[outcome];
  const date = now.toISOString();
  return {
    uti: newId(),
    transType,
    transApproved: outcome === "approved",
    transPartiallyApproved: false,
    transCancelled: outcome === "cancelled",
    amountTrans: amount,
    amountGratuity: new JsonNumber("0"),
    amountCashback: new JsonNumber("0"),
    cvmSignatureRequired: false,
    cvmPinVerified: false,
    transCurrencyCode: currency,
    terminalId,
    merchantId: merchant.merchantId,
    softwareVersion,
    receiptNumber: number,
    retrievalReferenceNumber: number.padStart(12, "0"),
    ...(answer && { paymentId: newId(), responseCode: answer.responseCode }),
    stan: number,
    ...(outcome === "approved" ? { authorisationCode: number } : {}),
    ...(answer && { merchantTokenId: newId() }),
    cardPan,
    cardStartDate: "2401",
    cardScheme: "VISA",
    cardPanSequenceNumber: "01",
    cardType: "EMV",
    emvAid: "A0000000031010",
    emvTsi: "E800",
    emvTvr: "0000000000",
    emvCryptogram: "",
    ...(answer && { emvCryptogramType: answer.emvCryptogramType }),
    reference,
    merchantName: merchant.merchantName,
    transDateTime: date,
    createdDateTime: date,
    merchantStoreId: new JsonNumber(String(merchant.merchantStoreId)),
    status: "Complete",
  };
}
