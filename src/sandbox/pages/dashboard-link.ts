/** The page of one link: its address and QR code, buttons that pay it, its payments, and its JSON. */
import { html } from "hono/html";
import { encode } from "uqr";
import type { Problem } from "../../domain/errors.ts";
import { groupedAmount, signOf } from "../../domain/money.ts";
import { withoutPassword } from "../../domain/addresses.ts";
import type { Link, ListPage } from "../ledger.ts";
import { isOpen, isReusable, statusOf } from "../links.ts";
import { CHOICES } from "../payments.ts";
import { chainSection, type Chain } from "./dashboard-chain.ts";
import { dashboardPage } from "./dashboard-frame.ts";
import {
  actionForm,
  address,
  badge,
  clipped,
  copyButton,
  exactTime,
  facts,
  foldedBlock,
  linkPath,
  timeOf,
  type View,
} from "./dashboard-parts.ts";
import { paymentTable, type ListedPayment } from "./dashboard-tables.ts";
import { linkTitle, priceOf } from "./dashboard-values.ts";
import type { Page } from "./page-frame.ts";

interface LinkParts {
  readonly chain: Chain;
  /** The address that the customer opens. */
  readonly url: string;
  /** The link as the API returns it, indented. */
  readonly json: string;
  readonly payments: ListPage<ListedPayment>;
  /** A refused payment: what was entered, and why it was refused. */
  readonly refused?: { readonly amount: string; readonly problems: readonly Problem[] };
}

export function linkPage(view: View, parts: LinkParts): Page {
  const { chain, url, json, payments, refused } = parts;
  const { link } = chain;
  const { invoiceId, customerName, description, paymentSettings } = link.request;
  const status = statusOf(link, view.now);
  const open = isOpen(status);
  const back = linkPath(link.id);
  return dashboardPage(view, {
    title: `Link ${clipped(linkTitle(link))}`,
    invalid: refused !== undefined,
    tab: "links",
    link: link.id,
    content: html`<div class="title-row">
        <h1>${priceOf(link)} <span id="title-state" data-live>${badge(status)}</span></h1>
        <div id="link-actions" data-live class="actions">
          ${open ? html`<a class="button" href="${url}">Open checkout</a>` : ""}
          ${
            open && view.key !== undefined
              ? html`<a class="button danger" data-confirm href="${address(view, `${back}/cancel`)}"
                  >Cancel link…</a
                >`
              : ""
          }
        </div>
      </div>
      <div class="detail">
        ${chainSection(view, chain, back)}
        <div class="detail-main">
          <section class="panel" id="summary" data-live aria-label="Summary">
            ${facts([
              ["Link", html`<span class="mono">${url}</span> ${copyButton("link", { text: url })}`],
              ["Id", html`<span class="mono">${link.id}</span> ${copyButton("id", { text: link.id })}`],
              ["Description", description === undefined ? undefined : clipped(description, 300)],
              ["Invoice", invoiceId === undefined ? undefined : clipped(invoiceId, 100)],
              ["Customer", clipped(customerName, 100)],
              [
                "Expires",
                html`${timeOf(new Date(link.expirationDate), view.now)},
                ${exactTime(new Date(link.expirationDate))}`,
              ],
              ["Webhooks", callbacksText(paymentSettings)],
            ])}
            <details id="qr">
              <summary>QR code</summary>
              ${qrCode(url)}
            </details>
          </section>
          ${open ? paySection(view, link, refused) : ""}
          <section class="panel" id="payments" data-live aria-labelledby="payments-title">
            <div class="list-row">
              <h2 id="payments-title">Payments</h2>
              ${
                payments.total > payments.rows.length
                  ? html`<a href="${address(view, "/payments", { text: link.id })}"
                      >Show all ${payments.total.toLocaleString("en-US")}</a
                    >`
                  : ""
              }
            </div>
            ${payments.total === 0 ? html`<p class="hint">No payments yet.</p>` : paymentTable(view, payments.rows)}
          </section>
          <section class="panel" aria-label="JSON" id="json-section">
            ${foldedBlock({ id: "json", title: "Link as JSON", text: json }, "The link as the API returns it")}
          </section>
        </div>
      </div>`,
  });
}

function callbacksText(settings: Link["request"]["paymentSettings"]): string {
  const { callbackUrl, failureCallbackUrl } = settings ?? {};
  if (callbackUrl === undefined && failureCallbackUrl === undefined)
    return "none: the link has no callback address";
  if (callbackUrl === failureCallbackUrl) return shownUrl(callbackUrl);

  return `${shownUrl(callbackUrl)}; after a failure: ${shownUrl(failureCallbackUrl)}`;
}

const shownUrl = (url: string | undefined): string =>
  url === undefined ? "none" : clipped(withoutPassword(url), 200);

const PAY_LABELS = { approved: "Approve", declined: "Decline", cancelled: "Cancel" } as const;

/** Makes a payment as the customer would, without the checkout. */
function paySection(view: View, link: Link, refused: LinkParts["refused"]): Page | "" {
  const { amount, currency } = link.request;
  const problem = refused?.problems.map(({ at, message }) => `The ${at} ${message}.`).join(" ");
  const prefilled = signOf(amount) > 0 ? amount.toString() : "";
  const field = html`<div class="pay-amount">
    <label for="amount">Amount in ${currency.toUpperCase()}</label>
    <input
      id="amount"
      name="amount"
      inputmode="decimal"
      autocomplete="off"
      value="${refused?.amount ?? prefilled}"
      ${problem === undefined ? "" : html`aria-invalid="true" aria-describedby="amount-error" autofocus`}
    />
  </div>`;
  const form = actionForm(
    view,
    `/sandbox/links/${encodeURIComponent(link.id)}/pay`,
    html`${isReusable(link) ? field : html`<p>${groupedAmount(amount, currency)}</p>`}
    ${CHOICES.map((choice) => html`<button name="outcome" value="${choice}">${PAY_LABELS[choice]} payment</button>`)}
    ${problem === undefined ? "" : html`<p class="error" id="amount-error" role="alert">${problem}</p>`}`,
    linkPath(link.id),
  );
  return form === ""
    ? ""
    : html`<section class="panel" id="pay" data-live="presence" aria-labelledby="pay-title">
        <h2 id="pay-title">Pay as the customer</h2>
        ${form}
      </section>`;
}

/** The quiet zone that a reader needs around the symbol, in modules (ISO/IEC 18004 6.3.8). */
const QUIET_ZONE = 4;

/** Dark on light in both colour schemes, as readers expect. */
function qrCode(text: string): Page {
  const { data, size } = encode(text, { ecc: "M", border: QUIET_ZONE });
  const runs = data.flatMap((row, y) =>
    row.flatMap((dark, x) =>
      dark && row[x - 1] !== true ? [`M${x} ${y}h${runLength(row, x)}v1H${x}z`] : [],
    ),
  );
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code of the link">
    <rect width="${size}" height="${size}" fill="#fff" />
    <path d="${runs.join("")}" fill="#000" />
  </svg>`;
}

function runLength(row: readonly boolean[], from: number): number {
  const end = row.indexOf(false, from);
  return (end === -1 ? row.length : end) - from;
}
