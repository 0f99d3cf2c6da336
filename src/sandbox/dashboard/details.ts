/** The layout of every detail page, with the chain of what happened from the link to the last attempt; and a payment's page. */
import { html } from "hono/html";
import { stringifyJson } from "../../domain/json.ts";
import { textOf } from "../../domain/transaction.ts";
import { CUSTOMER_FIELD_NAMES, CUSTOMER_FIELDS } from "../customer.ts";
import { isAccepted } from "../deliveries.ts";
import type { Attempt, Delivery, Link, Payment } from "../store/rows.ts";
import { statusOf } from "../links.ts";
import { facts, type Page } from "../page.ts";
import { dashboardPage, type Tab } from "./frame.ts";
import { DELIVERIES } from "./lists.ts";
import {
  address,
  amountOf,
  badge,
  block,
  clipped,
  copyButton,
  deliveryPath,
  exactTime,
  linkPath,
  outcomeText,
  paidAt,
  paymentPath,
  plural,
  priceOf,
  statusText,
  table,
  timeOf,
  type View,
} from "./parts.ts";

interface Detail {
  readonly title: string;
  readonly tab: Tab;
  readonly heading: Page | string;
  readonly state: string;
  readonly actions?: Page | "";
  readonly chain: Chain;
  /** The path of the page: its step in the chain is marked. */
  readonly path: string;
  /** Terms and values at the top. */
  readonly summary: Page;
  readonly sections: readonly (Page | "")[];
  /** Added to the address that the script reads again. */
  readonly live?: Readonly<Record<string, string>>;
  /** Whether the page shows a refused form, which no change may replace. */
  readonly refused?: boolean;
}

export const detailPage = (view: View, detail: Detail): Page =>
  dashboardPage(view, {
    title: detail.title,
    tab: detail.tab,
    invalid: detail.refused ?? false,
    live: detail.refused ? undefined : (detail.live ?? {}),
    content: html`<div class="title-row">
        <h1>${detail.heading} <span id="title-state">${badge(detail.state)}</span></h1>
        <div class="actions">${detail.actions ?? ""}</div>
      </div>
      <div class="detail">
        ${chainSection(view, detail.chain, detail.path)}
        <div class="detail-main">
          <section class="panel" id="summary" aria-label="Summary">${detail.summary}</section>
          ${detail.sections}
        </div>
      </div>`,
  });

/** A link with one of its payments, and one delivery of that payment's webhook. */
export interface Chain {
  readonly link: Link;
  readonly payment: Payment | undefined;
  readonly delivery: Delivery | undefined;
}

/** Shows the newest payment and delivery unless others are given. */
export function chainOf(
  { ledger, now }: View,
  link: Link,
  given: { readonly payment?: Payment | undefined; readonly delivery?: Delivery } = {},
): Chain {
  const newest = { limit: 1, now };
  const payment = given.payment ?? ledger.payments({ linkId: link.id, ...newest }).rows[0];
  const delivery = given.delivery ?? (payment && ledger.deliveries({ uti: payment.uti, ...newest }).rows[0]);
  return { link, payment, delivery };
}

interface Step {
  readonly key: string;
  readonly title: Page | string;
  readonly time: Date | null | undefined;
  readonly note?: Page | string;
  readonly state?: string;
}

function chainSection(view: View, { link, payment, delivery }: Chain, path: string): Page {
  const to = (target: string, text: string): Page =>
    html`<a href="${address(view, target)}" ${target === path ? html`aria-current="page"` : ""}>${text}</a>`;
  const attempts = delivery === undefined ? [] : view.ledger.attemptsOf(delivery.id, STEPS);
  const steps = [
    ...linkSteps(view, link, to),
    ...(payment === undefined ? [] : [paymentStep(payment, to), webhookStep(delivery, to)]),
    ...attempts.map((attempt) => attemptStep(view, attempt)),
  ];
  return html`<section class="panel chain" aria-labelledby="chain-title" id="chain">
    <h2 id="chain-title">What happened</h2>
    <ol>
      ${steps.map(
        ({ key, title, time, note, state }) =>
          html`<li data-row="${key}" class="${time === null ? "open" : "done"} ${state ?? ""}">
            <div class="step">
              <b>${title}</b>
              <span class="quiet"
                >${time === null ? "not yet" : time === undefined ? "" : timeOf(time, view.now)}</span
              >
            </div>
            ${note === undefined ? "" : html`<p class="note" dir="auto">${note}</p>`}
          </li>`,
      )}
    </ol>
  </section>`;
}

/** The most attempts in the chain; the delivery's page lists more. */
const STEPS = 6;

type To = (path: string, text: string) => Page;

function linkSteps(view: View, link: Link, to: To): Step[] {
  const { id, createdDate, viewedDate, attemptedDate, paidDate, cancelledDate, expirationDate } = link;
  const paid: Step = { key: "paid", title: "Paid", time: paidDate, state: "paid" };
  const ended: Step | undefined =
    cancelledDate !== null
      ? { key: "cancelled", title: "Link cancelled", time: cancelledDate, state: "cancelled" }
      : statusOf(link, view.now) === "expired"
        ? { key: "expired", title: "Link expired", time: new Date(expirationDate), state: "expired" }
        : undefined;
  return [
    { key: "created", title: to(linkPath(id), "Link created"), time: createdDate, note: priceOf(link) },
    { key: "viewed", title: "Viewed", time: viewedDate },
    { key: "attempted", title: "Attempted", time: attemptedDate },
    ...(paidDate !== null || ended === undefined ? [paid] : []),
    ...(ended === undefined ? [] : [ended]),
  ];
}

function paymentStep({ uti, record }: Payment, to: To): Step {
  const outcome = outcomeText(record);
  const note = html`${amountOf(record)} · <bdi>${clipped(textOf(record, "reference") ?? uti)}</bdi>`;
  return {
    key: uti,
    title: to(paymentPath(uti), `Payment ${outcome}`),
    time: paidAt(record),
    note,
    state: outcome,
  };
}

function webhookStep(delivery: Delivery | undefined, to: To): Step {
  if (delivery === undefined)
    return {
      key: "webhook",
      title: "No webhook",
      time: undefined,
      note: "The link has no callback address for this outcome.",
    };
  const { id, state, attempts } = delivery;
  const note = html`${badge(state)} ${plural(attempts, "attempt")}`;
  return { key: id, title: to(deliveryPath(id), "Webhook"), time: undefined, note, state };
}

const attemptStep = (view: View, attempt: Attempt): Step => ({
  key: `step-${attempt.number}`,
  title: html`<a href="${attemptAddress(view, attempt)}">Attempt ${attempt.number}</a>`,
  time: attempt.at,
  note: statusText(attempt),
  state: isAccepted(attempt) ? "delivered" : "failed",
});

export const attemptAddress = (view: View, { deliveryId, number }: Attempt): string =>
  `${address(view, deliveryPath(deliveryId), { attempt: String(number) })}#attempt`;

/** The most deliveries on the page of their payment. */
const DELIVERED = 10;

/** Undefined for an unknown payment. */
export function paymentPage(view: View, uti: string): Page | undefined {
  const { ledger, now } = view;
  const payment = ledger.findPayment(uti);
  const link = payment && ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined) return undefined;
  const { record, customer } = payment;
  const reference = textOf(record, "reference");
  const time = paidAt(record);
  const deliveries = DELIVERIES.read(view, { uti, limit: DELIVERED, now }).rows;
  return detailPage(view, {
    title: `Payment ${clipped(reference ?? uti)}`,
    tab: "payments",
    heading: amountOf(record),
    state: outcomeText(record),
    chain: chainOf(view, link, { payment }),
    path: paymentPath(uti),
    summary: facts([
      ["Reference", clipped(reference ?? "", 100)],
      ["UTI", html`<span class="mono">${uti}</span> ${copyButton("UTI", { text: uti })}`],
      ["Time", time === undefined ? undefined : exactTime(time)],
      ["Card", textOf(record, "cardPan")],
      ["Type", textOf(record, "transType")],
      ...CUSTOMER_FIELD_NAMES.map(
        (field) => [CUSTOMER_FIELDS[field].label, customer[field] && clipped(customer[field], 100)] as const,
      ),
    ]),
    sections: [
      html`<section class="panel" id="deliveries" aria-labelledby="deliveries-title">
        <h2 id="deliveries-title">Webhook</h2>
        ${
          deliveries.length === 0
            ? html`<p class="hint">No webhook: the link has no callback address for this outcome.</p>`
            : table(view, DELIVERIES, deliveries)
        }
      </section>`,
      html`<section class="panel" aria-labelledby="record-title">
        <h2 id="record-title">Record</h2>
        ${block({ id: "record", title: "Transaction record", text: stringifyJson(record, 2) })}
      </section>`,
    ],
  });
}
