/** The verdict on one order: how it stands, what differs, and when the application accepted it. */
import type { LinkEnd } from "../orders/link-end.ts";
import { kindOfLinks } from "../orders/order-number.ts";
import { isApproved, paymentsOf } from "../orders/order.ts";
import { reusedText, standingText } from "../orders/standing-words.ts";
import type { OrderStanding } from "../orders/standing.ts";
import { type Circumstances, comparedStanding, type Finding, findingsOf, isDifference } from "./findings.ts";
import type { ComparedOrder } from "./orders.ts";

/** What an order comes to. */
export interface OrderVerdict {
  readonly order: OrderStanding;
  readonly findings: readonly Finding[];
  /** Records that must agree do not. */
  readonly isDifferent: boolean;
  /** How it stands, in a sentence without its full stop. */
  readonly text: string;
  /** Each payment of its link is an order of its own. */
  readonly isReusable: boolean;
  /** How its last link ended unpaid; undefined while one can be paid, and without any. */
  readonly ended: Exclude<LinkEnd, "paid"> | undefined;
  /** Whether the service lists a link of it. */
  readonly hasLink: boolean;
  /** A rejected webhook names it. */
  readonly isRefused: boolean;
  /** The last approved payment. */
  readonly last: { readonly arrivedAt: Date; readonly acceptedAt: Date | undefined } | undefined;
}

/**
 * When the application accepted an event, of its accepted attempts in order: the first by which it was forwarded. A replay may go to
 * another application, so it counts only where there is no such attempt. Undefined without any.
 */
export const acceptanceOf = (
  accepted: readonly { readonly at: Date; readonly isReplay: boolean }[],
): Date | undefined => (accepted.find(({ isReplay }) => !isReplay) ?? accepted.at(-1))?.at;

interface OrderFacts {
  readonly order: ComparedOrder;
  readonly known: Circumstances;
  /** When the application accepted each event, by its id. */
  readonly accepted: ReadonlyMap<string, Date>;
}

export function verdictOf({ order: compared, known, accepted }: OrderFacts): OrderVerdict {
  const { links, payments } = compared;
  const findings = [...findingsOf(compared, known)];
  const order = comparedStanding(compared);
  const approved = paymentsOf(payments).flatMap(({ last }) => (isApproved(last) ? [last] : []));
  const last = approved.at(-1);
  const isReusable = kindOfLinks(links) === "reusable";
  const end = order.payable.length > 0 ? undefined : links.at(-1)?.end;
  return {
    order,
    findings,
    isDifferent: findings.some(({ finding }) => isDifference(finding)),
    text: isReusable ? reusedText(order) : standingText(order),
    isReusable,
    ended: end === "paid" ? undefined : end,
    hasLink: links.length > 0,
    isRefused: known.refused.has(compared.number),
    last: last && { arrivedAt: new Date(last.receivedAt), acceptedAt: accepted.get(last.event) },
  };
}
