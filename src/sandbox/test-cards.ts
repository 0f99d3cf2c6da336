/** The test cards of the checkout page, one for each outcome that a card can bring about. */
import type { Choice } from "./payments.ts";

export interface TestCard {
  /** As it is printed on a card. */
  readonly number: string;
  /** As the service masks it. */
  readonly masked: string;
  readonly outcome: Exclude<Choice, "cancelled">;
}

const APPROVED: TestCard = { number: "4111 1111 1111 1111", masked: "************1111", outcome: "approved" };
const DECLINED: TestCard = { number: "4000 0000 0000 0002", masked: "************0002", outcome: "declined" };

export const TEST_CARDS: readonly TestCard[] = [APPROVED, DECLINED];

/** The card behind an outcome; whoever cancels had the first one in hand. */
export const cardOf = (outcome: Choice): TestCard => (outcome === "declined" ? DECLINED : APPROVED);
