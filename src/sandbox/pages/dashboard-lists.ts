/** The dashboard's lists: links, payments, and deliveries with the request and response of each attempt. */
import { html } from "hono/html";
import { isJsonNumber, memberOf, stringifyJson } from "../../domain/json.ts";
import { formatAmount } from "../../domain/money.ts";
import { outcomeOf, textOf } from "../../domain/transaction.ts";
import type { Attempt, Delivery, Payment } from "../ledger-types.ts";
import { isOpen, isReusable, statusOf, type Link } from "../links.ts";
import type { Page } from "./page-frame.ts";

export interface DashboardLists {
  readonly now: Date;
  /** The dashboard's key; undefined if the page was opened without it, and then has no controls. */
  readonly key: string | undefined;
  readonly links: readonly Link[];
  readonly payments: readonly Payment[];
  readonly deliveries: readonly { readonly delivery: Delivery; readonly attempts: readonly Attempt[] }[];
}

export const keyField = (key: string | undefined): Page | string =>
  key === undefined ? "" : html`<input type="hidden" name="key" value="${key}" />`;

export const checkoutPath = (link: Link): string => `/pay?r=${encodeURIComponent(link.id)}`;

const empty = (text: string): Page => html`<p class="empty">${text}</p>`;

export function linkList({ links, now, key }: DashboardLists): Page {
  return html`<section class="panel" aria-labelledby="links">
    <h2 id="links">Links</h2>
    ${links.length === 0 ? empty("None yet. Create one above, or: paylink create --amount 10 --currency EUR -p sandbox") : ""}
    ${links.map((link) => linkRow(link, now, key))}
  </section>`;
}

function linkRow(link: Link, now: Date, key: string | undefined): Page {
  const { amount, currency, description, invoiceId, customerName } = link.request;
  const status = statusOf(link, now);
  return html`<div class="row" id="link-${link.id}">
    <div class="line">
      <b>${formatAmount(amount, currency)}${isReusable(link) ? " · reusable" : ""}</b>
      <span class="state ${status}">${status}</span>
    </div>
    <p class="hint">${[invoiceId, description, customerName].filter(Boolean).join(" · ")}</p>
    <div class="line">
      <a class="mono" href="${checkoutPath(link)}">${link.id}</a>
      ${
        isOpen(status) && key !== undefined
          ? html`<form class="inline" method="post" action="/sandbox/links/${link.id}/cancel">
              ${keyField(key)}
              <button aria-label="Cancel link ${link.id}">Cancel</button>
            </form>`
          : ""
      }
    </div>
  </div>`;
}

export function paymentList({ payments }: DashboardLists): Page {
  return html`<section class="panel" aria-labelledby="payments">
    <h2 id="payments">Payments</h2>
    ${payments.length === 0 ? empty("None yet.") : ""}
    ${payments.map(({ uti, record }) => {
      const outcome = outcomeOf(record).toLowerCase();
      const amount = memberOf(record, "amountTrans");
      return html`<div class="row" id="payment-${uti}">
        <div class="line">
          <b
            >${isJsonNumber(amount) ? formatAmount(amount, textOf(record, "transCurrencyCode") ?? "") : ""}</b
          >
          <span class="state ${outcome}">${outcome}</span>
        </div>
        <p class="hint">${textOf(record, "reference")} · ${textOf(record, "transDateTime")}</p>
        <details id="record-${uti}">
          <summary class="mono">${uti}</summary>
          <pre>${stringifyJson(record, 2)}</pre>
        </details>
      </div>`;
    })}
  </section>`;
}

export function deliveryList({ deliveries, key }: DashboardLists): Page {
  return html`<section class="panel" aria-labelledby="deliveries">
    <h2 id="deliveries">Deliveries</h2>
    ${deliveries.length === 0 ? empty("None yet. A webhook is sent only if the link has a callback address.") : ""}
    ${deliveries.map(({ delivery, attempts }) => deliveryRow(delivery, attempts, key))}
  </section>`;
}

function deliveryRow(delivery: Delivery, attempts: readonly Attempt[], key: string | undefined): Page {
  const { id, url, uti, state, due } = delivery;
  return html`<div class="row" id="delivery-${id}">
    <div class="line">
      <b class="mono">${url}</b>
      <span class="state ${state}">${state}</span>
    </div>
    <p class="hint">
      ${attempts.at(-1)?.detail ?? "no attempt yet"}${state === "waiting" ? ` · due ${new Date(due).toISOString()}` : ""}
    </p>
    <div class="line">
      <span class="mono">${uti}</span>
      ${
        key === undefined
          ? ""
          : html`<form class="inline" method="post" action="/sandbox/deliveries/${id}/resend">
              ${keyField(key)}
              <button aria-label="Resend webhook ${id}">Resend</button>
            </form>`
      }
    </div>
    <details id="attempts-${id}">
      <summary>${delivery.attempts} ${delivery.attempts === 1 ? "attempt" : "attempts"}</summary>
      ${attempts.toReversed().map((attempt) => attemptRow(attempt, delivery))}
    </details>
  </div>`;
}

function attemptRow(attempt: Attempt, delivery: Delivery): Page {
  const head = attempt.headers.map(([name, value]) => `${name}: ${value}`).join("\n");
  return html`<h3>Attempt ${attempt.number}, ${attempt.at.toISOString()}: ${attempt.detail}</h3>
    ${
      attempt.headers.length === 0
        ? ""
        : html`<h3>Request</h3>
            <pre>${`POST ${delivery.url}\n${head}\n\n${new TextDecoder().decode(delivery.body)}`}</pre>
            <h3>Signature base</h3>
            <pre>${attempt.base}</pre>`
    }
    ${
      attempt.answer === ""
        ? ""
        : html`<h3>Response</h3>
            <pre>${attempt.answer}</pre>`
    }`;
}
