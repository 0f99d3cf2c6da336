/** The fields of a transaction record, from the table of the specification (Resources, "Transaction record"). */

import { isReadableCardNumber } from "./card-numbers.ts";
import { isJsonNumber, type Json, type JsonNumber } from "./json.ts";
import { isUtcDateTime } from "./time.ts";

/**
 * The types of values; `must` completes "must be …", and `json` is the type as JSON Schema. Tests get only values that are
 * present and not null.
 */
const text = {
  must: "text",
  json: { type: "string" },
  test: (value: Json): value is string => typeof value === "string",
};
const maskedCardNumber = {
  must: "text, with the card number masked",
  json: { type: "string" },
  test: (value: Json): value is string => typeof value === "string" && !isReadableCardNumber(value),
};
const flag = {
  must: "true or false",
  json: { type: "boolean" },
  test: (value: Json): value is boolean => typeof value === "boolean",
};
const number = {
  must: "a number",
  json: { type: "number" },
  test: (value: Json): value is JsonNumber => isJsonNumber(value),
};
/** In major units. A refund may be negative. */
export const amount = { ...number };
const currency = {
  must: "a three-letter currency code",
  json: { type: "string", pattern: "^[A-Za-z]{3}$" },
  test: (value: Json): value is string => typeof value === "string" && /^[A-Za-z]{3}$/.test(value),
};
export const dateTime = {
  must: "an ISO 8601 date-time in UTC",
  json: { type: "string", format: "date-time" },
  test: (value: Json): value is string => typeof value === "string" && isUtcDateTime(value),
};
/** Transitions rule 3: the only status a webhook is sent with. */
const complete = {
  must: '"Complete"',
  json: { const: "Complete" },
  test: (value: Json): value is "Complete" => value === "Complete",
};

/**
 * The presence column: `always`; `attempted` is "absent for a cancelled attempt" and present for every other; `accepted`
 * is "only for an accepted payment".
 */
export type Presence = "always" | "attempted" | "accepted";

const fieldOf =
  <P extends Presence>(presence: P) =>
  <Name extends string, Type extends FieldType>(name: Name, type: Type) => ({ name, type, presence });
const always = fieldOf("always");
const attempted = fieldOf("attempted");
const accepted = fieldOf("accepted");

/**
 * All 37 fields, in the specification's order. The reader, the library's types (`npm run docs` writes them), OpenAPI and
 * `trigger --set` come from here and from `FIELD_MEANINGS`.
 */
export const TRANSACTION_FIELDS = [
  always("uti", text),
  always("transType", text),
  always("transApproved", flag),
  always("transPartiallyApproved", flag),
  always("transCancelled", flag),
  always("amountTrans", amount),
  always("amountGratuity", amount),
  always("amountCashback", amount),
  always("cvmSignatureRequired", flag),
  always("cvmPinVerified", flag),
  always("transCurrencyCode", currency),
  always("terminalId", text),
  always("merchantId", text),
  always("softwareVersion", text),
  always("receiptNumber", text),
  always("retrievalReferenceNumber", text),
  attempted("paymentId", text),
  attempted("responseCode", text),
  always("stan", text),
  accepted("authorisationCode", text),
  attempted("merchantTokenId", text),
  always("cardPan", maskedCardNumber),
  always("cardStartDate", text),
  always("cardScheme", text),
  always("cardPanSequenceNumber", text),
  always("cardType", text),
  always("emvAid", text),
  always("emvTsi", text),
  always("emvTvr", text),
  always("emvCryptogram", text),
  attempted("emvCryptogramType", text),
  always("reference", text),
  always("merchantName", text),
  always("transDateTime", dateTime),
  always("createdDateTime", dateTime),
  always("merchantStoreId", number),
  always("status", complete),
] as const satisfies readonly TransactionField[];

interface FieldType {
  readonly must: string;
  readonly json: { readonly type: string } | { readonly const: string };
  readonly test: (value: Json) => boolean;
}

export interface TransactionField {
  readonly name: string;
  readonly type: FieldType;
  readonly presence: Presence;
}

type Field = (typeof TRANSACTION_FIELDS)[number];
export type FieldName = Field["name"];

/** What each field means; apart from the table, since the code of `paylink/webhooks` needs the table and not the words. */
export const FIELD_MEANINGS: Readonly<Record<FieldName, string>> = {
  uti: "The unique id of the transaction; a webhook that is delivered again has the same.",
  transType: "The type of the transaction, such as SALE.",
  transApproved: "Whether the payment was approved.",
  transPartiallyApproved:
    "Whether only a part of the requested amount was approved; amountTrans is that part.",
  transCancelled: "Whether the customer cancelled the payment.",
  amountTrans: "The amount in major units, such as 10.5 for 10.50 euros.",
  amountGratuity: "The gratuity in major units.",
  amountCashback: "The cash paid out, in major units.",
  cvmSignatureRequired: "Whether the cardholder had to sign.",
  cvmPinVerified: "Whether the cardholder's PIN was verified.",
  transCurrencyCode: "The currency: three letters of ISO 4217, such as EUR.",
  terminalId: "The terminal of the payment link.",
  merchantId: "The merchant's id at the service.",
  softwareVersion: "The version of the software that made the payment.",
  receiptNumber: "The number on the receipt.",
  retrievalReferenceNumber:
    "The retrieval reference number (RRN), which names the transaction to the acquirer.",
  paymentId: "The id of the payment.",
  responseCode: "The issuer's response code, such as 00 for approved.",
  stan: "The system trace audit number (STAN).",
  authorisationCode: "The issuer's authorisation code.",
  merchantTokenId: "The token that stands for the card in later payments.",
  cardPan: "The card number, masked.",
  cardStartDate: "The month from which the card is valid.",
  cardScheme: "The card scheme, such as VISA.",
  cardPanSequenceNumber: "The sequence number of the card among those with its number.",
  cardType: "How the card was read, such as CTLS or EMV.",
  emvAid: "The application identifier (AID) of the chip.",
  emvTsi: "The transaction status information (TSI) of the chip.",
  emvTvr: "The terminal verification results (TVR).",
  emvCryptogram: "The cryptogram of the chip; it may be empty.",
  emvCryptogramType: "The type of the cryptogram, such as ARQC or AAC.",
  reference:
    "The link's invoiceId; for a multi-use link followed by a hyphen and 9 characters, different for each payment.",
  merchantName: "The merchant's name.",
  transDateTime: "When the payment was made, in UTC.",
  createdDateTime: "When the record was created, in UTC.",
  merchantStoreId: "The number of the merchant's store.",
  status: "Complete in a webhook; with another status, the outcome is unclear.",
};

type TypeOf<F extends Field> = F["type"]["test"] extends ((value: Json) => value is infer T extends Json)
  ? T
  : never;
type Always = Extract<Field, { presence: "always" }>;
type Sometimes = Exclude<Field, Always>;

const NAMES: ReadonlySet<string> = new Set(TRANSACTION_FIELDS.map(({ name }) => name));
export const isFieldName = (name: string): name is FieldName => NAMES.has(name);

/** A record with every field in its correct type, as a sender builds it. */
export type WellFormedRecord = { [F in Always as F["name"]]: TypeOf<F> } & {
  [F in Sometimes as F["name"]]?: TypeOf<F>;
};
