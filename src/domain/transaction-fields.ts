/** The fields of a transaction record, from the table of the specification (Resources, "Transaction record"). */

import { isReadableCardNumber } from "./card-number.ts";
import { isJsonNumber, type Json, type JsonNumber } from "./json.ts";
import { signOf } from "./money.ts";
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

const fieldOf =
  <P extends Presence>(presence: P) =>
  <Name extends string, Type extends FieldType>(name: Name, type: Type) => ({ name, type, presence });
const always = fieldOf("always");
const attempted = fieldOf("attempted");
const accepted = fieldOf("accepted");

/** All 37 fields, in the specification's order. */
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
  readonly json: object;
  readonly test: (value: Json) => boolean;
}

export interface TransactionField {
  readonly name: string;
  readonly type: FieldType;
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
