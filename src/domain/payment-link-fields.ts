/**
 * The one table of the fields of payment links, in requests and replies. Flags, prompts, columns of lists, checks, types, labels
 * and the OpenAPI document are made from it.
 */
import { TRANSACTION_TYPES } from "./known-services.ts";

/** What a value can be; `payment-link-values.ts` has the rule of each. */
export type FieldType =
  | "amount"
  | "bound"
  | "currency"
  | "text"
  /** Text that is not empty. */
  | "name"
  | "email"
  | "webAddress"
  | "date"
  | "dateOrNull"
  | "ucof"
  | "initial"
  | "object";

interface LinkField {
  readonly type: FieldType;
  /** Whether a request has it: optional by default. */
  readonly request?: "required" | "never";
  /** Whether a reply has it: never by default. */
  readonly reply?: "required" | "optional";
  /** The flag of `create` that sets it, as its declaration names it, and what help calls its value. */
  readonly flag?: string;
  readonly value?: string;
  /** A value that works, for examples of the flag. */
  readonly example?: string;
  /** Words that are known; others are sent too. */
  readonly choices?: readonly string[];
  /** What prompts, summaries, cards and tables call it. */
  readonly label: string;
  /** As help says it; `meaningOf` makes it a sentence. By default the label. */
  readonly meaning?: string;
  /** How a person types it, if that is not how it is sent. */
  readonly typed?: string;
  /** What a flag that is not given means. */
  readonly default?: string;
  /** What the flag does besides. */
  readonly note?: string;
}

/** By the path of the field, in the order of the specification. */
export const LINK_FIELDS = {
  id: { type: "text", request: "never", reply: "required", label: "id", meaning: "the id of the link" },
  amount: {
    type: "amount",
    request: "required",
    reply: "required",
    flag: "amount",
    value: "decimal",
    example: "10",
    label: "amount",
    meaning:
      "what the customer pays, such as 10.50; 0 if the customer enters it, or the card is only verified",
  },
  currency: {
    type: "currency",
    request: "required",
    reply: "required",
    flag: "currency",
    value: "code",
    example: "EUR",
    label: "currency",
    meaning: "the currency: three letters of ISO 4217",
  },
  invoiceId: {
    type: "text",
    reply: "optional",
    flag: "invoiceId",
    value: "id",
    example: "INV-1",
    label: "order number",
    meaning: "your order number; the payment references of a reusable link begin with it",
  },
  terminalId: {
    type: "name",
    request: "required",
    reply: "required",
    flag: "terminalId",
    value: "id",
    label: "terminal",
    meaning: "the terminal of the payment, which must be one of the account's",
  },
  expirationDate: {
    type: "date",
    reply: "required",
    flag: "expires",
    value: "when",
    label: "expires",
    meaning: "when the link expires",
    typed: "a date (the end of that day), ISO 8601, or a duration such as 7d",
    default: "7d; a reusable link expires after 3 years",
  },
  customerName: {
    type: "name",
    request: "required",
    reply: "required",
    flag: "customerName",
    value: "name",
    label: "customer",
    meaning: "the name of the customer",
  },
  description: {
    type: "text",
    reply: "optional",
    flag: "description",
    value: "text",
    example: "'Order 1042'",
    label: "description",
    meaning: "what the customer pays for",
  },
  transactionType: {
    type: "name",
    flag: "type",
    value: "type",
    choices: TRANSACTION_TYPES,
    label: "transaction type",
    meaning:
      "SALE authorises and settles, AUTH only authorises, VERIFICATION verifies the card and stores a token",
    typed: `${TRANSACTION_TYPES.join(", ")} or another`,
  },
  merchantCustomData: {
    type: "text",
    flag: "customData",
    value: "text",
    label: "custom data",
    meaning: "free-form text that is stored with the transaction",
  },
  periodic: {
    type: "object",
    label: "subscription",
    meaning: "starts a recurring or subscription arrangement",
  },
  "periodic.periodicType": {
    type: "ucof",
    label: "periodic type",
    meaning: "the kind of the arrangement",
  },
  "periodic.sequenceType": {
    type: "initial",
    label: "sequence type",
    meaning: "the position of the payment in the arrangement",
  },
  paymentSettings: {
    type: "object",
    label: "redirects and callbacks",
    meaning: "where the customer returns to, and where the webhooks are posted",
  },
  "paymentSettings.returnUrl": {
    type: "webAddress",
    flag: "returnUrl",
    value: "url",
    label: "return URL",
    meaning: "where the customer returns to after a successful payment",
  },
  "paymentSettings.failureReturnUrl": {
    type: "webAddress",
    flag: "failureReturnUrl",
    value: "url",
    label: "return URL after a failure",
    meaning: "where the customer returns to after a failed payment",
  },
  "paymentSettings.callbackUrl": {
    type: "webAddress",
    flag: "callbackUrl",
    value: "url",
    label: "callback URL",
    meaning: "receives the webhook of a successful payment",
    note: "failed payments are posted there too, unless they have an address of their own",
  },
  "paymentSettings.failureCallbackUrl": {
    type: "webAddress",
    flag: "failureCallbackUrl",
    value: "url",
    label: "callback URL after a failure",
    meaning: "receives the webhook of a failed payment: declined or cancelled",
  },
  customerDetails: {
    type: "object",
    label: "customer details",
    meaning: "known data of the customer, filled in on the checkout page",
  },
  "customerDetails.email": {
    type: "email",
    flag: "email",
    value: "address",
    label: "e-mail",
    meaning: "the customer's e-mail address",
  },
  "customerDetails.billingAddress": {
    type: "object",
    label: "billing address",
    meaning: "the customer's billing address",
  },
  "customerDetails.billingAddress.firstName": {
    type: "text",
    flag: "firstName",
    value: "name",
    label: "first name",
  },
  "customerDetails.billingAddress.lastName": {
    type: "text",
    flag: "lastName",
    value: "name",
    label: "last name",
  },
  "customerDetails.billingAddress.address1": {
    type: "text",
    flag: "address1",
    value: "line",
    label: "address",
    meaning: "first address line",
  },
  "customerDetails.billingAddress.addressLine1": {
    type: "text",
    label: "address",
    meaning: "another spelling of address1",
  },
  "customerDetails.billingAddress.address2": {
    type: "text",
    flag: "address2",
    value: "line",
    label: "address, second line",
    meaning: "second address line",
  },
  "customerDetails.billingAddress.city": {
    type: "text",
    flag: "city",
    value: "city",
    label: "city",
  },
  "customerDetails.billingAddress.postalcode": {
    type: "text",
    flag: "postcode",
    value: "code",
    label: "postcode",
  },
  "customerDetails.billingAddress.postalCode": {
    type: "text",
    label: "postcode",
    meaning: "another spelling of postalcode",
  },
  "customerDetails.billingAddress.country": {
    type: "text",
    flag: "country",
    value: "country",
    label: "country",
  },
  linkOptions: {
    type: "object",
    reply: "optional",
    label: "options of a reusable link",
    meaning: "makes the link reusable; only reusable links have it",
  },
  "linkOptions.mode": {
    type: "name",
    reply: "optional",
    flag: "mode",
    value: "mode",
    label: "mode",
    meaning: "the mode of a reusable link",
    default: "REUSABLE_VARIABLE",
  },
  "linkOptions.minAmount": {
    type: "bound",
    reply: "optional",
    flag: "minAmount",
    value: "decimal",
    example: "5",
    label: "smallest amount",
    meaning: "the smallest amount that can be paid; ignored unless the mode is REUSABLE_VARIABLE",
  },
  "linkOptions.maxAmount": {
    type: "bound",
    reply: "optional",
    flag: "maxAmount",
    value: "decimal",
    example: "500",
    label: "largest amount",
    meaning: "the largest amount that can be paid; ignored unless the mode is REUSABLE_VARIABLE",
  },
  "linkOptions.paymentReferenceMode": {
    type: "name",
    reply: "optional",
    flag: "referenceMode",
    value: "mode",
    label: "reference mode",
    meaning: "how the checkout page handles the payment reference",
    default: "FIXED, set by the service",
  },
  createdDate: {
    type: "date",
    request: "never",
    reply: "required",
    label: "created",
    meaning: "when the link was created",
  },
  viewedDate: {
    type: "dateOrNull",
    request: "never",
    reply: "required",
    label: "viewed",
    meaning: "when the customer first opened the link",
  },
  attemptedDate: {
    type: "dateOrNull",
    request: "never",
    reply: "required",
    label: "attempted",
    meaning: "when a payment was last attempted",
  },
  paidDate: {
    type: "dateOrNull",
    request: "never",
    reply: "required",
    label: "paid",
    meaning: "when the link was last paid",
  },
  cancelledDate: {
    type: "dateOrNull",
    request: "never",
    reply: "required",
    label: "cancelled",
    meaning: "when the link was cancelled",
  },
  status: {
    type: "text",
    request: "never",
    reply: "required",
    label: "status",
    meaning:
      "active: can be paid; viewed: the customer has opened it; attempted: a payment was attempted and not completed; paid, expired and cancelled: can no longer be paid",
  },
  url: {
    type: "text",
    request: "never",
    reply: "required",
    label: "URL",
    meaning: "the address that the customer pays at, with the id of the link as query parameter r",
  },
} as const satisfies Readonly<Record<string, LinkField>>;

/** The field as every field may be. */
export const fieldAt = (path: LinkFieldPath): LinkField => LINK_FIELDS[path];

export type LinkFields = typeof LINK_FIELDS;
export type LinkFieldPath = keyof LinkFields;

/** The paths and fields of a side, in the order of the table. */
export const fieldsOf = (side: "request" | "reply"): readonly [path: LinkFieldPath, field: LinkField][] =>
  FIELDS.filter(([, { request, reply }]) => (side === "request" ? request !== "never" : reply !== undefined));

const FIELDS = Object.entries(LINK_FIELDS) as [LinkFieldPath, LinkField][];

/** The path of every field of a request that holds a single value. */
export const requestFields = (): readonly LinkFieldPath[] =>
  fieldsOf("request").flatMap(([path, { type }]) => (type === "object" ? [] : [path]));

/** The flags of `create` and `bulk` that set a field, by the names of their declarations. */
export type ValueFlag = Extract<LinkFields[LinkFieldPath], { readonly flag: string }>["flag"];

type FieldOfFlag = {
  readonly [
    Path in LinkFieldPath as LinkFields[Path] extends { readonly flag: infer Name extends string }
      ? Name
      : never
  ]: Path;
};

/** The field of each flag. */
export const FIELD_OF = Object.fromEntries(
  FIELDS.flatMap(([path, { flag }]) => (flag === undefined ? [] : [[flag, path]])),
) as FieldOfFlag;

export const VALUE_FLAGS = Object.keys(FIELD_OF) as ValueFlag[];

/** The flag as it is typed: `--terminal-id`. */
export const nameOf = (flag: string): string =>
  `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

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
  const { typed } = fieldAt(path);
  return typed === undefined ? titleOf(path) : `${titleOf(path)} (${typed})`;
}

export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** As a sentence. */
export const meaningOf = (path: string): string | undefined =>
  isLinkField(path) ? `${capitalized(fieldAt(path).meaning ?? labelOf(path))}.` : undefined;

const isLinkField = (path: string): path is LinkFieldPath => Object.hasOwn(LINK_FIELDS, path);
