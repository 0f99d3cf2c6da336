/** The card schemes, and the sandbox's test cards with what a payment with each of them ends with. */
import type { SampleOutcome } from "../domain/outcome.ts";

export const CARD_SCHEMES = [
  {
    name: "VISA",
    label: "Visa",
    /** The first digits of its numbers. */
    begins: "^4",
    /** The digits in each group of a printed number. */
    groups: [4, 4, 4, 4, 3],
    securityCode: { digits: 3, side: "back" },
    /** The application identifier of its chips. */
    emvAid: "A0000000031010",
  },
  {
    name: "MASTERCARD",
    label: "Mastercard",
    begins: "^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)",
    groups: [4, 4, 4, 4],
    securityCode: { digits: 3, side: "back" },
    emvAid: "A0000000041010",
  },
  {
    name: "AMEX",
    label: "Amex",
    begins: "^3[47]",
    groups: [4, 6, 5],
    securityCode: { digits: 4, side: "front" },
    emvAid: "A00000002501",
  },
] as const;

/** A number without its separators. */
export const cardDigits = (number: string): string => number.replace(/[\s-]/g, "");

/** The scheme of a number, or of its first digits. */
export const schemeOf = (number: string) =>
  CARD_SCHEMES.find(({ begins }) => new RegExp(begins).test(cardDigits(number)));

export interface TestCard {
  /** As `paylink pay --card` takes it. */
  readonly name: string;
  readonly label: string;
  /** As printed on the card. */
  readonly number: string;
  readonly outcome: Exclude<SampleOutcome, "cancelled">;
  readonly responseCode: string;
}

const card = (
  name: string,
  number: string,
  label: string,
  outcome: TestCard["outcome"],
  responseCode: string,
): TestCard => ({ name, number, label, outcome, responseCode });

/** The first card with an outcome is the one of a payment that names only the outcome. */
export const TEST_CARDS: readonly [TestCard, ...TestCard[]] = [
  card("approved", "4111 1111 1111 1111", "Approved", "approved", "00"),
  card("mastercard", "5555 5555 5555 4444", "Approved", "approved", "00"),
  card("amex", "3782 822463 10005", "Approved", "approved", "00"),
  card("declined", "4000 0000 0000 0002", "Declined", "declined", "05"),
  card("insufficient-funds", "4000 0000 0000 9995", "Insufficient funds", "declined", "51"),
  card("expired-card", "4000 0000 0000 0069", "Expired card", "declined", "54"),
  card("partially-approved", "5105 1051 0510 5100", "Partially approved", "partially-approved", "10"),
];

/** The card with a name or a number, in which spaces and hyphens do not count. */
export const testCard = (text: string): TestCard | undefined =>
  TEST_CARDS.find(({ name, number }) => name === text || cardDigits(number) === cardDigits(text));

/** Undefined for a payment that the customer cancels. */
export const cardFor = (outcome: SampleOutcome): TestCard | undefined =>
  TEST_CARDS.find((card) => card.outcome === outcome);
