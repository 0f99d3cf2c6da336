/** The pages of a link: its address and QR code, buttons that pay it, its payments and its JSON; and the form for a new one. */
import { SAMPLE_OUTCOMES } from "../../domain/outcome.ts";
import { html } from "hono/html";
import { encode } from "uqr";
import { LISTENER_URL, withoutPassword } from "../../domain/addresses.ts";
import { stringifyJson } from "../../domain/json.ts";
import { groupedAmount, signOf } from "../../domain/money.ts";
import { VARIABLE_MODE } from "../../domain/payment-link.ts";
import { createForm, type Field, type Refused } from "../form.ts";
import type { Link } from "../store/rows.ts";
import { isOpen, isReusable, linkResponse, statusOf } from "../links.ts";
import { facts, type Page } from "../page.ts";
import { chainOf, detailPage } from "./details.ts";
import { dashboardPage } from "./frame.ts";
import { PAYMENTS, showAll } from "./lists.ts";
import {
  actionForm,
  address,
  clipped,
  copyButton,
  exactTime,
  foldedBlock,
  linkPath,
  linkTitle,
  priceOf,
  table,
  timeOf,
  type View,
} from "./parts.ts";

/** The most payments on the page of their link. */
const LINK_PAYMENTS = 10;

/** `refused` is a payment that was tried on the page. Undefined for an unknown link. */
export function linkPage(view: View, id: string, refused?: Refused): Page | undefined {
  const { ledger, now } = view;
  const link = ledger.findLink(id);
  if (link === undefined) return undefined;
  const { invoiceId, customerName, description, paymentSettings } = link.request;
  const reply = linkResponse(link, view.checkoutUrl, now);
  const { url } = reply;
  const status = statusOf(link, now);
  const open = isOpen(status);
  const path = linkPath(id);
  const payments = PAYMENTS.read(view, { linkId: id, limit: LINK_PAYMENTS, now });
  return detailPage(view, {
    title: `Link ${clipped(linkTitle(link))}`,
    tab: "links",
    heading: priceOf(link),
    state: status,
    actions: html`${open ? html`<a class="button" href="${url}">Open checkout</a>` : ""}
    ${
      open && view.key !== undefined
        ? html`<a class="button danger" data-confirm href="${address(view, `${path}/cancel`)}"
            >Cancel link…</a
          >`
        : ""
    }`,
    chain: chainOf(view, link),
    path,
    refused: refused !== undefined,
    summary: html`${facts([
        ["Link", html`<span class="mono">${url}</span> ${copyButton("link", { text: url })}`],
        ["Id", html`<span class="mono">${id}</span> ${copyButton("id", { text: id })}`],
        ["Description", description === undefined ? undefined : clipped(description, 300)],
        ["Invoice", invoiceId === undefined ? undefined : clipped(invoiceId, 100)],
        ["Customer", clipped(customerName, 100)],
        [
          "Expires",
          html`${timeOf(new Date(link.expirationDate), now)}, ${exactTime(new Date(link.expirationDate))}`,
        ],
        ["Webhooks", callbacksText(paymentSettings)],
      ])}
      <details id="qr">
        <summary>QR code</summary>
        ${qrCode(url)}
      </details>`,
    sections: [
      open ? paySection(view, link, refused) : "",
      html`<section class="panel" id="payments" aria-labelledby="payments-title">
        <div class="list-row">
          <h2 id="payments-title">Payments</h2>
          ${showAll(view, "payments", id, payments)}
        </div>
        ${payments.total === 0 ? html`<p class="hint">No payments yet.</p>` : table(view, PAYMENTS, payments.rows)}
      </section>`,
      html`<section class="panel" aria-label="JSON" id="json-section">
        ${foldedBlock({ id: "json", title: "Link as JSON", text: stringifyJson(reply, 2) }, "The link as the API returns it")}
      </section>`,
    ],
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

const PAY_LABELS = {
  approved: "Approve",
  "partially-approved": "Partly approve",
  declined: "Decline",
  cancelled: "Cancel",
} as const;

/** Makes a payment as the customer would, without the checkout. */
function paySection(view: View, link: Link, refused: Refused | undefined): Page | "" {
  const { amount, currency } = link.request;
  const field: Field = {
    name: "amount",
    label: `Amount in ${currency.toUpperCase()}`,
    subject: "amount",
    inputmode: "decimal",
    value: signOf(amount) > 0 ? amount.toString() : "",
  };
  const form = createForm([field], refused);
  const buttons = SAMPLE_OUTCOMES.map(
    (choice) => html`<button name="outcome" value="${choice}">${PAY_LABELS[choice]} payment</button>`,
  );
  return view.key === undefined
    ? ""
    : html`<section class="panel" id="pay" aria-labelledby="pay-title">
        <h2 id="pay-title">Pay as the customer</h2>
        ${actionForm(
          view,
          `/sandbox/links/${encodeURIComponent(link.id)}/pay`,
          html`${isReusable(link) ? form.field(field) : html`<p>${groupedAmount(amount, currency)}</p>`}
          ${buttons}`,
          linkPath(link.id),
        )}
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

/** Their names are those of the request: the form is checked by the rules of every request. */
const fieldsFor = (terminalId: string): readonly Field[] => [
  { name: "amount", label: "Amount", value: "10.00", inputmode: "decimal" },
  { name: "currency", label: "Currency", value: "EUR" },
  { name: "description", label: "Description", value: "" },
  { name: "invoiceId", label: "Invoice id", value: "", hint: "Becomes the payment's reference" },
  { name: "customerName", label: "Customer name", value: "Sandbox Customer" },
  {
    name: "expirationDate",
    label: "Expires",
    subject: "expiry",
    value: "7d",
    hint: "A date and time, or a duration such as 36h or 7d",
  },
  { name: "terminalId", label: "Terminal", value: terminalId },
  {
    name: "paymentSettings.callbackUrl",
    label: "Callback address",
    value: LISTENER_URL,
    hint: "Receives a webhook for each approved payment",
  },
  {
    name: "paymentSettings.failureCallbackUrl",
    label: "Failure callback address",
    value: LISTENER_URL,
    hint: "Receives a webhook for each declined or cancelled payment",
  },
  {
    name: "linkOptions.mode",
    label: "Kind",
    options: [
      ["", "One-time: a single payment"],
      [VARIABLE_MODE, "Reusable: many payments"],
    ],
  },
];

export function newLinkPage(view: View, refused?: Refused): Page {
  const fields = fieldsFor(view.terminalId);
  const form = createForm(fields, refused);
  return dashboardPage(view, {
    title: "New link",
    invalid: refused !== undefined,
    tab: "links",
    content: html`<h1>New link</h1>
      ${refused === undefined ? "" : form.summary(`The link was not created: ${refused.problem.message}`)}
      ${actionForm(
        view,
        "/sandbox/links",
        html`<div class="panel new-link">
          ${fields.map(form.field)}
          <div class="actions whole">
            <button class="primary">Create link</button>
            <a class="button" href="${address(view, "/links")}">Back to links</a>
          </div>
        </div>`,
        "/links",
      )}`,
  });
}
