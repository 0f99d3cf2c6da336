/** Sums of what a list shows, by currency: what was approved, and what was not. */
import { formatCount } from "../values/plural.ts";
import { groupedAmount, unscaledAmount } from "../domain/money.ts";
import type { Outcome } from "../domain/outcome.ts";

/** Payments in one currency with one outcome. */
export interface PaymentGroup {
  readonly outcome: Outcome;
  readonly currency: string;
  readonly events: number;
  /** In ten-thousandths of the major unit. */
  readonly sum: bigint;
  /** Those without an amount that can be added up. */
  readonly unsummed: number;
}

/** How the sums are named, by outcome; all others are of what was not approved. A part that was paid is never counted as approved. */
const SUM_NAMES: Readonly<Partial<Record<Outcome, string>>> = {
  APPROVED: "approved",
  PARTIALLY_APPROVED: "partially approved",
};
const OTHER = "not approved";

/** "approved EUR 1,250.00", "not approved EUR 80.00". */
export function sumsOf(groups: readonly PaymentGroup[]): string[] {
  const without = groups.reduce((sum, { unsummed }) => sum + unsummed, 0);
  return [
    ...[...Object.values(SUM_NAMES), OTHER].flatMap((name) => {
      const own = groups.filter(({ outcome }) => (SUM_NAMES[outcome] ?? OTHER) === name);
      return own.length === 0 ? [] : [`${name} ${sumWords(own)}`];
    }),
    ...(without === 0 ? [] : [`${formatCount(without)} without an amount that can be added up`]),
  ];
}

/** "Approved EUR 1,250.00." */
export function approvedSums(groups: readonly PaymentGroup[]): string {
  const approved = groups.filter(({ outcome }) => outcome === "APPROVED");
  return approved.length === 0 ? "" : `Approved ${sumWords(approved)}.`;
}

/** "EUR 1,250.00, GBP 20.00" */
export function sumWords(groups: readonly Pick<PaymentGroup, "currency" | "sum">[]): string {
  const sums = new Map<string, bigint>();
  for (const { currency, sum } of groups) sums.set(currency, (sums.get(currency) ?? 0n) + sum);
  return [...sums]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, sum]) => groupedAmount(unscaledAmount(sum), currency).trim())
    .join(", ");
}
