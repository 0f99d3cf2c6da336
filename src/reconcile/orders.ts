/** The three sides by order number: each order with its links, the payments that arrived, and its lines of the books. */
import { comparableText } from "../domain/comparable-text.ts";
import type { Outcome } from "../domain/outcome.ts";
import { splitReference } from "../domain/reference.ts";
import type { BookedLine, ComparedLink, ReceivedPayment } from "./sides.ts";

/** All that the three sides say of one order number. */
export interface Order {
  /** As it is compared. */
  readonly number: string;
  /** Those that were paid in the period, and reusable ones. */
  readonly links: ComparedLink[];
  /** Approved ones, parts included, each payment once. */
  readonly payments: ReceivedPayment[];
  readonly booked: BookedLine[];
  /** The last outcome of what arrived and is no approved payment. */
  other: Outcome | undefined;
  /** The thumbprint of a key that is not of this run, which has verified a webhook of this number. */
  otherKey: string | undefined;
  /** A link of this number was paid, or a webhook of it arrived, outside the period. */
  isOfOtherTime: boolean;
}

const APPROVED: ReadonlySet<Outcome> = new Set<Outcome>(["APPROVED", "PARTIALLY_APPROVED"]);

/** Collects the three sides, in any order; `settled` gives the orders when all is in. */
export class Orders {
  private readonly byNumber = new Map<string, Order>();

  /** A link without an order number is known by its id, which some services use as the reference. */
  addLink(link: ComparedLink): void {
    const order = this.orderOf(link.orderNumber === "" ? link.id : link.orderNumber);
    if (!order.links.some(({ id }) => id === link.id)) order.links.push(link);
  }

  /** A link that was paid before or after the period. Only orders of the books or of payments need to know. */
  addLinkOfOtherTime({ orderNumber, id }: Pick<ComparedLink, "orderNumber" | "id">): void {
    const order = this.byNumber.get(comparableText(orderNumber === "" ? id : orderNumber));
    if (order !== undefined) order.isOfOtherTime = true;
  }

  /** Of several events of one payment, the newest is it; it is delivered if one of them is. */
  addPayment(payment: ReceivedPayment): void {
    const order = this.orderOf(payment.reference);
    if (!APPROVED.has(payment.outcome)) {
      order.other = payment.outcome;
      return;
    }
    const known = payment.uti === "" ? -1 : order.payments.findIndex(({ uti }) => uti === payment.uti);
    const earlier = order.payments[known];
    if (earlier === undefined) order.payments.push(payment);
    else order.payments[known] = newest(earlier, payment);
  }

  /** A webhook that another key has verified counts for nobody here. Only orders that miss one need to know. */
  addOfOtherKey({ reference, key }: { readonly reference: string; readonly key: string }): void {
    const order = this.byNumber.get(comparableText(reference));
    if (order !== undefined) order.otherKey = key;
  }

  has(number: string): boolean {
    return this.byNumber.has(comparableText(number));
  }

  addBooked(line: BookedLine): void {
    this.orderOf(line.orderNumber).booked.push(line);
  }

  /** Orders with these numbers, as they are compared, were paid outside the period. */
  markOfOtherTime(numbers: Iterable<string>): void {
    for (const number of numbers) {
      const order = this.byNumber.get(comparableText(number));
      if (order !== undefined) order.isOfOtherTime = true;
    }
  }

  /** The numbers before the suffixes of payments that no link has: those of reusable links, if there are any. */
  reusableNumbers(): ReadonlySet<string> {
    const numbers = new Set<string>();
    for (const { number, links, payments } of this.byNumber.values()) {
      const { base, suffix } = splitReference(number);
      if (links.length === 0 && payments.length > 0 && suffix !== null) numbers.add(comparableText(base));
    }
    return numbers;
  }

  /** The paid links of which no approved payment arrived, with the spelling that a webhook of theirs has as its reference. */
  withoutPayment(): readonly string[] {
    return [...this.byNumber.values()].flatMap(({ links, payments }) => {
      const [link] = links.filter(({ isReusable }) => !isReusable);
      return link === undefined || payments.length > 0 ? [] : [link.orderNumber || link.id];
    });
  }

  /** The numbers of the books that neither a link nor a payment of the period has, as the books spell them. */
  bookedAlone(): readonly string[] {
    return [...this.byNumber.values()].flatMap(({ links, payments, booked, isOfOtherTime }) => {
      const [line] = booked;
      const isAlone = links.length === 0 && payments.length === 0 && !isOfOtherTime;
      return line === undefined || !isAlone ? [] : [line.orderNumber];
    });
  }

  /** The numbers of reusable links that the books have: their payments of other times are booked too. */
  bookedReusable(): readonly string[] {
    return [...this.byNumber.values()].flatMap(({ links, booked }) => {
      const [link] = links.filter(({ isReusable }) => isReusable);
      return link === undefined || booked.length === 0 ? [] : [link.orderNumber];
    });
  }

  /** Each order, with the payments and lines of a reusable link together. */
  settled(): Iterable<Order> {
    for (const order of this.byNumber.values()) {
      const reusable = order.links.length === 0 ? this.reusableOrderOf(order) : undefined;
      if (reusable === undefined) continue;
      reusable.payments.push(...order.payments.splice(0));
      reusable.booked.push(...order.booked.splice(0));
    }
    return this.byNumber.values();
  }

  private reusableOrderOf({ number }: Order): Order | undefined {
    const { base, suffix } = splitReference(number);
    const found = suffix === null ? undefined : this.byNumber.get(comparableText(base));
    return found?.links.some(({ isReusable }) => isReusable) ? found : undefined;
  }

  /** The order of a number, which is new if nothing has named it yet. */
  orderOf(spelled: string): Order {
    const number = comparableText(spelled);
    const known = this.byNumber.get(number);
    if (known !== undefined) return known;
    const order: Order = {
      number,
      links: [],
      payments: [],
      booked: [],
      other: undefined,
      otherKey: undefined,
      isOfOtherTime: false,
    };
    this.byNumber.set(number, order);
    return order;
  }
}

function newest(one: ReceivedPayment, other: ReceivedPayment): ReceivedPayment {
  const [older, newer] = one.receivedAt <= other.receivedAt ? [one, other] : [other, one];
  return older.delivery === "delivered" ? { ...newer, delivery: "delivered" } : newer;
}
