/** Builds the record of a simulated payment, with every field of the specification's table. */
import { JsonNumber } from "./json.ts";
import type { SampleOutcome } from "./outcome.ts";
import type { WellFormedRecord } from "./transaction-fields.ts";

export interface SamplePayment {
  readonly outcome: SampleOutcome;
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
  /** Masked, as the service sends it. */
  readonly cardPan: string;
  readonly softwareVersion: string;
  /** Six digits: the receipt number, the trace number and the authorisation code. */
  readonly number: string;
}

/** The issuer's response; a cancelled payment never reaches the issuer. */
const RESPONSES = {
  approved: { responseCode: "00", emvCryptogramType: "ARQC" },
  "partially-approved": { responseCode: "10", emvCryptogramType: "ARQC" },
  declined: { responseCode: "05", emvCryptogramType: "AAC" },
  cancelled: undefined,
} as const;

export function sampleRecord(
  { outcome, transType, amount, currency, reference, terminalId, merchant, ...payment }: SamplePayment,
  { newId, now }: { readonly newId: () => string; readonly now: Date },
): WellFormedRecord {
  const { cardPan, softwareVersion, number } = payment;
  const response = RESPONSES[outcome];
  const isApproved = outcome === "approved" || outcome === "partially-approved";
  const date = now.toISOString();
  return {
    uti: newId(),
    transType,
    transApproved: isApproved,
    transPartiallyApproved: outcome === "partially-approved",
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
    ...(response && { paymentId: newId(), responseCode: response.responseCode }),
    stan: number,
    ...(isApproved ? { authorisationCode: number } : {}),
    ...(response && { merchantTokenId: newId() }),
    cardPan,
    cardStartDate: "2401",
    cardScheme: "VISA",
    cardPanSequenceNumber: "01",
    cardType: "EMV",
    emvAid: "A0000000031010",
    emvTsi: "E800",
    emvTvr: "0000000000",
    emvCryptogram: "",
    ...(response && { emvCryptogramType: response.emvCryptogramType }),
    reference,
    merchantName: merchant.merchantName,
    transDateTime: date,
    createdDateTime: date,
    merchantStoreId: new JsonNumber(String(merchant.merchantStoreId)),
    status: "Complete",
  };
}
