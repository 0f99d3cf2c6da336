/** The fields of payment links, in requests and replies: what people call each, what it means, and how it is typed. */
import { type Amount, parseAmount, parseCurrency, signOf } from "./money.ts";
import { TRANSACTION_TYPES } from "./known-services.ts";
import { isJsonNumber, isJsonObject, type Json, type JsonNumber } from "./json.ts";
import { accepted, type Parsed } from "./parse-result.ts";
import { formatInstant, parseExpiry } from "./time.ts";

interface LinkField {
  /** What prompts, summaries, cards and tables call it. */
  readonly label: string;
  /** As a sentence, for the description of the service. */
  readonly meaning: string;
  /** How a person types it, if the label does not say that. */
  readonly typed?: string;
}

/** By the path of the field. */
export const LINK_FIELDS = {
  id: { label: "id", meaning: "The id of the link." },
  url: {
    label: "URL",
    meaning: "The address that the customer pays at, with the id of the link as query parameter r.",
  },
  status: {
    label: "status",
    meaning:
      "active: can be paid; viewed: the customer has opened it; attempted: a payment was attempted and not completed; paid, expired and cancelled: can no longer be paid.",
  },
  amount: {
    label: "amount",
    meaning:
      "Decimal amount in major units, such as 10.50. 0 is for verifications and for multi-use links whose amount the customer enters.",
  },
  currency: {
    label: "currency",
    meaning: "Three-letter currency code (ISO 4217).",
  },
  customerName: {
    label: "customer",
    meaning: "The name of the customer.",
  },
  description: {
    label: "description",
    meaning: "What the customer pays for.",
  },
  invoiceId: {
    label: "order number",
    meaning: "The merchant's order number; the base of the payment references of a multi-use link.",
  },
  terminalId: {
    label: "terminal",
    meaning: "A terminal assigned to the client that obtained the access token.",
  },
  createdDate: { label: "created", meaning: "When the link was created." },
  expirationDate: {
    label: "expires",
    typed: "a duration such as 7d, a date, or ISO 8601",
    meaning: "When the link expires, in UTC. A multi-use link without it expires 3 years after its creation.",
  },
  viewedDate: { label: "viewed", meaning: "When the customer first opened the link." },
  attemptedDate: { label: "attempted", meaning: "When a payment was last attempted." },
  paidDate: { label: "paid", meaning: "When the link was last paid." },
  cancelledDate: { label: "cancelled", meaning: "When the link was cancelled." },
  transactionType: {
    label: "transaction type",
    typed: `${TRANSACTION_TYPES.join(", ")} or another`,
    meaning:
      "SALE authorises and settles, AUTH only authorises, VERIFICATION verifies the card and stores a token.",
  },
  merchantCustomData: {
    label: "custom data",
    meaning: "Free-form text that is stored with the transaction.",
  },
  periodic: { label: "subscription", meaning: "Starts a recurring or subscription arrangement." },
  "periodic.periodicType": {
    label: "periodic type",
    meaning: "The kind of the arrangement.",
  },
  "periodic.sequenceType": {
    label: "sequence type",
    meaning: "The position of the payment in the arrangement.",
  },
  paymentSettings: {
    label: "redirects and callbacks",
    meaning: "Where the customer returns to, and where the webhooks are posted.",
  },
  "paymentSettings.returnUrl": {
    label: "return URL",
    meaning: "Where the customer returns after a successful payment.",
  },
  "paymentSettings.failureReturnUrl": {
    label: "return URL after a failure",
    meaning: "Where the customer returns after a failed payment.",
  },
  "paymentSettings.callbackUrl": {
    label: "callback URL",
    meaning: "Receives the webhook of a successful payment.",
  },
  "paymentSettings.failureCallbackUrl": {
    label: "callback URL after a failure",
    meaning: "Receives the webhook of a failed payment: declined or cancelled.",
  },
  customerDetails: {
    label: "customer details",
    meaning: "Known data of the customer, filled in on the checkout page.",
  },
  "customerDetails.email": {
    label: "e-mail",
    meaning: "The customer's e-mail address.",
  },
  "customerDetails.billingAddress": {
    label: "billing address",
    meaning: "The customer's billing address.",
  },
  "customerDetails.billingAddress.firstName": {
    label: "first name",
    meaning: "First name.",
  },
  "customerDetails.billingAddress.lastName": {
    label: "last name",
    meaning: "Last name.",
  },
  "customerDetails.billingAddress.address1": {
    label: "address",
    meaning: "First address line.",
  },
  "customerDetails.billingAddress.addressLine1": {
    label: "address",
    meaning: "Another spelling of address1.",
  },
  "customerDetails.billingAddress.address2": {
    label: "address, second line",
    meaning: "Second address line.",
  },
  "customerDetails.billingAddress.city": { label: "city", meaning: "City." },
  "customerDetails.billingAddress.postalcode": {
    label: "postcode",
    meaning: "Postcode.",
  },
  "customerDetails.billingAddress.postalCode": {
    label: "postcode",
    meaning: "Another spelling of postalcode.",
  },
  "customerDetails.billingAddress.country": {
    label: "country",
    meaning: "Country.",
  },
  linkOptions: {
    label: "options of a reusable link",
    meaning: "Makes the link multi-use; only multi-use links have it.",
  },
  "linkOptions.mode": { label: "mode", meaning: "The mode of the link." },
  "linkOptions.minAmount": {
    label: "smallest amount",
    meaning: "The smallest amount that can be paid; ignored unless mode is REUSABLE_VARIABLE.",
  },
  "linkOptions.maxAmount": {
    label: "largest amount",
    meaning: "The largest amount that can be paid; ignored unless mode is REUSABLE_VARIABLE.",
  },
  "linkOptions.paymentReferenceMode": {
    label: "reference mode",
    meaning: "How the checkout page handles the payment reference; FIXED if it is left out.",
  },
} as const satisfies Readonly<Record<string, LinkField>>;
export type LinkFieldPath = keyof typeof LINK_FIELDS;

/** In the order of a link's life. */
export const LINK_DATES = [
  "createdDate",
  "expirationDate",
  "viewedDate",
  "attemptedDate",
  "paidDate",
  "cancelledDate",
] as const;

/** What people call a field; the path of one that the specification lacks. */
export const labelOf = (path: string): string => (isLinkField(path) ? LINK_FIELDS[path].label : path);

/** The same as a heading, a question and a form begin with it. */
export const titleOf = (path: string): string => capitalized(labelOf(path));

/** What a question asks for: the title, and how it is typed. */
export function questionOf(path: LinkFieldPath): string {
  const { typed }: LinkField = LINK_FIELDS[path];
  return typed === undefined ? titleOf(path) : `${titleOf(path)} (${typed})`;
}

export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

export const meaningOf = (path: string): string | undefined =>
  isLinkField(path) ? LINK_FIELDS[path].meaning : undefined;

const isLinkField = (path: string): path is LinkFieldPath => Object.hasOwn(LINK_FIELDS, path);

/** Reads an amount in the spelling of its list. */
export type AmountParser = (text: string) => Parsed<JsonNumber>;

/**
 * What kind of link a request asks for, or a service shows, in the words of the questions. Few services say of a link without
 * an amount whether it starts a subscription.
 */
export function linkKind(link: {
  readonly amount?: Amount | undefined;
  readonly linkOptions?: unknown;
  readonly periodic?: unknown;
}): "one-time" | "reusable" | "subscription" | "verification" {
  if (isJsonObject(link.linkOptions)) return "reusable";
  if (isJsonObject(link.periodic)) return "subscription";
  return link.amount !== undefined && signOf(link.amount) === 0 ? "verification" : "one-time";
}

/**
 * The value to send for a field: the amount as a number in its spelling, bounds as text, the currency and a known
 * transaction type in upper case, an expiry (ISO 8601, a date, or a duration from `now`) as ISO 8601 UTC, any other text
 * unchanged. `checkRequest` applies the
 * rules of the field afterwards.
 */
export function fieldFromText(
  field: string,
  text: string,
  now: Date,
  amountFrom: AmountParser = (typed) => parseAmount(typed),
): Parsed<Json> {
  switch (field) {
    case "amount":
      return amountFrom(text);
    case "linkOptions.minAmount":
    case "linkOptions.maxAmount": {
      const bound = amountFrom(text);
      return bound.ok ? accepted(bound.value.value) : bound;
    }
    case "currency": {
      const code = parseCurrency(text.trim());
      // The rule of the field reports a text that is not a code.
      return code.ok ? code : accepted(text);
    }
    case "transactionType":
      return accepted(TRANSACTION_TYPES.find((type) => type === text.trim().toUpperCase()) ?? text);
    case "expirationDate": {
      const date = parseExpiry(text, now);
      return date.ok ? accepted(formatInstant(date.value)) : date;
    }
    default:
      return accepted(text);
  }
}

/** Echoes an invalid value after the message about it; a whole object or list would be too long. */
export function got(value: Json | undefined): string {
  if (typeof value === "string") return ` (got "${value}")`;
  return isJsonNumber(value) ? ` (got ${value.value})` : "";
}
