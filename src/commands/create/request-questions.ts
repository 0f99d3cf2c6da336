/** The questions about a link: which fields are asked for, and in which group each can be changed. */
import { TRANSACTION_TYPES } from "../../domain/known-services.ts";
import { memberOf, type JsonObject } from "../../domain/json.ts";
import { LINK_FIELDS, titleOf } from "../../domain/payment-link-fields.ts";
import { FIELD_OF, type RequestFlags, type ValueFlag } from "../../service/request.ts";

export interface FieldQuestion {
  readonly flag: ValueFlag;
  /** The field, as a sentence begins. */
  readonly label: string;
  /** The label, and what may be typed. */
  readonly message: string;
}

/** A question that is asked before the first summary. */
export interface RequiredQuestion extends FieldQuestion {
  /** The answer if the user only presses Enter and no setting gives one. */
  readonly initial?: (flags: RequestFlags) => string | undefined;
  /** Whether an empty answer means that the field is not sent. */
  readonly optional?: (flags: RequestFlags) => boolean;
}

export interface QuestionGroup {
  /** Completes "Change the …". */
  readonly name: string;
  readonly questions: readonly FieldQuestion[];
  /** Whether only reusable links have these fields. */
  readonly isOfReusable?: boolean;
}

/** `note` says what may be typed. */
function question(flag: ValueFlag, note = ""): FieldQuestion {
  const label = titleOf(FIELD_OF[flag]);
  return { flag, label, message: `${label}${note}` };
}

const isReusable = (flags: RequestFlags): boolean => flags.reusable === true;

export const REQUIRED: readonly RequiredQuestion[] = [
  {
    ...question("amount"),
    initial: (flags) => (isReusable(flags) || flags.subscription === true ? "0" : undefined),
  },
  question("currency"),
  question("terminalId"),
  question("customerName"),
  { ...question("expires", " (a duration such as 7d, a date, or ISO 8601)"), optional: isReusable },
];

const group = (name: string, flags: readonly ValueFlag[]): QuestionGroup => ({
  name,
  questions: flags.map((flag) => question(flag)),
});

const GROUPS: readonly QuestionGroup[] = [
  { name: "payment", questions: REQUIRED },
  {
    name: "order",
    questions: [
      question("invoiceId"),
      question("description"),
      question("type", ` (${TRANSACTION_TYPES.join(", ")} or another)`),
      question("customData"),
    ],
  },
  group(LINK_FIELDS.customerDetails.label, [
    "email",
    "firstName",
    "lastName",
    "address1",
    "address2",
    "city",
    "postcode",
    "country",
  ]),
  group(LINK_FIELDS.paymentSettings.label, [
    "returnUrl",
    "failureReturnUrl",
    "callbackUrl",
    "failureCallbackUrl",
  ]),
  {
    ...group(LINK_FIELDS.linkOptions.label, ["mode", "minAmount", "maxAmount", "referenceMode"]),
    isOfReusable: true,
  },
];

/** What can be changed of a request, by the kind of its link. */
export const groupsFor = (draft: JsonObject): readonly QuestionGroup[] =>
  GROUPS.filter(({ isOfReusable }) => isOfReusable !== true || memberOf(draft, "linkOptions") !== undefined);

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
