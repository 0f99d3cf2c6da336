/** The fields of a transaction record, from the table of the specification (Resources, "Transaction record"). */

import { isReadableCardNumber } from "./card-numbers.ts";
import { isJsonNumber, type Json, type JsonNumber } from "../values/json.ts";
import { TRANSACTION_TYPES } from "./known-services.ts";
import { CURRENCY_CODE } from "./money.ts";
import { isUtcDateTime } from "../values/time.ts";

/**
 * The types of values; `must` completes "must be …", and `json` is the type as JSON Schema. Tests get only values that are
 * present and not null.
 */
const textType = {
  must: "text",
  json: { type: "string" },
  test: (value: Json): value is string => typeof value === "string",
};
/** Values that are known, for completion in an editor; the specification has no list, so any other text is as good. */
const textSuchAs = <Known extends string>(...known: readonly Known[]) => ({
  ...textType,
  known,
  test: (value: Json): value is Known | OtherText => textType.test(value),
});
/** Any text. TypeScript would complete nothing in a union with `string`. */
type OtherText = string & {};
const maskedCardNumber = {
  must: "text, with the card number masked",
  json: { type: "string" },
  test: (value: Json): value is string => typeof value === "string" && !isReadableCardNumber(value),
};
const flagType = {
  must: "true or false",
  json: { type: "boolean" },
  test: (value: Json): value is boolean => typeof value === "boolean",
};
const numberType = {
  must: "a number",
  json: { type: "number" },
  test: (value: Json): value is JsonNumber => isJsonNumber(value),
};
/** In major units. A refund may be negative. */
export const amount = { ...numberType };
const currencyType = {
  must: "a three-letter currency code",
  json: { type: "string", pattern: CURRENCY_CODE.source },
  test: (value: Json): value is string => typeof value === "string" && CURRENCY_CODE.test(value),
};
export const dateTime = {
  must: "an ISO 8601 date-time in UTC",
  json: { type: "string", format: "date-time" },
  test: (value: Json): value is string => typeof value === "string" && isUtcDateTime(value),
};
/** Transitions rule 3: the only status a webhook is sent with. */
const completeType = {
  must: '"Complete"',
  json: { const: "Complete" },
  test: (value: Json): value is "Complete" => value === "Complete",
};

/**
 * The presence column: `always`; `attempted` is "absent for a cancelled attempt" and present for every other; `accepted`
 * is "only for an accepted payment".
 */
export type Presence = "always" | "attempted" | "accepted";

const fieldWith =
  <P extends Presence>(presence: P) =>
  <Name extends string, Type extends RecordFieldType>(name: Name, type: Type, meaning: string) => ({
    name,
    type,
    presence,
    meaning,
  });
const always = fieldWith("always");
const attemptedOnly = fieldWith("attempted");
const acceptedOnly = fieldWith("accepted");

/**
 * All 37 fields, in the specification's order. The reader, the library's types (`npm run docs` writes them), OpenAPI and
 * `trigger --set` come from here.
 */
export const TRANSACTION_FIELDS = [
  always(
    "uti",
    textType,
    "The unique id of the transaction; a webhook that is delivered again has the same.",
  ),
  always("transType", textSuchAs(...TRANSACTION_TYPES), "The type of the transaction, such as SALE."),
  always("transApproved", flagType, "Whether the payment was approved."),
  always(
    "transPartiallyApproved",
    flagType,
    "Whether only a part of the requested amount was approved; amountTrans is that part.",
  ),
  always("transCancelled", flagType, "Whether the customer cancelled the payment."),
  always("amountTrans", amount, "The amount in major units, such as 10.5 for 10.50 euros."),
  always("amountGratuity", amount, "The gratuity in major units."),
  always("amountCashback", amount, "The cash paid out, in major units."),
  always("cvmSignatureRequired", flagType, "Whether the cardholder had to sign."),
  always("cvmPinVerified", flagType, "Whether the cardholder's PIN was verified."),
  always("transCurrencyCode", currencyType, "The currency: three letters of ISO 4217, such as EUR."),
  always("terminalId", textType, "The terminal of the payment link."),
  always("merchantId", textType, "The merchant's id at the service."),
  always("softwareVersion", textType, "The version of the software that made the payment."),
  always("receiptNumber", textType, "The number on the receipt."),
  always(
    "retrievalReferenceNumber",
    textType,
    "The retrieval reference number (RRN), which names the transaction to the acquirer.",
  ),
  attemptedOnly("paymentId", textType, "The id of the payment."),
  attemptedOnly("responseCode", textType, "The issuer's response code, such as 00 for approved."),
  always("stan", textType, "The system trace audit number (STAN)."),
  acceptedOnly("authorisationCode", textType, "The issuer's authorisation code."),
  attemptedOnly("merchantTokenId", textType, "The token that stands for the card in later payments."),
  always("cardPan", maskedCardNumber, "The card number, masked."),
  always("cardStartDate", textType, "The month from which the card is valid."),
  always(
    "cardScheme",
    textSuchAs("VISA", "MASTERCARD", "MAESTRO", "AMEX", "DINERS", "DISCOVER", "JCB", "UNIONPAY"),
    "The card scheme, such as VISA.",
  ),
  always("cardPanSequenceNumber", textType, "The sequence number of the card among those with its number."),
  always("cardType", textSuchAs("CTLS", "EMV"), "How the card was read, such as CTLS or EMV."),
  always("emvAid", textType, "The application identifier (AID) of the chip."),
  always("emvTsi", textType, "The transaction status information (TSI) of the chip."),
  always("emvTvr", textType, "The terminal verification results (TVR)."),
  always("emvCryptogram", textType, "The cryptogram of the chip; it may be empty."),
  attemptedOnly("emvCryptogramType", textType, "The type of the cryptogram, such as ARQC or AAC."),
  always(
    "reference",
    textType,
    "The link's invoiceId; for a reusable link followed by a hyphen and 9 characters, different for each payment.",
  ),
  always("merchantName", textType, "The merchant's name."),
  always("transDateTime", dateTime, "When the payment was made, in UTC."),
  always("createdDateTime", dateTime, "When the record was created, in UTC."),
  always("merchantStoreId", numberType, "The number of the merchant's store."),
  always("status", completeType, "Complete in a webhook; with another status, the outcome is unclear."),
] as const satisfies readonly TransactionField[];

interface RecordFieldType {
  readonly must: string;
  readonly known?: readonly string[];
  readonly json: { readonly type: string } | { readonly const: string };
  readonly test: (value: Json) => boolean;
}

export interface TransactionField {
  readonly name: string;
  readonly type: RecordFieldType;
  readonly presence: Presence;
  readonly meaning: string;
}

type FieldEntry = (typeof TRANSACTION_FIELDS)[number];
export type FieldName = FieldEntry["name"];

type TypeOf<F extends FieldEntry> = F["type"]["test"] extends ((value: Json) => value is infer T extends Json)
  ? T
  : never;
type Always = Extract<FieldEntry, { presence: "always" }>;
type Sometimes = Exclude<FieldEntry, Always>;

export const FIELD_NAMES: readonly string[] = TRANSACTION_FIELDS.map(({ name }) => name);

export const isFieldName = (name: string): name is FieldName => FIELD_NAMES.includes(name);

/** A record with every field in its correct type, as a sender builds it. */
export type WellFormedRecord = { [F in Always as F["name"]]: TypeOf<F> } & {
  [F in Sometimes as F["name"]]?: TypeOf<F>;
};
