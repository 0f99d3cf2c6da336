/** Order numbers that are nearly the same, such as 42 and 0042, #1001 and 1001: suggestions to a person, never a match. */
import { nearKey, wordsAndDigits, withoutZeros } from "../lists/order-numbers.ts";
import type { Finding } from "./findings.ts";

/** By its parts, and by all of them as one. */
function nearKeys(number: string): readonly string[] {
  const near = nearKey(number);
  return near === "" ? [] : [withoutZeros(wordsAndDigits(number).join("")), near];
}

/** The numbers that only one side has, by what is the same of near ones; null where several are near each other. */
function byNearKey(numbers: Iterable<string>): ReadonlyMap<string, string | null> {
  const found = new Map<string, string | null>();
  for (const number of numbers)
    for (const key of new Set(nearKeys(number))) found.set(key, found.has(key) ? null : number);
  return found;
}

/** Which number of the other side the number of a finding may be. */
export class Suggestions {
  private readonly of: Readonly<Record<"not booked" | "booked only", ReadonlyMap<string, string | null>>>;

  /** The numbers of the books alone, and of what was paid and is not booked. */
  constructor(bookedAlone: Iterable<string>, unbooked: Iterable<string>) {
    this.of = { "not booked": byNearKey(bookedAlone), "booked only": byNearKey(unbooked) };
  }

  for({ finding, orderNumber }: Pick<Finding, "finding" | "orderNumber">): string | undefined {
    if ((finding !== "not booked" && finding !== "booked only") || orderNumber === null) return undefined;
    const near = nearKeys(orderNumber).map((key) => this.of[finding].get(key));
    return near.find((one) => one !== undefined) ?? undefined;
  }
}
