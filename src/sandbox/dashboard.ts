/** The dashboard: links, payments and deliveries as the ledger has them, with what each delivery sent and was answered. */
import { html } from "hono/html";
import { isJsonNumber, memberOf, stringifyJson } from "../domain/json.ts";
import { formatAmount } from "../domain/money.ts";
import { outcomeOf, textOf } from "../domain/transaction.ts";
import type { Attempt, Delivery, Payment } from "./ledger.ts";
import { isReusable, statusOf, type Link } from "./links.ts";
import { page, type Page } from "./page.ts";

export interface DashboardParts {
  readonly merchantName: string;
  readonly terminalId: string;
  readonly now: Date;
  readonly links: readonly Link[];
  readonly payments: readonly Payment[];
  readonly deliveries: readonly { readonly delivery: Delivery; readonly attempts: readonly Attempt[] }[];
  /** The filters in force. */
  readonly text: string;
  readonly outcome: string;
  readonly state: string;
  /** The link that the form has just made. */
  readonly created: Link | undefined;
}

export function dashboardPage(parts: DashboardParts): Page {
  return page({
    kind: "dashboard",
    title: "paylink sandbox",
    content: html`<main>
      <div class="top">
        <h1>${parts.merchantName}</h1>
        <p class="hint">The sandbox's clock: <time>${parts.now.toISOString()}</time></p>
      </div>
      ${parts.created === undefined ? "" : createdNotice(parts.created)} ${filterForm(parts)}
      ${createForm(parts)}
      <div id="live" class="columns">
        <div class="columns-left">${linkPanel(parts)} ${paymentPanel(parts)}</div>
        ${deliveryPanel(parts)}
      </div>
    </main>`,
  });
}

const payAddress = (link: Link): string => `/pay?r=${encodeURIComponent(link.id)}`;

const createdNotice = (link: Link): Page =>
  html`<p class="panel notice" role="status">
    Created <a href="${payAddress(link)}">${payAddress(link)}</a>
  </p>`;

const option = (value: string, label: string, chosen: string): Page =>
  html`<option value="${value}" ${value === chosen ? "selected" : ""}>${label}</option>`;

const filterForm = ({ text, outcome, state }: DashboardParts): Page =>
  html`<form class="panel grid" method="get" role="search">
    <div>
      <label for="text">Find an id, reference or address</label>
      <input id="text" name="text" type="search" value="${text}" />
    </div>
    <div>
      <label for="outcome">Payments</label>
      <select id="outcome" name="outcome">
        ${option("", "All", outcome)} ${option("approved", "Approved", outcome)}
        ${option("declined", "Declined", outcome)} ${option("cancelled", "Cancelled", outcome)}
      </select>
    </div>
    <div>
      <label for="state">Deliveries</label>
      <select id="state" name="state">
        ${option("", "All", state)} ${option("waiting", "Waiting", state)}
        ${option("delivered", "Delivered", state)} ${option("failed", "Failed", state)}
      </select>
    </div>
    <div><button>Filter</button> <a class="button" href="/">Clear</a></div>
  </form>`;

/** The names are the request's own: the same rules read the form as read every other request. */
const createForm = ({ terminalId }: DashboardParts): Page =>
  html`<details class="panel" id="create">
    <summary>Create a link</summary>
    <form class="grid" method="post" action="/sandbox/links">
      ${field("amount", "Amount", "10.00")} ${field("currency", "Currency", "EUR")}
      ${field("customerName", "Customer name", "Sandbox Customer")}
      ${field("terminalId", "Terminal", terminalId)} ${field("expirationDate", "Expires", "7d")}
      ${field("invoiceId", "Invoice id", "")} ${field("description", "Description", "")}
      ${field("paymentSettings.callbackUrl", "Callback address", "http://127.0.0.1:4000/")}
      ${field("paymentSettings.failureCallbackUrl", "Failure callback address", "http://127.0.0.1:4000/")}
      <div>
        <label for="reusable">Kind</label>
        <select id="reusable" name="linkOptions.mode">
          <option value="">One-time</option>
          <option value="REUSABLE_VARIABLE">Reusable</option>
        </select>
      </div>
      <div><button class="primary">Create link</button></div>
    </form>
  </details>`;

const field = (name: string, label: string, value: string): Page =>
  html`<div>
    <label for="field-${name}">${label}</label>
    <input id="field-${name}" name="${name}" value="${value}" autocomplete="off" />
  </div>`;

const empty = (text: string): Page => html`<p class="empty">${text}</p>`;

function linkPanel({ links, now }: DashboardParts): Page {
  return html`<section class="panel" aria-labelledby="links">
    <h2 id="links">Links</h2>
    ${links.length === 0 ? empty("None yet. Create one above, or: paylink create --amount 10 --currency EUR") : ""}
    ${links.map((link) => linkRow(link, now))}
  </section>`;
}

function linkRow(link: Link, now: Date): Page {
  const { amount, currency, description, invoiceId, customerName } = link.request;
  const status = statusOf(link, now);
  return html`<div class="row" id="link-${link.id}">
    <div class="line">
      <b>${formatAmount(amount, currency)}${isReusable(link) ? " · reusable" : ""}</b>
      <span class="state ${status}">${status}</span>
    </div>
    <p class="hint">${[invoiceId, description, customerName].filter(Boolean).join(" · ")}</p>
    <div class="line">
      <a class="mono" href="${payAddress(link)}">${link.id}</a>
      ${
        status === "active"
          ? html`<form class="inline" method="post" action="/sandbox/links/${link.id}/cancel">
              <button aria-label="Cancel link ${link.id}">Cancel</button>
            </form>`
          : ""
      }
    </div>
  </div>`;
}

function paymentPanel({ payments }: DashboardParts): Page {
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

function deliveryPanel({ deliveries }: DashboardParts): Page {
  return html`<section class="panel" aria-labelledby="deliveries">
    <h2 id="deliveries">Deliveries</h2>
    ${deliveries.length === 0 ? empty("None yet: a webhook is sent only where the link has a callback address.") : ""}
    ${deliveries.map(({ delivery, attempts }) => deliveryRow(delivery, attempts))}
  </section>`;
}

function deliveryRow(delivery: Delivery, attempts: readonly Attempt[]): Page {
  const { id, url, uti, state, due } = delivery;
  return html`<div class="row" id="delivery-${id}">
    <div class="line">
      <b class="mono">${url}</b>
      <span class="state ${state}">${state}</span>
    </div>
    <p class="hint">
      ${attempts.at(-1)?.detail ?? "not tried yet"}${state === "waiting" ? ` · due ${new Date(due).toISOString()}` : ""}
    </p>
    <div class="line">
      <span class="mono">${uti}</span>
      <form class="inline" method="post" action="/sandbox/deliveries/${id}/resend">
        <button aria-label="Resend webhook ${id}">Resend</button>
      </form>
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
        : html`<h3>Answer</h3>
            <pre>${attempt.answer}</pre>`
    }`;
}
