/** The outcomes of a payment, in a file of their own: flags of commands name them, and help loads nothing else. */

/** Events rule 2; UNCLEAR if the two flags contradict each other or are not booleans. */
export const OUTCOMES = ["APPROVED", "DECLINED", "CANCELLED", "UNCLEAR"] as const;
export type Outcome = (typeof OUTCOMES)[number];
