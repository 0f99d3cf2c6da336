/** The transaction record as applications see it; `npm run docs` writes the fields from their table. */

/** The fields of every record. */
interface CommonFields {
  /** The unique id of the transaction; a webhook that is delivered again has the same. */
  readonly uti: string;
  /** The type of the transaction, such as SALE. */
  readonly transType: "SALE" | "AUTH" | "PRE-AUTH" | "VERIFICATION" | (string & {});
  /** The amount in major units, such as 10.5 for 10.50 euros. `amounts.amountTrans` has its exact text, and its minor units. */
  readonly amountTrans: number;
  /** The gratuity in major units. `amounts.amountGratuity` has its exact text, and its minor units. */
  readonly amountGratuity: number;
  /** The cash paid out, in major units. `amounts.amountCashback` has its exact text, and its minor units. */
  readonly amountCashback: number;
  /** Whether the cardholder had to sign. */
  readonly cvmSignatureRequired: boolean;
  /** Whether the cardholder's PIN was verified. */
  readonly cvmPinVerified: boolean;
  /** The currency: three letters of ISO 4217, such as EUR. */
  readonly transCurrencyCode: string;
  /** The terminal of the payment link. */
  readonly terminalId: string;
  /** The merchant's id at the service. */
  readonly merchantId: string;
  /** The version of the software that made the payment. */
  readonly softwareVersion: string;
  /** The number on the receipt. */
  readonly receiptNumber: string;
  /** The retrieval reference number (RRN), which names the transaction to the acquirer. */
  readonly retrievalReferenceNumber: string;
  /** The system trace audit number (STAN). */
  readonly stan: string;
  /** The card number, masked. */
  readonly cardPan: string;
  /** The month from which the card is valid. */
  readonly cardStartDate: string;
  /** The card scheme, such as VISA. */
  readonly cardScheme:
    | "VISA"
    | "MASTERCARD"
    | "MAESTRO"
    | "AMEX"
    | "DINERS"
    | "DISCOVER"
    | "JCB"
    | "UNIONPAY"
    | (string & {});
  /** The sequence number of the card among those with its number. */
  readonly cardPanSequenceNumber: string;
  /** How the card was read, such as CTLS or EMV. */
  readonly cardType: "CTLS" | "EMV" | (string & {});
  /** The application identifier (AID) of the chip. */
  readonly emvAid: string;
  /** The transaction status information (TSI) of the chip. */
  readonly emvTsi: string;
  /** The terminal verification results (TVR). */
  readonly emvTvr: string;
  /** The cryptogram of the chip; it may be empty. */
  readonly emvCryptogram: string;
  /** The link's invoiceId; for a reusable link followed by a hyphen and 9 characters, different for each payment. */
  readonly reference: string;
  /** The merchant's name. */
  readonly merchantName: string;
  /** When the payment was made, in UTC. */
  readonly transDateTime: string;
  /** When the record was created, in UTC. */
  readonly createdDateTime: string;
  /** The number of the merchant's store. */
  readonly merchantStoreId: number;
  /** Complete in a webhook; with another status, the outcome is unclear. */
  readonly status: "Complete";
}

/** The fields of a payment that reached the card's issuer. */
interface AttemptedFields {
  /** The id of the payment. */
  readonly paymentId: string;
  /** The issuer's response code, such as 00 for approved. */
  readonly responseCode: string;
  /** The token that stands for the card in later payments. */
  readonly merchantTokenId: string;
  /** The type of the cryptogram, such as ARQC or AAC. */
  readonly emvCryptogramType: string;
}

/** The fields of a payment that the issuer accepted. */
interface AcceptedFields {
  /** The issuer's authorisation code. */
  readonly authorisationCode: string;
}

/** The flags, which make the outcome. */
interface FlagFields<Approved extends boolean, Partially extends boolean, Cancelled extends boolean> {
  /** Whether the payment was approved. */
  readonly transApproved: Approved;
  /** Whether only a part of the requested amount was approved; amountTrans is that part. */
  readonly transPartiallyApproved: Partially;
  /** Whether the customer cancelled the payment. */
  readonly transCancelled: Cancelled;
}

/** The absent fields of a record, so that reading one is a type error or undefined. */
type Absent<Fields extends string> = { readonly [Field in Fields]?: undefined };

/** A payment that was approved. */
export interface ApprovedTransaction
  extends CommonFields, AttemptedFields, AcceptedFields, FlagFields<true, false, false> {}

/** A payment of which only a part was approved: it does not pay the order. */
export interface PartiallyApprovedTransaction
  extends CommonFields, AttemptedFields, AcceptedFields, FlagFields<true, true, false> {}

/** A payment that the issuer declined. */
export interface DeclinedTransaction
  extends CommonFields, AttemptedFields, Absent<keyof AcceptedFields>, FlagFields<false, boolean, false> {}

/** A payment that the customer cancelled. */
export interface CancelledTransaction
  extends
    CommonFields,
    Absent<keyof AttemptedFields | keyof AcceptedFields>,
    FlagFields<false, boolean, true> {}

/** A record that keeps the specification, by its flags. */
export type Transaction =
  | ApprovedTransaction
  | PartiallyApprovedTransaction
  | DeclinedTransaction
  | CancelledTransaction;

/** The record of each outcome, where it keeps the specification. */
export interface TransactionByOutcome {
  readonly APPROVED: ApprovedTransaction;
  readonly PARTIALLY_APPROVED: PartiallyApprovedTransaction;
  readonly DECLINED: DeclinedTransaction;
  readonly CANCELLED: CancelledTransaction;
}

/** Whether the payment was approved, in whole or in part, declined by the issuer, or cancelled by the customer. */
export type TransactionOutcome = keyof TransactionByOutcome;

/**
 * A record as received: the flags that decide the outcome are there. A field that is missing, or has another type than the
 * specification says, is undefined and in `violations`.
 */
export type ReceivedTransaction<Whole extends Transaction> = {
  readonly [Field in keyof Whole]: Field extends "transApproved" | "transCancelled"
    ? Whole[Field]
    : Whole[Field] extends true
      ? Whole[Field]
      : Whole[Field] | undefined;
};

interface AllFields
  extends CommonFields, AttemptedFields, AcceptedFields, FlagFields<boolean, boolean, boolean> {}

/** A record that does not say what became of the payment: any field may be undefined. */
export type UnclearTransaction = { readonly [Field in keyof AllFields]?: AllFields[Field] | undefined };
