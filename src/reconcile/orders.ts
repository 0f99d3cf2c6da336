/** The three sides by order number: each order with its links, the records that arrived, and its lines of the books. */
import { addTo } from "../values/groups.ts";
import { comparableText } from "../values/comparable-text.ts";
import type { Sum } from "../domain/money.ts";
import { UNITS } from "../values/time.ts";
import { isSame } from "../orders/amounts.ts";
import { baseNumbersOf, kindOfLinks, type KindOfLinks, orderNumberOf } from "../orders/order-number.ts";
import { asksNothing, isApproved } from "../orders/order.ts";
import type { BookedLine, ComparedLink, ReceivedPayment } from "./sides.ts";

/** All that the three sides say of one order number. */
export interface ComparedOrder {
  /** As it is compared. */
  readonly number: string;
  readonly links: ComparedLink[];
  /** Every record that arrived, whatever its outcome, in the order of arrival. */
  readonly payments: ReceivedPayment[];
  readonly booked: BookedLine[];
  /** The thumbprint of a key that is not of this run, which has verified a webhook of this number. */
  otherKey: string | undefined;
  /** A link of this number was paid, or a webhook of it arrived, outside the period. */
  isOfOtherTime: boolean;
}

/**
 * An order as most are: one link that was paid in the period, one payment that is all of it and waits for nothing, or both. In one object
 * without lists it takes a third of the memory (reconcile bench).
 */
interface PlainOrder {
  readonly amount: string;
  readonly currency: string;
  /** Undefined as long as no link is known. */
  link: string | undefined;
  orderNumber: string;
  paidAt: number | undefined;
  paidAfter: number | undefined;
  /** The id of the event; undefined as long as nothing has arrived. */
  event: string | undefined;
  uti: string;
  reference: string;
  receivedAt: number;
  delivery: "delivered" | null;
}

/** Milliseconds around the time of a payment in which its webhook arrives. */
const ARRIVES_WITHIN = UNITS.h;

/** Collects the three sides, in any order; `settled` gives the orders when all is in. */
export class Orders {
  /** An order stays a plain one as long as it can. */
  private readonly byNumber = new Map<string, PlainOrder | ComparedOrder>();
  /** Links that can still be paid, of numbers that nothing else has named yet. */
  private readonly open = new Map<string, ComparedLink[]>();

  /** A link without an order number is known by its id, which some services use as the reference. */
  addLink(link: ComparedLink): void {
    const spelled = link.orderNumber === "" ? link.id : link.orderNumber;
    const number = comparableText(spelled);
    const known = this.byNumber.get(number);
    if (known === undefined && !link.isCompared && !link.isReusable) {
      if (link.end === undefined && !asksNothing(link)) addTo(this.open, number, link);
      return;
    }
    if (link.isCompared && link.money !== undefined) {
      if (known === undefined) {
        this.byNumber.set(number === spelled ? spelled : number, withLink(plainOrder(link.money), link));
        return;
      }
      if (isPlain(known) && known.link === undefined && isSame([known], [link.money])) {
        withLink(known, link);
        return;
      }
    }
    const order = this.orderOf(spelled);
    if (!order.links.some(({ id }) => id === link.id)) order.links.push(link);
    if (link.end === "paid" && !link.isCompared) order.isOfOtherTime = true;
  }

  addPayment(payment: ReceivedPayment): void {
    const number = comparableText(payment.reference);
    const known = this.byNumber.get(number);
    if (isPlainPayment(payment) && payment.money !== undefined) {
      if (known === undefined) {
        this.byNumber.set(number, withPayment(plainOrder(payment.money), payment));
        return;
      }
      if (isPlain(known) && known.event === undefined && isSame([known], [payment.money])) {
        withPayment(known, payment);
        return;
      }
    }
    const { payments } = this.orderOf(payment.reference);
    if (payments.some(({ event }) => event === payment.event)) return;
    payments.push(payment);
    payments.sort((one, other) => (one.event < other.event ? -1 : 1));
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

  /** The numbers before the suffixes of payments: those of reusable links, if there are any. */
  reusableNumbers(): ReadonlySet<string> {
    const numbers = new Set<string>();
    for (const { number, payments } of this.all()) {
      if (payments.length > 0) for (const base of baseNumbersOf(number)) numbers.add(base);
    }
    return numbers;
  }

  /** The links paid in the period of which no approved payment arrived, with the spelling that a webhook of theirs has as its reference. */
  withoutPayment(): readonly string[] {
    const numbers: string[] = [];
    for (const { links, payments } of this.all()) {
      const link = links.find(({ isCompared }) => isCompared);
      if (link !== undefined && !payments.some(isApproved)) numbers.push(link.orderNumber || link.id);
    }
    return numbers;
  }

  /** The numbers of the books that neither a link nor a payment of the period has, as the books spell them. */
  bookedAlone(): readonly string[] {
    const numbers: string[] = [];
    for (const { links, payments, booked, isOfOtherTime } of this.all()) {
      const [line] = booked;
      const isLinked = links.some(({ isCompared, isReusable }) => isCompared || isReusable);
      const isAlone = !isLinked && payments.length === 0 && !isOfOtherTime;
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

  /** Each order, with the payments and lines of a reusable link together, and with its links that can still be paid. */
  *settled(): Generator<ComparedOrder> {
    for (const [number, links] of this.open) if (this.has(number)) this.orderOf(number).links.push(...links);
    this.open.clear();
    for (const order of this.all()) {
      const number = orderNumberOf(order.number, (wanted) => this.kindOfLink(wanted));
      if (number === order.number) continue;
      const reusable = this.orderOf(number);
      reusable.payments.push(...order.payments.splice(0));
      reusable.booked.push(...order.booked.splice(0));
      if (!isPlain(order)) this.byNumber.delete(order.number);
    }
    this.findNameless();
    yield* this.all();
  }

  /** A paid link without an order number has the one payment of no known link that fits it, if no other does. */
  private findNameless(): void {
    const nameless = this.which(({ links, payments }) => payments.length === 0 && links.some(isNameless));
    if (nameless.length === 0) return;
    const free = this.which(({ links, payments }) => links.length === 0 && payments.length > 0);
    const pairs = nameless.map((order) => ({ order, found: free.filter((one) => fits(order.links, one)) }));
    for (const { order, found } of pairs) {
      const [only, ...more] = found;
      const isShared = pairs.some((pair) => pair.order !== order && only && pair.found.includes(only));
      if (only === undefined || more.length > 0 || isShared) continue;
      this.orderOf(order.number).payments.push(...this.orderOf(only.number).payments);
      this.byNumber.delete(only.number);
    }
  }

  private kindOfLink(number: string): KindOfLinks {
    const found = this.byNumber.get(number);
    if (found === undefined) return undefined;
    if (isPlain(found)) return found.link === undefined ? undefined : "one-time";
    return kindOfLinks(found.links);
  }

  /** Each order. A plain one is a temporary object: what is added to it is lost. */
  private *all(): Generator<ComparedOrder> {
    for (const [number, order] of this.byNumber) yield isPlain(order) ? orderFrom(number, order) : order;
  }

  /** The orders that are wanted. All of them at once would take a third of the memory (reconcile bench). */
  private which(isWanted: (order: ComparedOrder) => boolean): readonly ComparedOrder[] {
    const found: ComparedOrder[] = [];
    for (const order of this.all()) if (isWanted(order)) found.push(order);
    return found;
  }

  /** The order of a number, which is new if nothing has named it yet. */
  orderOf(spelled: string): ComparedOrder {
    const number = comparableText(spelled);
    const known = this.byNumber.get(number);
    if (known !== undefined && !isPlain(known)) return known;
    const order = orderFrom(number, known);
    this.byNumber.set(number, order);
    return order;
  }
}

const isNameless = ({ isCompared, orderNumber }: ComparedLink): boolean => isCompared && orderNumber === "";

/** Whether the payment of an order can be that of a link: by amount, currency and time. */
function fits(links: readonly ComparedLink[], { payments }: ComparedOrder): boolean {
  const [payment, ...more] = payments.filter(isApproved);
  const link = links.find(isNameless);
  if (payment?.money === undefined || more.length > 0 || link?.money === undefined) return false;
  const paidAt = link.paidAt ?? Number.NaN;
  return isSame([payment.money], [link.money]) && Math.abs(payment.receivedAt - paidAt) <= ARRIVES_WITHIN;
}

const isPlain = (order: PlainOrder | ComparedOrder): order is PlainOrder => "link" in order;

/** All members stand in one place: V8 would keep a shape for each order that is put together of others (reconcile bench). */
const plainOrder = ({ amount, currency }: Sum): PlainOrder => ({
  amount,
  currency,
  link: undefined,
  orderNumber: "",
  paidAt: undefined,
  paidAfter: undefined,
  event: undefined,
  uti: "",
  reference: "",
  receivedAt: 0,
  delivery: null,
});

function withLink(order: PlainOrder, { id, orderNumber, paidAt, paidAfter }: ComparedLink): PlainOrder {
  order.link = id;
  // Equal texts share memory.
  order.orderNumber = orderNumber === order.reference ? order.reference : orderNumber;
  order.paidAt = paidAt;
  order.paidAfter = paidAfter;
  return order;
}

function withPayment(order: PlainOrder, payment: PlainPayment): PlainOrder {
  const { event, uti, reference, receivedAt, delivery } = payment;
  order.event = event;
  order.uti = uti;
  order.reference = reference === order.orderNumber ? order.orderNumber : reference;
  order.receivedAt = receivedAt;
  order.delivery = delivery;
  return order;
}

type PlainPayment = ReceivedPayment & Pick<PlainOrder, "delivery">;

/** False for a payment that may not be all of its order, or that waits for something. */
const isPlainPayment = (payment: ReceivedPayment): payment is PlainPayment =>
  payment.outcome === "APPROVED" &&
  payment.kind === "takes" &&
  payment.uti !== "" &&
  (payment.delivery === null || payment.delivery === "delivered");

function orderFrom(number: string, plain: PlainOrder | undefined): ComparedOrder {
  const order: ComparedOrder = {
    number,
    links: [],
    payments: [],
    booked: [],
    otherKey: undefined,
    isOfOtherTime: false,
  };
  if (plain === undefined) return order;
  const { amount, currency, link: id, orderNumber, paidAt, paidAfter, event, ...arrived } = plain;
  const money = { amount, currency };
  if (id !== undefined)
    order.links.push({
      id,
      orderNumber,
      money,
      paidAt,
      paidAfter,
      end: "paid",
      isReusable: false,
      isCompared: true,
    });
  if (event !== undefined)
    order.payments.push({ event, outcome: "APPROVED", kind: "takes", money, ...arrived });
  return order;
}
