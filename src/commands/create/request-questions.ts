/** The questions about a link: what each field is called, and in which group it can be changed. */
import type { RequestFlags, ValueFlag } from "../../service/request-flags.ts";

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

const group = (
  name: string,
  fields: readonly (readonly [flag: ValueFlag, message: string])[],
): QuestionGroup => ({ name, questions: fields.map(([flag, message]) => ({ flag, message })) });

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
  group("order", [
    ["invoiceId", "Invoice id"],
    ["description", "Description"],
    ["type", "Transaction type (SALE, AUTH, PRE-AUTH, VERIFICATION or another)"],
    ["customData", "Custom data"],
  ]),
  group("customer details", [
    ["email", "E-mail"],
    ["firstName", "First name"],
    ["lastName", "Last name"],
    ["address1", "Address"],
    ["address2", "Address, second line"],
    ["city", "City"],
    ["postcode", "Postcode"],
    ["country", "Country"],
  ]),
  group("redirects and callbacks", [
    ["returnUrl", "Return URL"],
    ["failureReturnUrl", "Return URL after a failure"],
    ["callbackUrl", "Callback URL"],
    ["failureCallbackUrl", "Callback URL after a failure"],
  ]),
  group("options of a reusable link", [
    ["mode", "Mode"],
    ["minAmount", "Smallest amount"],
    ["maxAmount", "Largest amount"],
    ["referenceMode", "Reference mode"],
  ]),
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
