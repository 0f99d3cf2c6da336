/** The questions about a link: what each field is called, and in which group it can be changed. */
import type { RequestFlags, ValueFlag } from "../../requests/flag-fields.ts";

export interface FieldQuestion {
  readonly flag: ValueFlag;
  readonly message: string;
}

/** A question that is asked before the first summary. */
export interface RequiredQuestion extends FieldQuestion {
  /** The answer if the user only presses Enter and no setting gives one. */
  readonly initial?: (flags: RequestFlags) => string | undefined;
  /** Whether an empty answer means that the field is not sent. */
  readonly optional?: (flags: RequestFlags) => boolean;
}

interface QuestionGroup {
  /** Completes "Change the …". */
  readonly name: string;
  readonly questions: readonly FieldQuestion[];
}

const isReusable = (flags: RequestFlags): boolean => flags.reusable === true;

export const REQUIRED: readonly RequiredQuestion[] = [
  {
    flag: "amount",
    message: "Amount",
    initial: (flags) => (isReusable(flags) || flags.subscription === true ? "0" : undefined),
  },
  { flag: "currency", message: "Currency" },
  { flag: "terminalId", message: "Terminal" },
  { flag: "customerName", message: "Customer's name" },
  { flag: "expires", message: "Expires (a duration such as 7d, or ISO 8601)", optional: isReusable },
];

export const GROUPS: readonly QuestionGroup[] = [
  { name: "payment", questions: REQUIRED },
  {
    name: "order",
    questions: [
      { flag: "invoiceId", message: "Invoice id" },
      { flag: "description", message: "Description" },
      { flag: "type", message: "Transaction type (SALE, AUTH, PRE-AUTH, VERIFICATION or another)" },
      { flag: "customData", message: "Custom data" },
    ],
  },
  {
    name: "customer details",
    questions: [
      { flag: "email", message: "E-mail" },
      { flag: "firstName", message: "First name" },
      { flag: "lastName", message: "Last name" },
      { flag: "address1", message: "Address" },
      { flag: "address2", message: "Address, second line" },
      { flag: "city", message: "City" },
      { flag: "postcode", message: "Postcode" },
      { flag: "country", message: "Country" },
    ],
  },
  {
    name: "redirects and callbacks",
    questions: [
      { flag: "returnUrl", message: "Return URL" },
      { flag: "failureReturnUrl", message: "Return URL after a failure" },
      { flag: "callbackUrl", message: "Callback URL" },
      { flag: "failureCallbackUrl", message: "Callback URL of a failure" },
    ],
  },
  {
    name: "options of a reusable link",
    questions: [
      { flag: "mode", message: "Mode" },
      { flag: "minAmount", message: "Smallest amount" },
      { flag: "maxAmount", message: "Largest amount" },
      { flag: "referenceMode", message: "Reference mode" },
    ],
  },
];

interface Kind {
  readonly name: string;
  readonly description: string;
  readonly flags: RequestFlags;
}

const ONE_TIME: RequestFlags = {
  reusable: undefined,
  subscription: undefined,
  mode: undefined,
  minAmount: undefined,
  maxAmount: undefined,
  referenceMode: undefined,
};

/** Choosing a kind removes the fields of the other kinds. */
export const KINDS: readonly Kind[] = [
  { name: "One-time", description: "paid once, for a fixed amount", flags: ONE_TIME },
  {
    name: "Reusable",
    description: "paid any number of times until it expires",
    flags: { reusable: true, subscription: undefined },
  },
  {
    name: "Subscription",
    description: "starts a recurring arrangement",
    flags: { ...ONE_TIME, subscription: true },
  },
];
