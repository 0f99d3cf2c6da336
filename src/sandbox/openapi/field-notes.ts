/** What the document says about each field beyond its schema: the description, and formats that code checks. */
import { DECIMAL } from "../../domain/money.ts";
import { LARGEST_PAGE, LINK_STATUSES } from "../../domain/payment-link-reply.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** JSON Schema keywords by the path of a field: `linkOptions.minAmount`. */
export type FieldNotes = Readonly<Record<string, JsonSchema>>;

const AMOUNT = { type: "number", minimum: 0 };
const BOUND = { type: ["number", "string"], minimum: 0, pattern: DECIMAL.source };
const WEB_ADDRESS = { format: "uri", pattern: "^https?://[^/]" };
const DATE_TIME = { type: "string", format: "date-time" };
const UTC_DATE_TIME = { ...DATE_TIME, pattern: "T.*(Z|\\+00:00)$" };
const EVENT_DATE = { type: ["string", "null"], format: "date-time" };

/** The fields that requests and replies have in common. */
const COMMON: FieldNotes = {
  amount: {
    ...AMOUNT,
    description:
      "Decimal amount in major units, such as 10.50. 0 is for verifications and for multi-use links whose amount the customer enters.",
  },
  currency: { description: "Three-letter currency code (ISO 4217).", examples: ["GBP"] },
  invoiceId: {
    description: "The merchant's order number; the base of the payment references of a multi-use link.",
  },
  terminalId: { description: "A terminal assigned to the client that obtained the access token." },
  customerName: { description: "The name of the customer." },
  description: { description: "What the customer pays for." },
  expirationDate: {
    ...UTC_DATE_TIME,
    description:
      "When the link expires, in UTC. A multi-use link without it expires 3 years after its creation.",
  },
  linkOptions: { description: "Makes the link multi-use; only multi-use links have it." },
  "linkOptions.mode": { description: "The mode of the link.", examples: ["REUSABLE_VARIABLE"] },
  "linkOptions.minAmount": {
    ...BOUND,
    description: "The smallest amount that can be paid; ignored unless mode is REUSABLE_VARIABLE.",
  },
  "linkOptions.maxAmount": {
    ...BOUND,
    description: "The largest amount that can be paid; ignored unless mode is REUSABLE_VARIABLE.",
  },
  "linkOptions.paymentReferenceMode": {
    description: "How the checkout page handles the payment reference; FIXED if it is left out.",
  },
};

export const REQUEST_NOTES: FieldNotes = {
  ...COMMON,
  "": {
    description: "A link to create: one-time, or multi-use with linkOptions.",
    if: { not: { required: ["linkOptions"] } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { required: ["expirationDate"] },
  },
  transactionType: {
    description:
      "SALE authorises and settles, AUTH only authorises, VERIFICATION verifies the card and stores a token.",
    examples: ["SALE", "AUTH", "PRE-AUTH", "VERIFICATION"],
  },
  merchantCustomData: { description: "Free-form text that is stored with the transaction." },
  periodic: { description: "Starts a recurring or subscription arrangement." },
  "periodic.periodicType": { description: "The kind of the arrangement." },
  "periodic.sequenceType": { description: "The position of the payment in the arrangement." },
  paymentSettings: {
    description: "Where the customer returns to, and where the webhooks are posted.",
  },
  "paymentSettings.returnUrl": {
    ...WEB_ADDRESS,
    description: "Where the customer returns after a successful payment.",
  },
  "paymentSettings.failureReturnUrl": {
    ...WEB_ADDRESS,
    description: "Where the customer returns after a failed payment.",
  },
  "paymentSettings.callbackUrl": {
    ...WEB_ADDRESS,
    description: "Receives the webhook of a successful payment.",
  },
  "paymentSettings.failureCallbackUrl": {
    ...WEB_ADDRESS,
    description: "Receives the webhook of a failed payment: declined or cancelled.",
  },
  customerDetails: { description: "Known data of the customer, filled in on the checkout page." },
  "customerDetails.email": { description: "The customer's e-mail address." },
  "customerDetails.billingAddress": { description: "The customer's billing address." },
  "customerDetails.billingAddress.firstName": { description: "First name." },
  "customerDetails.billingAddress.lastName": { description: "Last name." },
  "customerDetails.billingAddress.address1": { description: "First address line." },
  "customerDetails.billingAddress.addressLine1": { description: "Another spelling of address1." },
  "customerDetails.billingAddress.address2": { description: "Second address line." },
  "customerDetails.billingAddress.city": { description: "City." },
  "customerDetails.billingAddress.postalcode": { description: "Postcode." },
  "customerDetails.billingAddress.postalCode": { description: "Another spelling of postalcode." },
  "customerDetails.billingAddress.country": { description: "Country." },
};

export const UPDATE_NOTES: FieldNotes = {
  ...COMMON,
  "": { description: "The changes to a link; a field that is left out keeps its value." },
};

export const LINK_NOTES: FieldNotes = {
  ...COMMON,
  "": { description: "A payment link." },
  id: { description: "The id of the link.", examples: ["69lXLdv9w"] },
  createdDate: { ...DATE_TIME, description: "When the link was created." },
  viewedDate: { ...EVENT_DATE, description: "When the customer first opened the link." },
  attemptedDate: { ...EVENT_DATE, description: "When a payment was last attempted." },
  paidDate: { ...EVENT_DATE, description: "When the link was last paid." },
  cancelledDate: { ...EVENT_DATE, description: "When the link was cancelled." },
  status: {
    enum: LINK_STATUSES,
    description:
      "active: can be paid; viewed: the customer has opened it; attempted: a payment was attempted and not completed; paid, expired and cancelled: can no longer be paid.",
  },
  url: {
    ...WEB_ADDRESS,
    description: "The address that the customer pays at, with the id of the link as query parameter r.",
  },
};

/** The query of a list. Its schema reads text, so the types here are those after reading. */
export const QUERY_NOTES: FieldNotes = {
  terminalId: { description: "The terminal of the links." },
  from: { ...DATE_TIME, description: "Links created at this time or later, at most 365 days ago." },
  to: { ...DATE_TIME, description: "Links created at this time or earlier." },
  page: { type: "integer", minimum: 1, description: "The page, counted from 1." },
  size: {
    type: "integer",
    minimum: 1,
    maximum: LARGEST_PAGE,
    description: "The number of links on a page.",
  },
  status: { description: "Only links with this status." },
};
