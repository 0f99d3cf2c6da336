/** The fields of a transaction record, from the table of the specification (Resources, "Transaction record"). */

import { isReadableCardNumber } from "./card-number.ts";
import { isJsonNumber, type Json, type JsonNumber } from "./json.ts";
import { signOf } from "./money.ts";
import { isUtcDateTime } from "./when.ts";

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
const amount = {
  must: "a number of 0 or more",
  json: { type: "number", minimum: 0 },
  test: (value: Json): value is JsonNumber => isJsonNumber(value) && signOf(value) >= 0,
};
const currency = {
  must: "a three-letter currency code",
  json: { type: "string", pattern: "^[A-Za-z]{3}$" },
  test: (value: Json): value is string => typeof value === "string" && /^[A-Za-z]{3}$/.test(value),
};
const dateTime = {
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

/** All 37 fields, in the specification's order. */
export const TRANSACTION_FIELDS = [
  { name: "uti", type: text, presence: "always" },
  { name: "transType", type: text, presence: "always" },
  { name: "transApproved", type: flag, presence: "always" },
  { name: "transPartiallyApproved", type: flag, presence: "always" },
  { name: "transCancelled", type: flag, presence: "always" },
  { name: "amountTrans", type: amount, presence: "always" },
  { name: "amountGratuity", type: amount, presence: "always" },
  { name: "amountCashback", type: amount, presence: "always" },
  { name: "cvmSignatureRequired", type: flag, presence: "always" },
  { name: "cvmPinVerified", type: flag, presence: "always" },
  { name: "transCurrencyCode", type: currency, presence: "always" },
  { name: "terminalId", type: text, presence: "always" },
  { name: "merchantId", type: text, presence: "always" },
  { name: "softwareVersion", type: text, presence: "always" },
  { name: "receiptNumber", type: text, presence: "always" },
  { name: "retrievalReferenceNumber", type: text, presence: "always" },
  { name: "paymentId", type: text, presence: "attempted" },
  { name: "responseCode", type: text, presence: "attempted" },
  { name: "stan", type: text, presence: "always" },
  { name: "authorisationCode", type: text, presence: "accepted" },
  { name: "merchantTokenId", type: text, presence: "attempted" },
  { name: "cardPan", type: maskedCardNumber, presence: "always" },
  { name: "cardStartDate", type: text, presence: "always" },
  { name: "cardScheme", type: text, presence: "always" },
  { name: "cardPanSequenceNumber", type: text, presence: "always" },
  { name: "cardType", type: text, presence: "always" },
  { name: "emvAid", type: text, presence: "always" },
  { name: "emvTsi", type: text, presence: "always" },
  { name: "emvTvr", type: text, presence: "always" },
  { name: "emvCryptogram", type: text, presence: "always" },
  { name: "emvCryptogramType", type: text, presence: "attempted" },
  { name: "reference", type: text, presence: "always" },
  { name: "merchantName", type: text, presence: "always" },
  { name: "transDateTime", type: dateTime, presence: "always" },
  { name: "createdDateTime", type: dateTime, presence: "always" },
  { name: "merchantStoreId", type: number, presence: "always" },
  { name: "status", type: complete, presence: "always" },
] as const satisfies readonly TransactionField[];

export interface TransactionField {
  readonly name: string;
  readonly type: { readonly must: string; readonly json: object; readonly test: (value: Json) => boolean };
  readonly presence: Presence;
}

type Field = (typeof TRANSACTION_FIELDS)[number];
export type FieldName = Field["name"];
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
