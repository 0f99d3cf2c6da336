/** The dashboard page: filters, a form that creates links, the lists, and the script that refreshes them. */
import { html } from "hono/html";
import { LISTENER_URL } from "../../domain/local-addresses.ts";
import type { Link } from "../links.ts";
import {
  checkoutPath,
  deliveryList,
  keyField,
  linkList,
  paymentList,
  type DashboardLists,
} from "./dashboard-lists.ts";
import { page, type Page } from "./page-frame.ts";

export interface DashboardParts extends DashboardLists {
  readonly merchantName: string;
  readonly terminalId: string;
  /** The active filters. */
  readonly text: string;
  readonly outcome: string;
  readonly state: string;
  /** The link that the form has just created. */
  readonly created: Link | undefined;
}

export function dashboardPage(parts: DashboardParts): Page {
  return page({
    kind: "dashboard",
    title: "paylink sandbox",
    content: html`<main>
      <div class="top">
        <h1>${parts.merchantName}</h1>
        <p class="hint">Sandbox clock: <time>${parts.now.toISOString()}</time></p>
      </div>
      ${parts.created === undefined ? "" : createdNotice(parts.created)} ${filterForm(parts)}
      ${parts.key === undefined ? readOnlyNotice : createForm(parts)}
      <div id="live" class="columns">
        <div class="columns-left">${linkList(parts)} ${paymentList(parts)}</div>
        ${deliveryList(parts)}
      </div>
    </main>`,
  });
}

const createdNotice = (link: Link): Page =>
  html`<p class="panel notice" role="status">
    Created <a href="${checkoutPath(link)}">${checkoutPath(link)}</a>
  </p>`;

const readOnlyNotice = html`<p class="panel notice">
  This page is read-only. To create links, cancel them or resend webhooks, open the dashboard address that
  <code>paylink sandbox</code> prints.
</p>`;

const option = (value: string, label: string, chosen: string): Page =>
  html`<option value="${value}" ${value === chosen ? "selected" : ""}>${label}</option>`;

const filterForm = ({ text, outcome, state, key }: DashboardParts): Page =>
  html`<form class="panel grid" method="get" role="search">
    ${keyField(key)}
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
    <div>
      <button>Filter</button> <a class="button" href="/${key === undefined ? "" : `?key=${key}`}">Clear</a>
    </div>
  </form>`;

/** The fields have the request's own names, and are checked by the same rules as every request. */
const createForm = ({ terminalId, key }: DashboardParts): Page =>
  html`<details class="panel" id="create">
    <summary>Create a link</summary>
    <form class="grid" method="post" action="/sandbox/links">
      ${keyField(key)} ${field("amount", "Amount", "10.00")} ${field("currency", "Currency", "EUR")}
      ${field("customerName", "Customer name", "Sandbox Customer")}
      ${field("terminalId", "Terminal", terminalId)} ${field("expirationDate", "Expires", "7d")}
      ${field("invoiceId", "Invoice id", "")} ${field("description", "Description", "")}
      ${field("paymentSettings.callbackUrl", "Callback address", LISTENER_URL)}
      ${field("paymentSettings.failureCallbackUrl", "Failure callback address", LISTENER_URL)}
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

/** At each event, fetches the page again and replaces the lists; open details stay open. */
export const DASHBOARD_SCRIPT = `
"use strict";
let pending;
const refresh = async () => {
  pending = undefined;
  const reply = await fetch(location.href, { headers: { Accept: "text/html" } });
  const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
  const live = document.getElementById("live");
  const next = fresh.getElementById("live");
  if (live === null || next === null) return;
  for (const open of live.querySelectorAll("details[open]"))
    next.querySelector("#" + CSS.escape(open.id))?.setAttribute("open", "");
  const focused = document.activeElement?.getAttribute("aria-label");
  live.replaceWith(next);
  if (focused) next.querySelector('[aria-label="' + CSS.escape(focused) + '"]')?.focus();
};
new EventSource("/sandbox/events").onmessage = () => { pending ??= setTimeout(refresh, 100); };
`;
