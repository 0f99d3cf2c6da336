/** The number and the sums of what a list shows, by currency: of the keys in use here, and apart those of other keys. */
import { groupedAmount, unscaledAmount } from "../domain/money.ts";
import type { Group, Totals } from "../store/search.ts";
import { plural } from "../pages/components.ts";
import { isApart, type View } from "./frame.ts";

/** "412 events, 3 rejected; approved EUR 1,250.00, GBP 20.00; not approved EUR 80.00." */
export function totalsSentence(view: View, { groups, rejected }: Totals): string {
  const other = groups.filter((group) => isApart(view, group));
  const own = groups.filter((group) => !other.includes(group));
  const counted = [
    ...(own.length > 0 || (other.length === 0 && rejected === 0) ? [plural(eventsIn(own), "event")] : []),
    ...(rejected > 0 ? [`${rejected.toLocaleString("en-US")} rejected`] : []),
  ].join(", ");
  const words = [
    ...(counted === "" ? [] : [[counted, ...sumsOf(own)].join("; ")]),
    ...(other.length === 0
      ? []
      : [[`other keys: ${plural(eventsIn(other), "event")}`, ...sumsOf(other)].join("; ")]),
  ].join(". ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

const eventsIn = (groups: readonly Group[]): number => groups.reduce((sum, { events }) => sum + events, 0);

const isApproved = ({ outcome }: Group): boolean =>
  outcome === "APPROVED" || outcome === "PARTIALLY_APPROVED";

function sumsOf(groups: readonly Group[]): string[] {
  const approved = groups.filter(isApproved);
  const others = groups.filter((group) => !isApproved(group));
  const without = groups.reduce((sum, { unsummed }) => sum + unsummed, 0);
  return [
    ...(approved.length === 0 ? [] : [`approved ${sumWords(approved)}`]),
    ...(others.length === 0 ? [] : [`not approved ${sumWords(others)}`]),
    ...(without === 0 ? [] : [`${without.toLocaleString("en-US")} without an amount that can be added up`]),
  ];
}

/** "Approved EUR 1,250.00." */
export function approvedSums(groups: readonly Group[]): string {
  const approved = groups.filter(isApproved);
  return approved.length === 0 ? "" : `Approved ${sumWords(approved)}.`;
}

function sumWords(groups: readonly Group[]): string {
  const sums = new Map<string, bigint>();
  for (const { currency, sum } of groups) sums.set(currency, (sums.get(currency) ?? 0n) + sum);
  return [...sums]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([currency, sum]) => groupedAmount(unscaledAmount(sum), currency).trim())
    .join(", ");
}
