/** Builds the record of a simulated payment, with every field of the specification's table. */
import { JsonNumber } from "../values/json.ts";
import { maskCardNumber } from "../domain/card-numbers.ts";
import { CARD_SCHEMES, cardDigits, schemeOf, TEST_CARDS, type TestCard } from "./test-cards.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";

export interface SamplePayment {
  /** Undefined if the customer cancels. */
  readonly card: TestCard | undefined;
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
  readonly softwareVersion: string;
  /** Six digits: the receipt number, the trace number and the authorisation code. */
  readonly number: string;
}

export function sampleRecord(
  payment: SamplePayment,
  { newId, now }: { readonly newId: () => string; readonly now: Date },
): WellFormedRecord {
  const { card, transType, amount, currency, reference, terminalId, merchant, softwareVersion, number } =
    payment;
  const isApproved = card !== undefined && card.outcome !== "declined";
  const digits = cardDigits((card ?? TEST_CARDS[0]).number);
  const scheme = schemeOf(digits) ?? CARD_SCHEMES[0];
  const date = now.toISOString();
  return {
    uti: newId(),
    transType,
    transApproved: isApproved,
    transPartiallyApproved: card?.outcome === "partially-approved",
    transCancelled: card === undefined,
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
    // A cancelled payment never reaches the issuer.
    ...(card && { paymentId: newId(), responseCode: card.responseCode }),
    stan: number,
    ...(isApproved ? { authorisationCode: number } : {}),
    ...(card && { merchantTokenId: newId() }),
    cardPan: maskCardNumber(digits),
    cardStartDate: "2401",
    cardScheme: scheme.name,
    cardPanSequenceNumber: "01",
    cardType: "EMV",
    emvAid: scheme.emvAid,
    emvTsi: "E800",
    emvTvr: "0000000000",
    emvCryptogram: "",
    ...(card && { emvCryptogramType: isApproved ? "ARQC" : "AAC" }),
    reference,
    merchantName: merchant.merchantName,
    transDateTime: date,
    createdDateTime: date,
    merchantStoreId: new JsonNumber(String(merchant.merchantStoreId)),
    status: "Complete",
  };
}
