/** How an order stands: the one function that says whether it is paid, once, and what of it can still be paid. */
import type { Sum } from "../domain/money.ts";
import { comparison, excess, isMore, isSame, sumOf } from "./amounts.ts";
import {
  asksNothing,
  effectiveOf,
  isApproved,
  MOST_RECORDS,
  type Order,
  type OrderLink,
  type OrderPayment,
  type Payment,
  paymentsOf,
} from "./order.ts";

/** In this order: the first that holds is how an order stands. */
export const STANDINGS = ["twice", "unclear", "paid", "in part", "reserved", "verified", "unpaid"] as const;
export type Standing = (typeof STANDINGS)[number];

/** How an order stands, with the sums by currency. What is not known of them is empty. */
export interface OrderStanding {
  readonly number: string;
  readonly standing: Standing;
  /** What it asks for: undefined where no link is known, or where its links differ. */
  readonly due: Sum | undefined;
  /** All that was taken. */
  readonly paid: readonly Sum[];
  /** How many payments have taken it. */
  readonly payments: number;
  /** All that is reserved, not taken. */
  readonly reserved: readonly Sum[];
  /** What is due and was not taken, of an order that is paid in part. */
  readonly missing: readonly Sum[];
  /** What is too much, of an order that is paid twice. */
  readonly surplus: readonly Sum[];
  /** The one-time links that can still be paid. */
  readonly payable: readonly OrderLink[];
  /** Whether the customer owes nothing more: a link that can still be paid is one too many. */
  readonly isSettled: boolean;
}

export function standingOf({ number, payments: records = [], links = [] }: Order): OrderStanding {
  // A payment comes after another by when it took the money, not by when it was declined before.
  const payments = paymentsOf(effectiveOf(records));
  const current = payments.map(({ last }) => last);
  const once = links.filter(({ isReusable }) => !isReusable);
  const asking = once.filter((link) => !asksNothing(link));
  const approved = current.filter(isApproved);
  const { due, before } = askedBy(asking, approved.filter(isPart));
  const taken: readonly Taking[] = [
    ...approved.filter(({ kind }) => kind === "takes").map(takingOf),
    ...unexplained(
      asking,
      payments.filter(({ last }) => !before.includes(last)),
    ),
  ];
  const reserved = approved.filter(({ kind }) => kind === "reserves").map(takingOf);
  const surplus = tooMuch(taken, due) ?? tooMuch(reserved, due);
  const paid = moneyOf(taken);
  const decisive = taken.length > 0 ? paid : moneyOf(reserved);
  const isUnclear =
    current.some(({ outcome }) => outcome === "UNCLEAR") ||
    decisive.length > 1 ||
    decisive.some(({ currency }) => due !== undefined && currency !== due.currency);
  const isWhole = (takings: readonly Taking[]): boolean =>
    due === undefined ? takings.some((one) => one.isWhole) : comparison(ownOf(takings, due), [due]) === 0;
  const isVerified =
    approved.some(({ kind }) => kind === "verifies") ||
    once.some((link) => asksNothing(link) && link.end === "paid");
  const holds: Readonly<Record<Standing, boolean>> = {
    twice: surplus !== undefined,
    unclear: isUnclear,
    paid: isWhole(taken),
    "in part": taken.length > 0,
    reserved: reserved.length > 0,
    verified: isVerified,
    unpaid: true,
  };
  const standing = STANDINGS.find((name) => holds[name]) ?? "unpaid";
  return {
    number,
    standing,
    due,
    paid,
    payments: taken.length,
    reserved: moneyOf(reserved),
    missing: standing === "in part" && due !== undefined ? excess([due], paid) : [],
    surplus: surplus ?? [],
    payable: asking.filter(({ end }) => end === undefined),
    isSettled:
      standing === "twice" ||
      standing === "paid" ||
      (standing === "reserved" && (isWhole(reserved) || reserved.some((one) => one.isWhole))),
  };
}

/** How an order stands as far as its first records tell: the sums of one with more of them are not known. */
export function standingOfRecords(number: string, payments: readonly Payment[]): OrderStanding {
  const standing = standingOf({ number, payments });
  return payments.length <= MOST_RECORDS ? standing : { ...standing, paid: [], reserved: [], surplus: [] };
}

/** Whether a payment makes its order, or keeps it, one that is paid twice. */
export const isPaidTwiceWith = (payment: Payment, { standing }: OrderStanding): boolean =>
  standing === "twice" && isApproved(payment) && payment.kind !== "verifies";

const isPart = ({ outcome, kind }: Payment): boolean =>
  outcome === "PARTIALLY_APPROVED" && kind !== "verifies";

/**
 * What the order asks for: the amount of its link, or of the open or paid ones if all are equal. Where these come, with the first parts
 * that were paid, to what a link that has ended asked for, they are for its rest, and the whole of it is due; `before` are those parts.
 */
function askedBy(
  asking: readonly OrderLink[],
  parts: readonly Payment[],
): { readonly due: Sum | undefined; readonly before: readonly Payment[] } {
  const alive = asking.filter(({ end }) => end === undefined || end === "paid");
  const [first, ...others] = asking.length === 1 ? asking : alive;
  const asked = first?.money;
  const areEqual = asked !== undefined && others.every(({ money }) => money && isSame([money], [asked]));
  if (!areEqual) return { due: undefined, before: [] };
  const ended = asking.filter((link) => !alive.includes(link)).flatMap(({ money }) => money ?? []);
  for (const at of parts.keys()) {
    const before = parts.slice(0, at + 1);
    const whole = sumOf([asked, ...before.flatMap(({ money }) => money ?? [])]);
    if (ended.some((money) => isSame([money], whole))) return { due: whole[0], before };
  }
  return { due: sumOf([asked])[0], before: [] };
}

/** Money that one payment has taken or reserved: the whole amount, or a part. */
interface Taking {
  readonly money: Sum | undefined;
  readonly isWhole: boolean;
}

const takingOf = ({ money, outcome }: Payment): Taking => ({ money, isWhole: outcome === "APPROVED" });

const moneyOf = (found: readonly Pick<Taking, "money">[]): Sum[] =>
  sumOf(found.flatMap(({ money }) => money ?? []));

/** Of what was taken, the sum in the currency that is due. An unknown whole amount is taken as that. */
const ownOf = (takings: readonly Taking[], due: Sum): Sum[] =>
  sumOf(
    takings
      .flatMap(({ money, isWhole }) => money ?? (isWhole ? due : []))
      .filter(({ currency }) => currency === due.currency),
  );

/**
 * What was taken and is not due; undefined if nothing is. Where it is not known what is due, it is the first whole payment, with the
 * parts before it.
 */
function tooMuch(takings: readonly Taking[], due: Sum | undefined): Sum[] | undefined {
  const wholes = takings.filter(({ isWhole }) => isWhole).length;
  const first = takings.findIndex(({ isWhole }) => isWhole);
  const afterFirst = moneyOf(takings.slice(first + 1));
  if (due === undefined) return wholes > 1 ? afterFirst : undefined;
  const compared = comparison(ownOf(takings, due), [due]) ?? -1;
  const foreign = takings.filter(({ money }) => money !== undefined && money.currency !== due.currency);
  const isForeignTwice = wholes > 1 && foreign.some(({ isWhole }) => isWhole);
  if (compared < 0) return isForeignTwice ? afterFirst : undefined;
  if (compared === 0 && foreign.length === 0) return undefined;
  return [...excess(ownOf(takings, due), [due]), ...moneyOf(foreign)];
}

/**
 * What the service says was paid, and no record of a payment explains: its webhook has not arrived. A record explains it even if a
 * later one of that uti has taken it back, and if it only reserves or verifies.
 */
function unexplained(links: readonly OrderLink[], payments: readonly OrderPayment[]): Taking[] {
  const paid = links.filter(({ end }) => end === "paid");
  const claims = payments.flatMap(largestClaim);
  const currencies = new Set([...paid, ...claims].map(({ money }) => money?.currency));
  // What cannot be compared by amount is compared by number.
  if (currencies.size > 1 || currencies.has(undefined))
    return paid.slice(claims.length).map(({ money }) => ({ money, isWhole: true }));
  let claimed = moneyOf(claims);
  return paid.flatMap(({ money }) => {
    const asked = sumOf(money === undefined ? [] : [money]);
    const [rest] = excess(asked, claimed);
    claimed = excess(claimed, asked);
    return rest === undefined ? [] : [{ money: rest, isWhole: true }];
  });
}

/** The largest amount that a record of the payment has approved; nothing if none has. */
function largestClaim({ earlier, last }: OrderPayment): Payment[] {
  const [first, ...more] = [last, ...earlier].filter(isApproved);
  if (first === undefined) return [];
  return [more.reduce((one, other) => (isMore(moneyOf([other]), moneyOf([one])) ? other : one), first)];
}
