/** What a customer enters of a card, with the checks on it; and the customer's details that the merchant gave with the link. */
import type { PaymentLinkRequest } from "../domain/payment-link-shapes.ts";
import type { Problem } from "../domain/errors.ts";
import { CARD_SCHEMES, cardDigits, schemeOf, testCard } from "../sender/test-cards.ts";
import { hasCheckDigit } from "../domain/card-numbers.ts";
import type { FormField } from "./form.ts";

/** A field of the form. None may be empty. */
interface CardField extends Omit<FormField, "name"> {
  /** What is wrong with a text, as the end of a sentence that begins with the name of the field. */
  readonly check: (text: string, now: Date, card: TypedCard) => string | undefined;
}

/** What was entered, by the names of the fields. */
export type TypedCard = Readonly<Record<string, string>>;

/** Characters. */
const LONGEST_NAME = 100;

/** In the order of the form, with what browsers fill in. */
export const CARD_FIELDS: Readonly<Record<string, CardField>> = {
  number: {
    label: "Card number",
    autocomplete: "cc-number",
    inputmode: "numeric",
    check: numberProblem,
  },
  expiry: {
    label: "Expiry (MM/YY)",
    subject: "expiry date",
    autocomplete: "cc-exp",
    inputmode: "numeric",
    short: true,
    check: expiryProblem,
  },
  cvc: {
    label: "Security code",
    autocomplete: "cc-csc",
    inputmode: "numeric",
    maxlength: 4,
    short: true,
    check: (text, _now, { number = "" }) => {
      const { digits, side } = (schemeOf(number) ?? CARD_SCHEMES[0]).securityCode;
      const isRight = text.length === digits && /^\d+$/.test(text);
      return isRight ? undefined : `must be the ${digits} digits on the ${side} of the card`;
    },
  },
  name: {
    label: "Name on the card",
    autocomplete: "cc-name",
    maxlength: LONGEST_NAME,
    check: (text) => textProblem(text, LONGEST_NAME),
  },
};

/** What is wrong with a typed card. */
export const cardProblems = (card: TypedCard, now: Date): Problem[] =>
  Object.entries(CARD_FIELDS).flatMap(([at, { check }]) => {
    const text = card[at] ?? "";
    const message = text === "" ? "is missing" : check(text, now, card);
    return message === undefined ? [] : [{ at, message }];
  });

/** The customer's name, as far as the merchant gave it. */
export function givenName({ customerDetails = {} }: PaymentLinkRequest): string {
  const { firstName, lastName } = customerDetails.billingAddress ?? {};
  return joinedWords(" ", firstName, lastName);
}

/** The details that the merchant gave, in which some fields have two spellings. */
export function customerFacts(
  request: PaymentLinkRequest,
): readonly (readonly [term: string, text: string])[] {
  const { email = "", billingAddress = {} } = request.customerDetails ?? {};
  const { address1, addressLine1, address2, city, postalcode, postalCode, country } = billingAddress;
  const town = joinedWords(" ", postalcode ?? postalCode, city);
  return [
    ["Customer", givenName(request)],
    ["E-mail", email],
    ["Address", joinedWords(", ", address1 ?? addressLine1, address2, town, country)],
  ];
}

const joinedWords = (separator: string, ...texts: readonly (string | undefined)[]): string =>
  texts.filter((text) => text !== undefined && text !== "").join(separator);

/** Control and format characters (bidirectional marks among them), line separators, unassigned code points. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** What is wrong with a text, as the end of a sentence about it; undefined if nothing is. */
export function textProblem(text: string, longest: number): string | undefined {
  if ([...text].length > longest) return `must have at most ${longest} characters`;
  return UNPRINTABLE.test(text) ? "must not contain control or invisible characters" : undefined;
}

function numberProblem(number: string): string | undefined {
  const digits = cardDigits(number);
  if (!/^\d{12,19}$/.test(digits) || !hasCheckDigit(digits)) return "is not valid: check its digits";
  return testCard(number) === undefined
    ? "is not one of the test cards, and the sandbox accepts no other card"
    : undefined;
}

/** `12/29`, `12 29`, `12.2029`; `1229`, `122029`; `2029-12`. */
const CARD_EXPIRIES = [
  /^(?<month>\d{1,2})(?: ?[/.-] ?| )(?<year>\d{4}|\d{2})$/,
  /^(?<month>\d{2})(?<year>\d{4}|\d{2})$/,
  /^(?<year>\d{4})(?: ?[/.-] ?| )(?<month>\d{1,2})$/,
];

function expiryProblem(expiry: string, now: Date, { number = "" }: TypedCard): string | undefined {
  const read = CARD_EXPIRIES.map((form) => form.exec(expiry)).find((found) => found !== null);
  const { month, year = "" } = read?.groups ?? {};
  const lastMonth = Number(month);
  if (!(lastMonth >= 1 && lastMonth <= 12)) return "must be a month and a year, such as 12/29";
  const lastYear = Number(year) + (year.length === 2 ? 2000 : 0);
  // A card is valid until the end of its month.
  const isPast = Date.UTC(lastYear, lastMonth, 1) <= now.getTime();
  // The bank declines this one, whatever its date.
  return isPast && testCard(number)?.name !== "expired-card" ? "is in the past" : undefined;
}
