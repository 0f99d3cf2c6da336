/** Exact sums of amounts, and whether two of them are equal. */
import { compareAmounts, minorUnitsOf, signOf, type Sum, Sums } from "../domain/money.ts";

export function sumOf(amounts: Iterable<Sum>): Sum[] {
  const sums = new Sums();
  for (const { amount, currency } of amounts) sums.add(amount, currency);
  return sums.list();
}

/** What of the first is not in the second, by currency. */
export const excess = (one: readonly Sum[], other: readonly Sum[]): Sum[] =>
  sumOf([...one, ...other.map((sum) => ({ ...sum, amount: negated(sum.amount) }))]).filter(
    ({ amount }) => signOf(amount) > 0,
  );

/** Whether both are one amount of one currency, however it is spelled. */
export function isSame(one: readonly Sum[], other: readonly Sum[]): boolean {
  return comparison(one, other) === 0;
}

export function isMore(one: readonly Sum[], other: readonly Sum[]): boolean {
  return comparison(one, other) === 1;
}

/** Undefined if they are not of one currency each, and the same. */
export function comparison([one, ...more]: readonly Sum[], [other, ...others]: readonly Sum[]) {
  if (one === undefined || other === undefined || more.length + others.length > 0) return undefined;
  return one.currency === other.currency ? compareAmounts(one.amount, other.amount) : undefined;
}

export const negated = (amount: string): string => (amount.startsWith("-") ? amount.slice(1) : `-${amount}`);

export const isZero = (sums: readonly Sum[]): boolean => sums.every(({ amount }) => signOf(amount) === 0);

/** Whether the lines are two or more of one amount, and add up to the payment twice, three times and so on. */
export function isRepeated(lines: readonly Sum[], payment: Sum): boolean {
  const [first] = lines;
  if (first === undefined || lines.length < 2) return false;
  if (!lines.every((line) => isSame([line], [first]))) return false;
  const [total] = sumOf(lines);
  if (total?.currency !== payment.currency.toUpperCase()) return false;
  const [all, once] = [total.amount, payment.amount].map((amount) => minorUnitsOf(amount, payment.currency));
  return all !== undefined && once !== undefined && once > 0n && all >= 2n * once && all % once === 0n;
}
