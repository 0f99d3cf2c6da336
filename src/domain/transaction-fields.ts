/** The fields of a transaction record, from the table of the specification (Resources, "Transaction record"). */

import { isReadableCardNumber } from "./card-numbers.ts";
import { isJsonNumber, type Json, type JsonNumber } from "./json.ts";
import { TRANSACTION_TYPES } from "./known-services.ts";
import { CURRENCY_CODE } from "./money.ts";
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
/** Values that are known, for completion in an editor; the specification has no list, so any other text is as good. */
const textSuchAs = <Known extends string>(...known: readonly Known[]) => ({
  ...text,
  known,
  test: (value: Json): value is Known | OtherText => text.test(value),
});
/** Any text. TypeScript would complete nothing in a union with `string`. */
type OtherText = string & {};
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
  json: { type: "string", pattern: CURRENCY_CODE.source },
  test: (value: Json): value is string => typeof value === "string" && CURRENCY_CODE.test(value),
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
  <Name extends string, Type extends FieldType>(name: Name, type: Type, meaning: string) => ({
    name,
    type,
    presence,
    meaning,
  });
const always = fieldOf("always");
const attempted = fieldOf("attempted");
const accepted = fieldOf("accepted");

/**
 * All 37 fields, in the specification's order. The reader, the library's types (`npm run docs` writes them), OpenAPI and
 * `trigger --set` come from here.
 */
export const TRANSACTION_FIELDS = [
  always("uti", text, "The unique id of the transaction; a webhook that is delivered again has the same."),
  always("transType", textSuchAs(...TRANSACTION_TYPES), "The type of the transaction, such as SALE."),
  always("transApproved", flag, "Whether the payment was approved."),
  always(
    "transPartiallyApproved",
    flag,
    "Whether only a part of the requested amount was approved; amountTrans is that part.",
  ),
  always("transCancelled", flag, "Whether the customer cancelled the payment."),
  always("amountTrans", amount, "The amount in major units, such as 10.5 for 10.50 euros."),
  always("amountGratuity", amount, "The gratuity in major units."),
  always("amountCashback", amount, "The cash paid out, in major units."),
  always("cvmSignatureRequired", flag, "Whether the cardholder had to sign."),
  always("cvmPinVerified", flag, "Whether the cardholder's PIN was verified."),
  always("transCurrencyCode", currency, "The currency: three letters of ISO 4217, such as EUR."),
  always("terminalId", text, "The terminal of the payment link."),
  always("merchantId", text, "The merchant's id at the service."),
  always("softwareVersion", text, "The version of the software that made the payment."),
  always("receiptNumber", text, "The number on the receipt."),
  always(
    "retrievalReferenceNumber",
    text,
    "The retrieval reference number (RRN), which names the transaction to the acquirer.",
  ),
  attempted("paymentId", text, "The id of the payment."),
  attempted("responseCode", text, "The issuer's response code, such as 00 for approved."),
  always("stan", text, "The system trace audit number (STAN)."),
  accepted("authorisationCode", text, "The issuer's authorisation code."),
  attempted("merchantTokenId", text, "The token that stands for the card in later payments."),
  always("cardPan", maskedCardNumber, "The card number, masked."),
  always("cardStartDate", text, "The month from which the card is valid."),
  always(
    "cardScheme",
    textSuchAs("VISA", "MASTERCARD", "MAESTRO", "AMEX", "DINERS", "DISCOVER", "JCB", "UNIONPAY"),
    "The card scheme, such as VISA.",
  ),
  always("cardPanSequenceNumber", text, "The sequence number of the card among those with its number."),
  always("cardType", textSuchAs("CTLS", "EMV"), "How the card was read, such as CTLS or EMV."),
  always("emvAid", text, "The application identifier (AID) of the chip."),
  always("emvTsi", text, "The transaction status information (TSI) of the chip."),
  always("emvTvr", text, "The terminal verification results (TVR)."),
  always("emvCryptogram", text, "The cryptogram of the chip; it may be empty."),
  attempted("emvCryptogramType", text, "The type of the cryptogram, such as ARQC or AAC."),
  always(
    "reference",
    text,
    "The link's invoiceId; for a multi-use link followed by a hyphen and 9 characters, different for each payment.",
  ),
  always("merchantName", text, "The merchant's name."),
  always("transDateTime", dateTime, "When the payment was made, in UTC."),
  always("createdDateTime", dateTime, "When the record was created, in UTC."),
  always("merchantStoreId", number, "The number of the merchant's store."),
  always("status", complete, "Complete in a webhook; with another status, the outcome is unclear."),
] as const satisfies readonly TransactionField[];

interface FieldType {
  readonly must: string;
  readonly known?: readonly string[];
  readonly json: { readonly type: string } | { readonly const: string };
  readonly test: (value: Json) => boolean;
}

export interface TransactionField {
  readonly name: string;
  readonly type: FieldType;
  readonly presence: Presence;
  readonly meaning: string;
}

type Field = (typeof TRANSACTION_FIELDS)[number];
export type FieldName = Field["name"];

type TypeOf<F extends Field> = F["type"]["test"] extends ((value: Json) => value is infer T extends Json)
  ? T
  : never;
type Always = Extract<Field, { presence: "always" }>;
type Sometimes = Exclude<Field, Always>;

export const FIELD_NAMES: readonly string[] = TRANSACTION_FIELDS.map(({ name }) => name);

export const isFieldName = (name: string): name is FieldName => FIELD_NAMES.includes(name);

/** A record with every field in its correct type, as a sender builds it. */
export type WellFormedRecord = { [F in Always as F["name"]]: TypeOf<F> } & {
  [F in Sometimes as F["name"]]?: TypeOf<F>;
};
