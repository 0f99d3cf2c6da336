/**
 * The one table of the fields of payment links, in requests and replies. Flags, prompts, columns of lists, checks, types, labels
 * and the OpenAPI document are made from it.
 */
import { TRANSACTION_TYPES } from "./known-services.ts";
import type { FieldType } from "./payment-link-types.ts";

/** Whether each side has the field. One that both have says whether the service must echo it. */
type Sides =
  | {
      readonly request?: "required";
      readonly reply?: never;
      readonly echoed?: never;
    }
  | {
      readonly request: "never";
      readonly reply: "required" | "optional";
      readonly echoed?: never;
    }
  | {
      /** Optional by default. */
      readonly request?: "required";
      readonly reply: "required" | "optional";
      /** Whether a reply with another value than was sent is wrong (Endpoints rules 2 and 3). */
      readonly echoed: boolean;
    };

export type LinkField = Sides & {
  readonly type: FieldType;
  /** The flag of `create` that sets it, as its declaration names it, and what help calls its value. */
  readonly flag?: string;
  readonly value?: string;
  /** A value that works, for examples of the flag. */
  readonly example?: string;
  /** Words that are known; others are sent too. */
  readonly choices?: readonly string[];
  /** The text may have several lines. */
  readonly multiline?: true;
  /** The setting whose value is sent if no flag and no file has one. */
  readonly setting?: string;
  /** Whether `create` asks for it although no link needs it, or offers to change it, on a terminal. What is missing is asked too. */
  readonly asked?: "always" | "to change";
  /** What prompts, summaries, cards and tables call it. */
  readonly label: string;
  /** Its place from the top where links are shown. Details and summaries show the others below. */
  readonly shown?: Readonly<Partial<Record<LinkView, number>>>;
  /** As help says it; `fieldMeaning` makes it a sentence. By default the label. */
  readonly meaning?: string;
  /** How a person types it, if that is not how it is sent. */
  readonly typed?: string;
  /** What a flag that is not given means. */
  readonly default?: string;
  /** What the flag does besides. */
  readonly note?: string;
};

/** The card of a link; its details, and the summary of a request; the rows of a list before they are sent. */
export type LinkView = "card" | "details" | "preview";

/** By the path of the field, in the order of the specification. */
export const LINK_FIELDS = {
  id: {
    type: "text",
    request: "never",
    reply: "required",
    label: "id",
    shown: { card: 7, details: 3 },
    meaning: "the id of the link",
  },
  amount: {
    type: "amount",
    request: "required",
    reply: "required",
    echoed: true,
    flag: "amount",
    value: "decimal",
    example: "10",
    label: "amount",
    shown: { card: 2, details: 1, preview: 1 },
    asked: "to change",
    meaning:
      "what the customer pays, such as 10.50; 0 if the customer enters it, or the card is only verified",
  },
  currency: {
    type: "currency",
    request: "required",
    reply: "required",
    echoed: true,
    flag: "currency",
    value: "code",
    example: "EUR",
    label: "currency",
    shown: { details: 2 },
    asked: "to change",
    setting: "currency",
    meaning: "the currency: three letters of ISO 4217",
  },
  invoiceId: {
    type: "text",
    reply: "optional",
    echoed: true,
    flag: "invoiceId",
    value: "id",
    example: "INV-1",
    label: "order number",
    shown: { card: 4, details: 7, preview: 3 },
    asked: "always",
    meaning: "your order number; the payment references of a reusable link begin with it",
  },
  terminalId: {
    type: "name",
    request: "required",
    reply: "required",
    echoed: true,
    flag: "terminalId",
    value: "id",
    label: "terminal",
    shown: { details: 8 },
    asked: "to change",
    setting: "terminalId",
    meaning: "the terminal of the payment, which must be one of the account's",
  },
  expirationDate: {
    type: "expiry",
    reply: "required",
    echoed: false,
    flag: "expires",
    value: "when",
    label: "expires",
    shown: { card: 6, details: 10, preview: 6 },
    asked: "to change",
    setting: "expires",
    meaning: "when the link expires",
    typed: "a date (the end of that day), ISO 8601, or a duration such as 7d",
    default: "7d; a reusable link expires after 3 years",
  },
  customerName: {
    type: "name",
    request: "required",
    reply: "required",
    echoed: true,
    flag: "customerName",
    value: "name",
    label: "customer",
    shown: { card: 3, details: 5, preview: 2 },
    asked: "to change",
    setting: "customerName",
    meaning: "the name of the customer",
  },
  description: {
    type: "text",
    reply: "optional",
    echoed: true,
    flag: "description",
    value: "text",
    example: "'Order 1042'",
    label: "description",
    shown: { card: 5, details: 6, preview: 4 },
    asked: "always",
    multiline: true,
    meaning: "what the customer pays for",
  },
  transactionType: {
    type: "transactionType",
    flag: "type",
    value: "type",
    choices: TRANSACTION_TYPES,
    label: "transaction type",
    meaning:
      "SALE takes the money, AUTH only reserves it, VERIFICATION verifies the card and stores a token; PRE-AUTH is not explained by the service",
    typed: `${TRANSACTION_TYPES.join(", ")} or another`,
  },
  merchantCustomData: {
    type: "text",
    flag: "customData",
    value: "text",
    label: "custom data",
    multiline: true,
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
    setting: "returnUrl",
    meaning: "where the customer returns to after a successful payment",
  },
  "paymentSettings.failureReturnUrl": {
    type: "webAddress",
    flag: "failureReturnUrl",
    value: "url",
    label: "return URL after a failure",
    setting: "failureReturnUrl",
    meaning: "where the customer returns to after a failed payment",
  },
  "paymentSettings.callbackUrl": {
    type: "webAddress",
    flag: "callbackUrl",
    value: "url",
    label: "callback URL",
    setting: "callbackUrl",
    meaning: "receives the webhook of a successful payment",
    note: "failed payments are posted there too, unless they have an address of their own",
  },
  "paymentSettings.failureCallbackUrl": {
    type: "webAddress",
    flag: "failureCallbackUrl",
    value: "url",
    label: "callback URL after a failure",
    setting: "failureCallbackUrl",
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
    shown: { preview: 5 },
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
    echoed: true,
    label: "options of a reusable link",
    meaning: "makes the link reusable; only reusable links have it",
  },
  "linkOptions.mode": {
    type: "name",
    reply: "optional",
    echoed: true,
    flag: "mode",
    value: "mode",
    label: "mode",
    meaning: "the mode of a reusable link",
    default: "REUSABLE_VARIABLE",
  },
  "linkOptions.minAmount": {
    type: "bound",
    reply: "optional",
    echoed: true,
    flag: "minAmount",
    value: "decimal",
    example: "5",
    label: "smallest amount",
    asked: "to change",
    meaning: "the smallest amount that can be paid; ignored unless the mode is REUSABLE_VARIABLE",
  },
  "linkOptions.maxAmount": {
    type: "bound",
    reply: "optional",
    echoed: true,
    flag: "maxAmount",
    value: "decimal",
    example: "500",
    label: "largest amount",
    asked: "to change",
    meaning: "the largest amount that can be paid; ignored unless the mode is REUSABLE_VARIABLE",
  },
  "linkOptions.paymentReferenceMode": {
    type: "name",
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
    shown: { details: 9 },
    meaning: "when the link was created",
  },
  viewedDate: {
    type: "dateOrNull",
    request: "never",
    reply: "required",
    label: "viewed",
    shown: { details: 11 },
    meaning: "when the customer first opened the link",
  },
  attemptedDate: {
    type: "dateOrNull",
    request: "never",
    reply: "required",
    label: "attempted",
    shown: { details: 12 },
    meaning: "when a payment was last attempted",
  },
  paidDate: {
    type: "dateOrNull",
    request: "never",
    reply: "required",
    label: "paid",
    shown: { details: 13 },
    meaning: "when the link was last paid",
  },
  cancelledDate: {
    type: "dateOrNull",
    request: "never",
    reply: "required",
    label: "cancelled",
    shown: { details: 14 },
    meaning: "when the link was cancelled",
  },
  status: {
    type: "text",
    request: "never",
    reply: "required",
    label: "status",
    shown: { card: 1, details: 4 },
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

export type LinkFields = typeof LINK_FIELDS;
export type LinkFieldPath = keyof LinkFields;
