/** Counts the paid links and the findings of a reconciliation, with their sums. */
import { type Sum, Sums } from "../domain/money.ts";
import {
  type Circumstances,
  type Finding,
  type FindingName,
  FINDINGS,
  findingsOf,
  isDifference,
} from "./findings.ts";
import { kindOfLinks } from "../orders/order-number.ts";
import { isApproved, paymentsOf } from "../orders/order.ts";
import type { ComparedOrder, Orders } from "./orders.ts";

export interface Counted {
  readonly count: number;
  /** By currency. */
  readonly sums: readonly Sum[];
}

export interface Summary {
  /** The links that were paid in the period; reusable ones never are. */
  readonly paid: Counted;
  /** Those of them in which all sides agree. */
  readonly agree: Counted;
  /** Payments of reusable links. */
  readonly reusable: Counted;
  /** Those that were found. */
  readonly findings: Readonly<Partial<Record<FindingName, Counted>>>;
}

class Count {
  private readonly sums = new Sums();
  count = 0;

  add(money: Sum | null | undefined): void {
    this.count += 1;
    if (money) this.sums.add(money.amount, money.currency);
  }

  counted(): Counted {
    return { count: this.count, sums: this.sums.list() };
  }
}

/** Gives each finding to `found`, in the order of the orders, and returns the summary. */
export async function compareOrders(
  orders: Orders,
  known: Circumstances,
  found: (finding: Finding) => void | Promise<void>,
): Promise<Summary> {
  const [paid, agree, reusable] = [new Count(), new Count(), new Count()];
  const findings = new Map<FindingName, Count>();
  for (const order of orders.settled()) {
    const own = [...findingsOf(order, known)];
    for (const finding of own) {
      const count = findings.get(finding.finding) ?? new Count();
      findings.set(finding.finding, count);
      count.add(finding.money);
      await found(finding);
    }
    countLinks(order, { paid, agree, reusable }, { isAgreed: own.length === 0, since: known.since });
  }
  return {
    paid: paid.counted(),
    agree: agree.counted(),
    reusable: reusable.counted(),
    findings: Object.fromEntries(
      FINDINGS.flatMap((name) => {
        const count = findings.get(name);
        return count === undefined ? [] : [[name, count.counted()]];
      }),
    ),
  };
}

function countLinks(
  { links, payments }: ComparedOrder,
  { paid, agree, reusable }: Readonly<Record<"paid" | "agree" | "reusable", Count>>,
  { isAgreed, since }: { readonly isAgreed: boolean; readonly since: number },
): void {
  if (kindOfLinks(links) === "reusable")
    for (const { last } of paymentsOf(payments))
      if (isApproved(last) && last.kind === "takes" && last.receivedAt >= since) reusable.add(last.money);
  for (const { money, isCompared } of links) {
    if (!isCompared) continue;
    paid.add(money);
    if (isAgreed) agree.add(money);
  }
}

/** Whether records that must agree do not. */
export const isDifferent = ({ findings }: Pick<Summary, "findings">): boolean =>
  FINDINGS.some((name) => isDifference(name) && findings[name] !== undefined);
