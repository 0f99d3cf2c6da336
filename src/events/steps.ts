/** What happened to an order or an event, in the order of time: the terminal, the pages and the timeline only paint it. */
import { groupedAmount, signOf, type Sum } from "../domain/money.ts";
import type { PaymentLink } from "../domain/payment-link-shapes.ts";
import { parseInstant } from "../values/time.ts";
import { moneyIn } from "../domain/transaction.ts";
import { linkExpiry } from "../orders/link-end.ts";
import { orderLink } from "../orders/order.ts";
import type { Rejection } from "./event.ts";
import type { History, StoredAttempt, StoredEvent } from "./history.ts";

export type StepName =
  | "link created"
  | "link viewed"
  | "payment attempted"
  | "link paid"
  | "link cancelled"
  | "link expired"
  | "webhook arrived"
  | "webhook repeated"
  | "webhook refused"
  | "forwarded"
  | "replayed"
  | "retry"
  | "skip"
  | "accept";

export interface Step {
  readonly at: Date;
  readonly what: StepName;
  readonly detail: string;
  /** Of an attempt to forward or replay. */
  readonly attempt?: StoredAttempt;
  /** The names of the event that it happened to. */
  readonly event?: string;
}

export interface NamedLink {
  readonly id: string;
  readonly link: PaymentLink;
}

interface Happened {
  readonly links?: readonly NamedLink[];
  readonly events?: readonly { readonly event: StoredEvent; readonly history: History }[];
  readonly rejections?: readonly Rejection[];
}

export const stepsOf = ({ links = [], events = [], rejections = [] }: Happened, now: Date): Step[] =>
  [
    ...links.flatMap((link) => linkSteps(link, now)),
    ...events.flatMap(eventSteps),
    ...rejections.map(rejectionStep),
  ].toSorted((one, other) => one.at.getTime() - other.at.getTime());

const LINK_STEPS: readonly (readonly [date: keyof PaymentLink & `${string}Date`, what: StepName])[] = [
  ["createdDate", "link created"],
  ["viewedDate", "link viewed"],
  ["attemptedDate", "payment attempted"],
  ["paidDate", "link paid"],
  ["cancelledDate", "link cancelled"],
];

function linkSteps({ link, id }: NamedLink, now: Date): Step[] {
  const { money, isReusable, end } = orderLink(link, id, now);
  // The customer enters the amount of a reusable link with amount 0.
  const asked = isReusable && money !== undefined && signOf(money.amount) === 0 ? undefined : money;
  const detail = `link ${id}${isReusable ? ", reusable" : ""}${amountOf(asked)}`;
  const expiry = end === "expired" ? linkExpiry(link) : undefined;
  return [
    ...LINK_STEPS.flatMap(([name, what]) => {
      const date = link[name];
      const at = typeof date === "string" ? parseInstant(date) : undefined;
      return at === undefined ? [] : [{ at, what, detail }];
    }),
    ...(expiry === undefined ? [] : [{ at: expiry, what: "link expired" as const, detail }]),
  ];
}

const amountOf = (money: Sum | undefined): string =>
  money === undefined ? "" : `, ${groupedAmount(money.amount, money.currency)}`;

function eventSteps({ event: stored, history }: NonNullable<Happened["events"]>[number]): Step[] {
  const { receivedAt, uti, id, outcome, content } = stored;
  const event = `event ${id}${uti === "" ? "" : `, uti ${uti}`}`;
  const money = amountOf(moneyIn(content.record));
  return [
    { at: receivedAt, what: "webhook arrived", detail: `${outcome}${money}`, event },
    ...history.arrivals.map(({ receivedAt: at, id: request }): Step => ({
      at,
      what: "webhook repeated",
      detail: `request ${request}`,
      event,
    })),
    ...history.attempts.map((attempt): Step => ({
      at: attempt.at,
      what: attempt.isReplay ? "replayed" : "forwarded",
      detail: attemptDetail(attempt),
      attempt,
    })),
    ...history.actions.map(({ at, action, actor }): Step => ({
      at,
      what: action,
      detail: `by ${actor}`,
      event,
    })),
  ];
}

const attemptDetail = ({ target, status, ms, detail }: StoredAttempt): string =>
  status === null
    ? `${target}: ${detail} in ${ms} ms`
    : `${target}: answered ${status} in ${ms} ms${detail === "" ? "" : `: ${detail}`}`;

const rejectionStep = ({ receivedAt, code, status, id }: Rejection): Step => ({
  at: receivedAt,
  what: "webhook refused",
  detail: `${status} ${code}, request ${id}; it is not verified that it is for this order`,
});
