/** The test cards of the checkout, and the checks on a card that a customer types. */
import { hasCheckDigit } from "../domain/card-number.ts";
import type { Problem } from "../domain/errors.ts";
import { textProblem } from "./entered-text.ts";

export interface TestCard {
  /** As printed on a card. */
  readonly number: string;
  /** As the service masks it. */
  readonly masked: string;
  readonly outcome: "approved" | "declined";
}

const APPROVED: TestCard = { number: "4111 1111 1111 1111", masked: "************1111", outcome: "approved" };
const DECLINED: TestCard = { number: "4000 0000 0000 0002", masked: "************0002", outcome: "declined" };

export const TEST_CARDS: readonly TestCard[] = [APPROVED, DECLINED];

/** The card in the record of a payment; a cancelled payment shows the first card. */
export const maskedCardFor = (outcome: "approved" | "declined" | "cancelled"): string =>
  (outcome === "declined" ? DECLINED : APPROVED).masked;

/** A card as the customer typed it. */
export interface EnteredCard {
  readonly number: string;
  readonly expiry: string;
  readonly cvc: string;
  readonly name: string;
}

const digitsOf = (text: string): string => text.replace(/[\s-]/g, "");

/** The test card with a number, written with or without spaces and hyphens. */
export const testCardWith = (number: string): TestCard | undefined =>
  TEST_CARDS.find((card) => digitsOf(card.number) === digitsOf(number));

/** The longest name on a card. */
export const LONGEST_NAME = 100;

/** Each message is the end of a sentence that begins with the name of the field. */
export function cardProblems(card: EnteredCard, now: Date): Problem[] {
  const checks: [keyof EnteredCard, string | undefined][] = [
    ["number", numberProblem(card.number)],
    ["expiry", expiryProblem(card.expiry, now)],
    ["cvc", cvcProblem(card.cvc)],
    ["name", card.name === "" ? "is missing" : textProblem(card.name, LONGEST_NAME)],
  ];
  return checks.flatMap(([at, message]) => (message === undefined ? [] : [{ at, message }]));
}

function numberProblem(number: string): string | undefined {
  if (number === "") return "is missing";
  const digits = digitsOf(number);
  if (!/^\d{12,19}$/.test(digits) || !hasCheckDigit(digits)) return "is not valid: check its digits";
  return testCardWith(number) === undefined
    ? "is not one of the test cards, and the sandbox accepts no other card"
    : undefined;
}

/** `12/29`, `12 / 2029`, `1229`, and `2029-12` as browsers may fill it in. */
const EXPIRY =
  /^(?<month>\d{1,2}) ?[/-] ?(?<year>\d{4}|\d{2})$|^(?<month2>\d{2})(?<year2>\d{2})$|^(?<year3>\d{4})-(?<month3>\d{2})$/;

function expiryProblem(expiry: string, now: Date): string | undefined {
  if (expiry === "") return "is missing";
  const { month, month2, month3, year, year2, year3 } = EXPIRY.exec(expiry)?.groups ?? {};
  const [monthText, yearText = ""] = [month ?? month2 ?? month3, year ?? year2 ?? year3];
  const lastMonth = Number(monthText);
  if (!(lastMonth >= 1 && lastMonth <= 12)) return "must be a month and a year, such as 12/29";
  const lastYear = Number(yearText) + (yearText.length === 2 ? 2000 : 0);
  // A card is valid until the end of its month.
  const isPast = Date.UTC(lastYear, lastMonth, 1) <= now.getTime();
  return isPast ? "is in the past" : undefined;
}

function cvcProblem(cvc: string): string | undefined {
  if (cvc === "") return "is missing";
  return /^\d{3}$/.test(cvc) ? undefined : "must be the 3 digits on the back of the card";
}
