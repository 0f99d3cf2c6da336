/** The outcomes of a payment and their names, in a file of their own: flags of commands name them, and help loads nothing else. */

/** Events rule 2, and UNCLEAR for a record that does not say which. A part of the amount is not the payment, so it is apart. */
export const OUTCOMES = ["APPROVED", "PARTIALLY_APPROVED", "DECLINED", "CANCELLED", "UNCLEAR"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Whether an amount was approved: all that was asked for, or a part of it. */
export const hasApprovedAmount = (outcome: Outcome): boolean =>
  outcome === "APPROVED" || outcome === "PARTIALLY_APPROVED";

/** What a simulated payment can have. */
export const SAMPLE_OUTCOMES = ["approved", "partially-approved", "declined", "cancelled"] as const;
export type SampleOutcome = (typeof SAMPLE_OUTCOMES)[number];

/** As flags, pages and sentences have it: `partially-approved`. */
export const outcomeName = (outcome: Outcome): string => outcome.toLowerCase().replaceAll("_", "-");

export const OUTCOME_NAMES: readonly string[] = OUTCOMES.map(outcomeName);

/** In upper or lower case, with `-` or `_`. */
export const outcomeNamed = (text: string): Outcome | undefined =>
  OUTCOMES.find((outcome) => outcome === text.trim().toUpperCase().replaceAll("-", "_"));
