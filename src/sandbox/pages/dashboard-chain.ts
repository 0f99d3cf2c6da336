/** The chain of a detail page: what has happened from the creation of the link to the last attempt of its webhook. */
import { html } from "hono/html";
import { textOf } from "../../domain/transaction.ts";
import type { Attempt, Delivery, Link, Payment } from "../ledger.ts";
import { statusOf } from "../links.ts";
import {
  address,
  badge,
  clipped,
  deliveryPath,
  linkPath,
  paymentPath,
  plural,
  timeOf,
  type View,
} from "./dashboard-parts.ts";
import { amountOf, outcomeText, paidAt, priceOf, statusText, succeeded } from "./dashboard-values.ts";
import type { Page } from "./page-frame.ts";

/** A link with one of its payments, one delivery of that payment's webhook, and the newest attempts of the delivery. */
export interface Chain {
  readonly link: Link;
  readonly payment: Payment | undefined;
  readonly delivery: Delivery | undefined;
  /** The last one first. */
  readonly attempts: readonly Attempt[];
}

interface Step {
  readonly title: Page | string;
  readonly time: Date | null | undefined;
  readonly note?: Page | string;
  readonly state?: string;
}

/** `path` is that of the page: its step is marked. */
export function chainSection(view: View, chain: Chain, path: string): Page {
  const to = (target: string, text: string): Page =>
    html`<a href="${address(view, target)}" ${target === path ? html`aria-current="page"` : ""}>${text}</a>`;
  const steps = [
    ...linkSteps(view, chain.link, to),
    ...paymentSteps(chain, to),
    ...deliverySteps(chain, to),
    ...attemptSteps(view, chain),
  ];
  return html`<section class="panel chain" aria-labelledby="chain-title" id="chain" data-live>
    <h2 id="chain-title">What happened</h2>
    <ol>
      ${steps.map(
        ({ title, time, note, state }) =>
          html`<li class="${time === null ? "open" : "done"} ${state ?? ""}">
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

type To = (path: string, text: string) => Page;

function linkSteps(view: View, link: Link, to: To): Step[] {
  const { id, createdDate, viewedDate, attemptedDate, paidDate, cancelledDate, expirationDate } = link;
  const expired = statusOf(link, view.now) === "expired";
  const last: Step =
    cancelledDate !== null
      ? { title: "Link cancelled", time: cancelledDate, state: "cancelled" }
      : expired
        ? { title: "Link expired", time: new Date(expirationDate), state: "expired" }
        : { title: "Paid", time: paidDate, state: "paid" };
  return [
    { title: to(linkPath(id), "Link created"), time: createdDate, note: priceOf(link) },
    { title: "Viewed", time: viewedDate },
    { title: "Attempted", time: attemptedDate },
    ...(paidDate !== null && last.title !== "Paid" ? [{ title: "Paid", time: paidDate, state: "paid" }] : []),
    last,
  ];
}

function paymentSteps({ payment }: Chain, to: To): Step[] {
  if (payment === undefined) return [];
  const { uti, record } = payment;
  const outcome = outcomeText(record);
  const note = html`${amountOf(record)} · <bdi>${clipped(textOf(record, "reference") ?? uti)}</bdi>`;
  return [{ title: to(paymentPath(uti), `Payment ${outcome}`), time: paidAt(record), note, state: outcome }];
}

function deliverySteps({ payment, delivery }: Chain, to: To): Step[] {
  if (delivery !== undefined) {
    const note = html`${badge(delivery.state)} ${plural(delivery.attempts, "attempt")}`;
    return [
      { title: to(deliveryPath(delivery.id), "Webhook"), time: undefined, note, state: delivery.state },
    ];
  }
  if (payment === undefined) return [];
  return [
    { title: "No webhook", time: undefined, note: "The link has no callback address for this outcome." },
  ];
}

const attemptSteps = (view: View, { attempts }: Chain): Step[] =>
  attempts.slice(0, STEPS).map((attempt) => {
    const { deliveryId, number } = attempt;
    const target = `${address(view, deliveryPath(deliveryId), { attempt: String(number) })}#attempt`;
    return {
      title: html`<a href="${target}">Attempt ${number}</a>`,
      time: attempt.at,
      note: statusText(attempt),
      state: succeeded(attempt) ? "delivered" : "failed",
    };
  });

/** The most attempts in the chain; the delivery's page lists more. */
const STEPS = 6;
