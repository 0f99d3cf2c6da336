/** The three sides by order number: each order with its links, the payments that arrived, and its lines of the books. */
import { comparableText } from "../domain/comparable-text.ts";
import type { Sum } from "../domain/money.ts";
import { hasApprovedAmount, type Outcome } from "../domain/outcome.ts";
import { splitReference } from "../domain/reference.ts";
import { isSame } from "../orders/amounts.ts";
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

/**
 * An order as most are: one paid link and, once it has arrived, one payment that is all of it and waits for nothing. In one object
 * without lists it takes a third of the memory (reconcile bench).
 */
interface PlainOrder {
  readonly link: string;
  readonly orderNumber: string;
  readonly amount: string;
  readonly currency: string;
  readonly paidAt: number | undefined;
  readonly paidAfter: number | undefined;
  /** The id of the event; undefined as long as nothing has arrived. */
  event: string | undefined;
  uti: string;
  reference: string;
  receivedAt: number;
  delivery: "delivered" | null;
}

/** Collects the three sides, in any order; `settled` gives the orders when all is in. */
export class Orders {
  /** An order stays a plain one as long as it can. */
  private readonly byNumber = new Map<string, PlainOrder | Order>();

  /** A link without an order number is known by its id, which some services use as the reference. */
  addLink(link: ComparedLink): void {
    const spelled = link.orderNumber === "" ? link.id : link.orderNumber;
    const number = comparableText(spelled);
    const plain = this.byNumber.has(number) ? undefined : plainOrder(link);
    if (plain !== undefined) {
      this.byNumber.set(number === spelled ? spelled : number, plain);
      return;
    }
    const { links } = this.orderOf(spelled);
    if (!links.some(({ id }) => id === link.id)) links.push(link);
  }

  /** A link that was paid before or after the period. Only orders of the books or of payments need to know. */
  addLinkOfOtherTime({ orderNumber, id }: Pick<ComparedLink, "orderNumber" | "id">): void {
    this.markOfOtherTime([orderNumber === "" ? id : orderNumber]);
  }

  /** Of several events of one payment, the newest is it; it is delivered if one of them is. */
  addPayment(payment: ReceivedPayment): void {
    const known = this.byNumber.get(comparableText(payment.reference));
    if (known !== undefined && isPlain(known) && takesPayment(known, payment)) return;
    const order = this.orderOf(payment.reference);
    if (!hasApprovedAmount(payment.outcome)) {
      order.other = payment.outcome;
      return;
    }
    const at = payment.uti === "" ? -1 : order.payments.findIndex(({ uti }) => uti === payment.uti);
    const earlier = order.payments[at];
    if (earlier === undefined) order.payments.push(payment);
    else order.payments[at] = newest(earlier, payment);
  }

  /** A webhook that another key has verified counts for nobody here. Only orders that miss one need to know. */
  addOfOtherKey({ reference, key }: { readonly reference: string; readonly key: string }): void {
    if (this.has(reference)) this.orderOf(reference).otherKey = key;
  }

  has(number: string): boolean {
    return this.byNumber.has(comparableText(number));
  }

  addBooked(line: BookedLine): void {
    this.orderOf(line.orderNumber).booked.push(line);
  }

  /** Moves the booked lines of one number to another, which they name as well. */
  rebook(from: string, to: string): void {
    this.orderOf(to).booked.push(...this.orderOf(from).booked.splice(0));
  }

  /** The money of its links and payments; undefined for a number that only the books have. */
  moneyOf(number: string): readonly Sum[] | undefined {
    const order = this.byNumber.get(comparableText(number));
    if (order === undefined) return undefined;
    if (isPlain(order)) return [order];
    const { links, payments } = order;
    if (links.length + payments.length === 0) return undefined;
    return [...links, ...payments].flatMap(({ money }) => money ?? []);
  }

  /** Orders with these numbers were paid outside the period. */
  markOfOtherTime(numbers: Iterable<string>): void {
    for (const number of numbers) if (this.has(number)) this.orderOf(number).isOfOtherTime = true;
  }

  /** The numbers before the suffixes of payments that no link has: those of reusable links, if there are any. */
  reusableNumbers(): ReadonlySet<string> {
    const numbers = new Set<string>();
    for (const { number, links, payments } of this.all()) {
      const { base, suffix } = splitReference(number);
      if (links.length === 0 && payments.length > 0 && suffix !== null) numbers.add(comparableText(base));
    }
    return numbers;
  }

  /** The paid links of which no approved payment arrived, with the spelling that a webhook of theirs has as its reference. */
  withoutPayment(): readonly string[] {
    const numbers: string[] = [];
    for (const { links, payments } of this.all()) {
      const link = links.find(({ isReusable }) => !isReusable);
      if (link !== undefined && payments.length === 0) numbers.push(link.orderNumber || link.id);
    }
    return numbers;
  }

  /** The numbers of the books that neither a link nor a payment of the period has, as the books spell them. */
  bookedAlone(): readonly string[] {
    const numbers: string[] = [];
    for (const { links, payments, booked, isOfOtherTime } of this.all()) {
      const [line] = booked;
      const isAlone = links.length === 0 && payments.length === 0 && !isOfOtherTime;
      if (line !== undefined && isAlone) numbers.push(line.orderNumber);
    }
    return numbers;
  }

  /** The numbers of links and payments that the books do not have. */
  *unbooked(): Generator<string> {
    for (const { number, links, payments, booked } of this.all())
      if (booked.length === 0 && links.length + payments.length > 0) yield number;
  }

  /** The numbers of reusable links that the books have: their payments of other times are booked too. */
  bookedReusable(): readonly string[] {
    const numbers: string[] = [];
    for (const { links, booked } of this.all()) {
      const link = links.find(({ isReusable }) => isReusable);
      if (link !== undefined && booked.length > 0) numbers.push(link.orderNumber);
    }
    return numbers;
  }

  /** Each order, with the payments and lines of a reusable link together. */
  *settled(): Generator<Order> {
    for (const order of this.all()) {
      const reusable = order.links.length === 0 ? this.reusableOrderOf(order) : undefined;
      if (reusable === undefined) continue;
      reusable.payments.push(...order.payments.splice(0));
      reusable.booked.push(...order.booked.splice(0));
    }
    yield* this.all();
  }

  private reusableOrderOf({ number }: Order): Order | undefined {
    const { base, suffix } = splitReference(number);
    const found = suffix === null ? undefined : this.byNumber.get(comparableText(base));
    if (found === undefined || isPlain(found)) return undefined;
    return found.links.some(({ isReusable }) => isReusable) ? found : undefined;
  }

  /** Each order. A plain one is a temporary object: what is added to it is lost. */
  private *all(): Generator<Order> {
    for (const [number, order] of this.byNumber) yield isPlain(order) ? orderFrom(number, order) : order;
  }

  /** The order of a number, which is new if nothing has named it yet. */
  orderOf(spelled: string): Order {
    const number = comparableText(spelled);
    const known = this.byNumber.get(number);
    if (known !== undefined && !isPlain(known)) return known;
    const order = orderFrom(number, known);
    this.byNumber.set(number, order);
    return order;
  }
}

const isPlain = (order: PlainOrder | Order): order is PlainOrder => "link" in order;

function plainOrder({
  id: link,
  orderNumber,
  money,
  paidAt,
  paidAfter,
  isReusable,
}: ComparedLink): PlainOrder | undefined {
  if (isReusable || money === undefined) return undefined;
  const none = { event: undefined, uti: "", reference: "", receivedAt: 0, delivery: null };
  return { link, orderNumber, ...money, paidAt, paidAfter, ...none };
}

/** Whether the payment is the first of the order, and can be all of it: then the order has it. */
function takesPayment(order: PlainOrder, payment: ReceivedPayment): boolean {
  const { event, uti, reference, outcome, money, receivedAt, delivery } = payment;
  if (order.event !== undefined || outcome !== "APPROVED" || money === undefined) return false;
  if ((delivery !== null && delivery !== "delivered") || !isSame([order], [money])) return false;
  const { orderNumber } = order;
  // Equal texts share memory.
  const spelled = reference === orderNumber ? orderNumber : reference;
  Object.assign(order, { event, uti, reference: spelled, receivedAt, delivery });
  return true;
}

function orderFrom(number: string, plain: PlainOrder | undefined): Order {
  const order: Order = {
    number,
    links: [],
    payments: [],
    booked: [],
    other: undefined,
    otherKey: undefined,
    isOfOtherTime: false,
  };
  if (plain === undefined) return order;
  const {
    link: id,
    orderNumber,
    amount,
    currency,
    paidAt,
    paidAfter,
    event,
    uti,
    reference,
    receivedAt,
    delivery,
  } = plain;
  const money = { amount, currency };
  order.links.push({ id, orderNumber, money, paidAt, paidAfter, isReusable: false });
  if (event !== undefined)
    order.payments.push({ event, uti, reference, outcome: "APPROVED", money, receivedAt, delivery });
  return order;
}

function newest(one: ReceivedPayment, other: ReceivedPayment): ReceivedPayment {
  const [older, newer] = one.receivedAt <= other.receivedAt ? [one, other] : [other, one];
  return older.delivery === "delivered" ? { ...newer, delivery: "delivered" } : newer;
}
