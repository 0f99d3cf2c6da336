/** One order number: what the service and the event store have of it. */
import { comparableText } from "../values/comparable-text.ts";
import type { Rejection } from "../events/event.ts";
import type { StoredEvent } from "../events/history.ts";
import type { NamedLink } from "../events/steps.ts";
import {
  baseNumbersOf,
  type KindOfLink,
  kindOfLinks,
  linkNumber,
  orderNumberOf,
} from "../orders/order-number.ts";
import { paymentIn } from "../orders/order.ts";
import { type ComparedOrder, Orders } from "../reconcile/orders.ts";
import { claimedNumber } from "../reconcile/refused.ts";
import { comparedLink, type ListedYear, linksOfYear } from "../reconcile/service-links.ts";
import type { ReceivedPayment } from "../reconcile/sides.ts";
import { linkId } from "../service/links.ts";
import type { EventStore } from "../store/event-store.ts";
import type { OrderSources } from "./order-sources.ts";

export interface FoundOrder {
  readonly number: string;
  readonly links: NamedLink[];
  readonly rejections: Rejection[];
}

/** Adds their links to each, of every link that the service lists. */
export async function findLinks(year: ListedYear, found: readonly FoundOrder[]): Promise<void> {
  for await (const link of linksOfYear(year)) {
    const id = linkId(link) ?? "";
    for (const one of found) if (belongsToOrder({ link, id }, one.number)) one.links.push({ link, id });
  }
}

/** By its order number, or by its id; a reusable link also by the reference of one of its payments. */
function belongsToOrder({ link, id }: NamedLink, number: string): boolean {
  const own = new Set([linkNumber(link, id), comparableText(id)]);
  if (own.has(comparableText(number))) return true;
  return link.linkOptions !== undefined && baseNumbersOf(number).some((base) => own.has(base));
}

/** Whether a reference is one of the order: of its number, or of one of its links. */
function isReferenceOf(reference: string, { number, links }: FoundOrder): boolean {
  const kindOfLink: KindOfLink = (name) =>
    kindOfLinks(
      links
        .filter(({ link, id }) => [linkNumber(link, id), comparableText(id)].includes(name))
        .map(({ link }) => ({ isReusable: link.linkOptions !== undefined })),
    );
  const own = orderNumberOf(reference, kindOfLink);
  return kindOfLink(own) !== undefined || own === comparableText(number);
}

export function isRejectionOf({ request }: Rejection, found: FoundOrder): boolean {
  const claimed = request === null ? undefined : claimedNumber(request.body);
  return claimed !== undefined && isReferenceOf(claimed, found);
}

/** Those of the number and of its links, each once, in order of arrival. */
export async function eventsOfOrder(store: EventStore, order: FoundOrder): Promise<StoredEvent[]> {
  const names = new Set([order.number, ...order.links.flatMap(({ link, id }) => [link.invoiceId ?? "", id])]);
  const found = new Map<string, StoredEvent>();
  for (const name of names) {
    if (name === "") continue;
    for await (const event of store.events({ order: name }))
      if (isReferenceOf(event.reference, order)) found.set(event.id, event);
  }
  return [...found.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

const receivedPayment = ({ id, reference, receivedAt, content, delivery }: StoredEvent): ReceivedPayment => ({
  ...paymentIn(content.record),
  event: id,
  reference,
  receivedAt: receivedAt.getTime(),
  delivery: delivery?.state ?? null,
});

/** All of it as it is compared, with the events that a key of this run has verified. */
export function comparedOrder(
  { number, links }: FoundOrder,
  events: readonly StoredEvent[],
  { keys, year }: Pick<OrderSources, "keys" | "year">,
): ComparedOrder {
  const [first] = links;
  // The order is there, even if only a rejected webhook names it.
  const order = new Orders().orderOf(first === undefined ? number : linkNumber(first.link, first.id));
  for (const { link } of links) {
    const compared = comparedLink(link, year.now, { since: 0, until: undefined });
    if (compared !== undefined) order.links.push(compared);
  }
  for (const event of events)
    if (keys?.includes(event.key) ?? true) order.payments.push(receivedPayment(event));
    else order.otherKey = event.key;
  return order;
}
