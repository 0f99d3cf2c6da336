/** The layout of every detail, with the chain of what happened from the link to the webhook; and a payment in it. */
import { plural } from "../../values/plural.ts";
import { html } from "hono/html";
import { indentedJson } from "../../values/json.ts";
import { responseText } from "../../domain/response-codes.ts";
import { textOf } from "../../domain/transaction.ts";
import { customerFacts } from "../customer.ts";
import { linkStatusAt } from "../links.ts";
import {
  badge,
  block,
  clipped,
  copyable,
  facts,
  exactTime,
  panel,
  shownAmount,
  spaced,
  timeAgo,
} from "../../pages/components.ts";
import { detailContent, type WorkPage } from "../../pages/frame.ts";
import type { Page } from "../../pages/page.ts";
import type { Delivery, Link, PaymentRow } from "../store/ledger-rows.ts";
import { dashboardPage } from "./frame.ts";
import { listPanel } from "./list-page.ts";
import { DELIVERY_LIST } from "./lists.ts";
import {
  deliveryPath,
  linkPath,
  recordOutcome,
  paidAt,
  paymentPath,
  priceOf,
  recordReference,
  attemptText,
  type DashboardView,
} from "./components.ts";

interface Detail extends Omit<WorkPage, "content"> {
  readonly chain: Chain;
  /** The path of the page: its step in the chain is marked. */
  readonly path: string;
  readonly summary: Page;
  readonly sections: readonly (Page | "")[];
}

export const detailPage = (view: DashboardView, { chain, path, summary, sections, ...page }: Detail): Page =>
  dashboardPage(view, {
    ...page,
    content: detailContent(summary, sections, chainSection(view, chain, path)),
  });

/** A link with one of its payments, and one delivery of that payment's webhook. */
export interface Chain {
  readonly link: Link;
  readonly payment: PaymentRow | undefined;
  readonly delivery: Delivery | undefined;
}

/** Shows the newest payment and delivery unless others are given. */
export function chainOf(
  { ledger, now }: DashboardView,
  link: Link,
  given: { readonly payment?: PaymentRow | undefined; readonly delivery?: Delivery } = {},
): Chain {
  const newest = { limit: 1, now };
  const payment = given.payment ?? ledger.payments({ linkId: link.id, ...newest }).rows[0];
  const delivery = given.delivery ?? (payment && ledger.deliveries({ uti: payment.uti, ...newest }).rows[0]);
  return { link, payment, delivery };
}

interface ChainStep {
  readonly key: string;
  readonly title: Page | string;
  readonly time: Date | null | undefined;
  readonly note?: Page | string;
  readonly state?: string;
}

function chainSection(view: DashboardView, chain: Chain, path: string): Page {
  return html`<section class="panel chain" aria-labelledby="chain-title" id="chain">
    <h2 id="chain-title">What happened</h2>
    <ol>
      ${[...chainSteps(view, chain, path)].map(
        ({ key, title, time, note, state }) =>
          html`<li data-row="${key}" class="${time === null ? "open" : "done"} ${state ?? ""}">
            <div class="step">
              <b>${title}</b>
              <span class="quiet"
                >${time === null ? "not yet" : time === undefined ? "" : timeAgo(time, view.now)}</span
              >
            </div>
            ${time ? html`<p class="note">${exactTime(time, view.now)}</p>` : ""}
            ${note === undefined ? "" : html`<p class="note" dir="auto">${note}</p>`}
          </li>`,
      )}
    </ol>
  </section>`;
}

function* chainSteps(
  view: DashboardView,
  { link, payment, delivery }: Chain,
  path: string,
): Generator<ChainStep> {
  const to = (target: string, text: string): Page =>
    html`<a href="${target}" ${target === path ? html`aria-current="page"` : ""}>${text}</a>`;
  const { id, createdDate, viewedDate, attemptedDate, paidDate, cancelledDate } = link;
  const isExpired = linkStatusAt(link, view.now) === "expired";
  yield { key: "created", title: to(linkPath(id), "Link created"), time: createdDate, note: priceOf(link) };
  yield { key: "viewed", title: "Viewed", time: viewedDate };
  yield { key: "attempted", title: "Attempted", time: attemptedDate };
  if (paidDate !== null || (cancelledDate === null && !isExpired))
    yield { key: "paid", title: "Paid", time: paidDate, state: "paid" };
  if (cancelledDate !== null)
    yield { key: "cancelled", title: "Link cancelled", time: cancelledDate, state: "cancelled" };
  if (isExpired)
    yield { key: "expired", title: "Link expired", time: new Date(link.expirationDate), state: "expired" };
  if (payment === undefined) return;
  const { uti, record } = payment;
  const outcome = recordOutcome(record);
  yield {
    key: uti,
    title: to(paymentPath(uti), `Payment ${spaced(outcome)}`),
    time: paidAt(record),
    note: html`${shownAmount(record)} · <bdi>${recordReference(record, uti)}</bdi>`,
    state: outcome,
  };
  if (delivery === undefined) {
    const note = "The link has no callback URL for this outcome.";
    return yield { key: "webhook", title: "No webhook", time: undefined, note };
  }
  const { id: deliveryId, state, attempts } = delivery;
  const last = view.ledger.lastAttempt(deliveryId);
  yield {
    key: deliveryId,
    title: to(deliveryPath(deliveryId), "Webhook"),
    time: last?.at,
    note: html`${badge(state)}
    ${plural(attempts, "attempt")}${last === undefined ? "" : `, last: ${attemptText(last)}`}`,
    state,
  };
}

/** Undefined for an unknown payment. */
export function paymentPage(view: DashboardView, uti: string): Page | undefined {
  const payment = view.ledger.findPayment(uti);
  const link = payment && view.ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined) return undefined;
  const { record } = payment;
  const time = paidAt(record);
  return detailPage(view, {
    title: `Payment ${recordReference(record, uti)}`,
    tab: "/payments",
    heading: shownAmount(record),
    state: recordOutcome(record),
    chain: chainOf(view, link, { payment }),
    path: paymentPath(uti),
    summary: facts([
      ["Reference", clipped(textOf(record, "reference") ?? "", 100)],
      ["UTI", copyable("UTI", uti)],
      ["Time", time && exactTime(time, view.now)],
      ["Card", textOf(record, "cardPan")],
      ["Response code", responseText(textOf(record, "responseCode") ?? "")],
      ["Type", textOf(record, "transType")],
      ...customerFacts(link.request).map(([term, text]) => [term, clipped(text, 300)] as const),
    ]),
    sections: [
      listPanel(view, DELIVERY_LIST, {
        query: { uti },
        title: "Webhook",
        nothing: "No webhook: the link has no callback URL for this outcome.",
      }),
      panel(
        "record",
        "Record",
        block({ id: "record-json", title: "Transaction record", text: indentedJson(record) }),
      ),
    ],
  });
}
