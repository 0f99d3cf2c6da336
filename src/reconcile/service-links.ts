/** What the service says: every link of a year, read page by page, and which of them were paid in a period. */
import { LISTED_AGE, readPaymentLink } from "../domain/payment-link-reply.ts";
import type { PaymentLink } from "../domain/payment-link-shapes.ts";
import { parseInstant, UNITS } from "../values/time.ts";
import { orderLink } from "../orders/order.ts";
import { allLinks, ownText, CLOCK_DIFFERENCE } from "../service/all-links.ts";
import type { Api } from "../service/client.ts";
import { linkId } from "../service/links.ts";
import type { ComparedLink } from "./sides.ts";

export interface ListedYear {
  readonly listLinks: Api["listLinks"];
  readonly terminalId: string;
  readonly now: Date;
}

/** Milliseconds by which a service whose clock is ahead must not find that a year is more than one. */
const YEAR_MARGIN = UNITS.h;

/** Every link that a service lists, whatever its status: it looks back a year, by the date of creation. */
export async function* linksOfYear({ listLinks, terminalId, now }: ListedYear): AsyncGenerator<PaymentLink> {
  const from = new Date(now.getTime() - LISTED_AGE.milliseconds + YEAR_MARGIN);
  const to = new Date(now.getTime() + CLOCK_DIFFERENCE);
  for await (const json of allLinks(listLinks, { terminalId, from, to })) yield readPaymentLink(json).link;
}

/** The period of a comparison, in milliseconds since 1970. */
export interface LinkPeriod {
  readonly since: number;
  /** Undefined: until now. */
  readonly until: number | undefined;
}

/** Undefined for a link that the service does not name. */
export function comparedLink(link: PaymentLink, now: Date, period: LinkPeriod): ComparedLink | undefined {
  const id = linkId(link);
  if (id === undefined) return undefined;
  const { money, ...own } = orderLink(link, id, now);
  const paidAt = instantOf(link.paidDate);
  const dates = { paidAt, paidAfter: paidAt === undefined ? instantOf(link.createdDate) : undefined };
  return {
    ...own,
    ...dates,
    id: ownText(id),
    orderNumber: ownText(link.invoiceId ?? ""),
    money: money && { ...money, amount: ownText(money.amount) },
    isCompared: !own.isReusable && own.end === "paid" && isInPeriod(dates, period),
  };
}

/** Without the time of its payment, a link may have been paid at any time since its creation. */
function isInPeriod(
  { paidAt, paidAfter }: Pick<ComparedLink, "paidAt" | "paidAfter">,
  { since, until }: LinkPeriod,
): boolean {
  const earliest = paidAt ?? paidAfter;
  const isSince = paidAt === undefined || paidAt >= since;
  return isSince && (until === undefined || earliest === undefined || earliest < until);
}

const instantOf = (date: PaymentLink["paidDate"]): number | undefined =>
  typeof date === "string" ? parseInstant(date)?.getTime() : undefined;
