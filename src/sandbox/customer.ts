/** What a customer enters: a test card and personal details, as the form asks for them, with the checks on both. */
import type { PaymentLinkRequest } from "../domain/payment-link-values.ts";
import type { Problem } from "../domain/errors.ts";
import { CARD_SCHEMES, digitsOf, schemeOf, testCard } from "../domain/test-cards.ts";
import { hasCheckDigit } from "../domain/card-numbers.ts";
import type { Field } from "./form.ts";

/** A field of the form. */
interface Entry extends Omit<Field, "name"> {
  /** What is wrong with a text, as the end of a sentence that begins with the name of the field. */
  readonly check: (text: string, now: Date, entries: Entries) => string | undefined;
}

/** What was entered, by the names of the fields. */
type Entries = Readonly<Record<string, string | undefined>>;

/** Characters. */
const LONGEST_DETAIL = 200;
const LONGEST_NAME = 100;

const detail = (field: Omit<Field, "name">, check?: Entry["check"]): Entry => ({
  ...field,
  maxlength: LONGEST_DETAIL,
  check: (text, ...rest) => textProblem(text, LONGEST_DETAIL) ?? check?.(text, ...rest),
});

/** In the order of the form, with what browsers fill in. */
export const CUSTOMER_FIELDS = {
  email: detail({ label: "E-mail", autocomplete: "email", inputmode: "email" }, emailProblem),
  firstName: detail({ label: "First name", autocomplete: "given-name", short: true }),
  lastName: detail({ label: "Last name", autocomplete: "family-name", short: true }),
  address1: detail({ label: "Address", autocomplete: "address-line1" }),
  address2: detail({ label: "Address line 2", autocomplete: "address-line2" }),
  city: detail({ label: "City", autocomplete: "address-level2", short: true }),
  postalcode: detail({ label: "Postcode", autocomplete: "postal-code", short: true }),
  country: detail({ label: "Country", autocomplete: "country-name" }),
} as const;
export type CustomerField = keyof typeof CUSTOMER_FIELDS;
export const CUSTOMER_FIELD_NAMES = Object.keys(CUSTOMER_FIELDS) as CustomerField[];

/** None may be empty. */
const ofCard = (field: Omit<Field, "name">, check: Entry["check"]): Entry => ({
  ...field,
  check: (text, ...rest) => (text === "" ? "is missing" : check(text, ...rest)),
});

export const CARD_FIELDS: Readonly<Record<string, Entry>> = {
  number: ofCard({ label: "Card number", autocomplete: "cc-number", inputmode: "numeric" }, numberProblem),
  expiry: ofCard(
    {
      label: "Expiry (MM/YY)",
      subject: "expiry date",
      autocomplete: "cc-exp",
      inputmode: "numeric",
      short: true,
    },
    expiryProblem,
  ),
  cvc: ofCard(
    { label: "Security code", autocomplete: "cc-csc", inputmode: "numeric", maxlength: 4, short: true },
    (text, _now, { number = "" }) => {
      const { digits, side } = (schemeOf(number) ?? CARD_SCHEMES[0]).securityCode;
      const isRight = text.length === digits && /^\d+$/.test(text);
      return isRight ? undefined : `must be the ${digits} digits on the ${side} of the card`;
    },
  ),
  name: ofCard({ label: "Name on the card", autocomplete: "cc-name", maxlength: LONGEST_NAME }, (text) =>
    textProblem(text, LONGEST_NAME),
  ),
};

/** What is wrong with the entries that are given. */
export const entryProblems = (
  fields: Readonly<Record<string, Entry>>,
  entries: Entries = {},
  now: Date,
): Problem[] =>
  Object.entries(fields).flatMap(([at, { check }]) => {
    const text = entries[at];
    const message = text === undefined ? undefined : check(text, now, entries);
    return message === undefined ? [] : [{ at, message }];
  });

/** Empty fields are left out. */
export type CustomerDetails = Readonly<Partial<Record<CustomerField, string>>>;

/** Those that the merchant gave with the link, in which some fields have two spellings. */
export function givenDetails({ customerDetails = {} }: PaymentLinkRequest): CustomerDetails {
  const { email, billingAddress = {} } = customerDetails;
  const { firstName, lastName, address1, addressLine1, address2, city } = billingAddress;
  const { postalcode, postalCode, country } = billingAddress;
  return filledIn({
    email,
    firstName,
    lastName,
    address1: address1 ?? addressLine1,
    address2,
    city,
    postalcode: postalcode ?? postalCode,
    country,
  });
}

/** The details as pages show them: a name, an e-mail address and a postal address. */
export const customerFacts = (
  details: CustomerDetails,
): readonly (readonly [term: string, text: string])[] => [
  ["Customer", joined(" ", details.firstName, details.lastName)],
  ["E-mail", details.email ?? ""],
  [
    "Address",
    joined(
      ", ",
      details.address1,
      details.address2,
      joined(" ", details.postalcode, details.city),
      details.country,
    ),
  ],
];

const joined = (separator: string, ...texts: readonly (string | undefined)[]): string =>
  texts.filter((text) => text !== undefined && text !== "").join(separator);

/** The details with a value. */
export function filledIn(details: {
  readonly [Field in CustomerField]?: string | undefined;
}): CustomerDetails {
  const filled: Partial<Record<CustomerField, string>> = {};
  for (const field of CUSTOMER_FIELD_NAMES) {
    const value = details[field]?.trim() ?? "";
    if (value !== "") filled[field] = value;
  }
  return filled;
}

/** The merchant's details win: the customer sees them, and cannot change them. */
export const detailsOfPayment = (
  request: PaymentLinkRequest,
  entered: CustomerDetails = {},
): CustomerDetails => ({
  ...entered,
  ...givenDetails(request),
});

function emailProblem(text: string): string | undefined {
  return /^[^\s@]+@[^\s@]+$/.test(text) ? undefined : "must be an address such as ada@shop.example";
}

/** Control and format characters (bidirectional marks among them), line separators, unassigned code points. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** What is wrong with a text, as the end of a sentence about it; undefined if nothing is. */
export function textProblem(text: string, longest: number): string | undefined {
  if ([...text].length > longest) return `must have at most ${longest} characters`;
  return UNPRINTABLE.test(text) ? "must not contain control or invisible characters" : undefined;
}

function numberProblem(number: string): string | undefined {
  const digits = digitsOf(number);
  if (!/^\d{12,19}$/.test(digits) || !hasCheckDigit(digits)) return "is not valid: check its digits";
  return testCard(number) === undefined
    ? "is not one of the test cards, and the sandbox accepts no other card"
    : undefined;
}

/** `12/29`, `12 / 2029`, `1229`, and `2029-12` as browsers may fill it in. */
const EXPIRY =
  /^(?<month>\d{1,2}) ?[/-] ?(?<year>\d{4}|\d{2})$|^(?<month2>\d{2})(?<year2>\d{2})$|^(?<year3>\d{4})-(?<month3>\d{2})$/;

function expiryProblem(expiry: string, now: Date, { number = "" }: Entries): string | undefined {
  const { month, month2, month3, year, year2, year3 } = EXPIRY.exec(expiry)?.groups ?? {};
  const [monthText, yearText = ""] = [month ?? month2 ?? month3, year ?? year2 ?? year3];
  const lastMonth = Number(monthText);
  if (!(lastMonth >= 1 && lastMonth <= 12)) return "must be a month and a year, such as 12/29";
  const lastYear = Number(yearText) + (yearText.length === 2 ? 2000 : 0);
  // A card is valid until the end of its month.
  const isPast = Date.UTC(lastYear, lastMonth, 1) <= now.getTime();
  // The bank declines this one, whatever its date.
  return isPast && testCard(number)?.name !== "expired-card" ? "is in the past" : undefined;
}
