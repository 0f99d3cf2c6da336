/** What the service says: the links that were paid in a period, and the reusable ones, read page by page. */
import { comparableText } from "../domain/comparable-text.ts";
import type { Json } from "../domain/json.ts";
import { LISTED_AGE, readPaymentLink } from "../domain/payment-link-reply.ts";
import type { PaymentLink } from "../domain/payment-link-shapes.ts";
import { parseInstant } from "../domain/time.ts";
import { allLinks, ownText, CLOCK_DIFFERENCE } from "../service/all-links.ts";
import type { Api } from "../service/client.ts";
import { linkEnd } from "../orders/link-end.ts";
import { linkId } from "../service/links.ts";
import type { ComparedLink } from "./sides.ts";

export interface ListedYear {
  readonly listLinks: Api["listLinks"];
  readonly terminalId: string;
  readonly now: Date;
}

/** A link, with what the service says of it. */
export interface YearLink {
  readonly json: Json;
  readonly link: PaymentLink;
}

/** Every link that a service lists: it looks back a year, by the date of creation. */
export async function* linksOfYear(
  { listLinks, terminalId, now }: ListedYear,
  status?: string,
): AsyncGenerator<YearLink> {
  const from = new Date(now.getTime() - LISTED_AGE.milliseconds + CLOCK_DIFFERENCE);
  const to = new Date(now.getTime() + CLOCK_DIFFERENCE);
  for await (const json of allLinks(listLinks, { terminalId, from, to, status }))
    yield { json, link: readPaymentLink(json).link };
}

/** Every link that is paid, whenever it was: a link of last month may be paid today. The status alone is asked for. */
export async function* paidLinks(year: ListedYear): AsyncGenerator<ComparedLink> {
  for await (const { link } of linksOfYear(year, "paid")) {
    const id = linkId(link);
    if (id !== undefined && link.linkOptions === undefined && linkEnd(link, year.now) === "paid")
      yield comparedLink(link, id);
  }
}

/** The reusable links with these order numbers, as they are compared. Their status says nothing of their payments. */
export async function* reusableLinks(
  year: ListedYear,
  numbers: ReadonlySet<string>,
): AsyncGenerator<ComparedLink> {
  for await (const { link } of linksOfYear(year)) {
    const id = linkId(link);
    if (id === undefined || link.linkOptions === undefined) continue;
    if (numbers.has(comparableText(link.invoiceId || id))) yield comparedLink(link, id);
  }
}

export function comparedLink(link: PaymentLink, id: string): ComparedLink {
  const { invoiceId = "", amount, currency, linkOptions } = link;
  const paidAt = instantOf(link.paidDate);
  return {
    id: ownText(id),
    orderNumber: ownText(invoiceId),
    money:
      amount === undefined || currency === undefined
        ? undefined
        : { amount: ownText(amount.toString()), currency: currency.toUpperCase() },
    paidAt,
    paidAfter: paidAt === undefined ? instantOf(link.createdDate) : undefined,
    isReusable: linkOptions !== undefined,
  };
}

const instantOf = (date: PaymentLink["paidDate"]): number | undefined =>
  typeof date === "string" ? parseInstant(date)?.getTime() : undefined;
