/** The pages of a link: its address and QR code, buttons that pay it, its payments and its JSON; and the form for a new one. */
import { html } from "hono/html";
import { encode } from "uqr";
import { LISTENER_URL, withoutPassword } from "../../domain/addresses.ts";
import type { Problem } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import { groupedAmount, signOf } from "../../domain/money.ts";
import type { Link } from "../ledger.ts";
import { isOpen, isReusable, linkResponse, statusOf } from "../links.ts";
import type { Page } from "../page.ts";
import { CHOICES } from "../payments.ts";
import { chainOf, detailPage } from "./details.ts";
import { dashboardPage } from "./frame.ts";
import { PAYMENTS, showAll } from "./lists.ts";
import {
  actionForm,
  address,
  clipped,
  copyButton,
  exactTime,
  facts,
  foldedBlock,
  linkPath,
  linkTitle,
  priceOf,
  table,
  timeOf,
  type View,
} from "./parts.ts";

/** A refused form: what was entered, and why it was refused. */
export interface Refused {
  readonly entered: URLSearchParams;
  readonly reason: string;
  readonly problems: readonly Problem[];
}

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

const PAY_LABELS = { approved: "Approve", declined: "Decline", cancelled: "Cancel" } as const;

/** Makes a payment as the customer would, without the checkout. */
function paySection(view: View, link: Link, refused: Refused | undefined): Page | "" {
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
      value="${refused?.entered.get("amount")?.trim() ?? prefilled}"
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
    : html`<section class="panel" id="pay" aria-labelledby="pay-title">
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

interface Field {
  /** The request's own name, with dots: the form is checked by the rules of every request. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  readonly inputmode?: string;
}

const fieldsFor = (terminalId: string): readonly Field[] => [
  { name: "amount", label: "Amount", value: "10.00", inputmode: "decimal" },
  { name: "currency", label: "Currency", value: "EUR" },
  { name: "description", label: "Description", value: "" },
  { name: "invoiceId", label: "Invoice id", value: "", hint: "Becomes the payment's reference" },
  { name: "customerName", label: "Customer name", value: "Sandbox Customer" },
  {
    name: "expirationDate",
    label: "Expires",
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
];

const KINDS = [
  ["", "One-time: a single payment"],
  ["REUSABLE_VARIABLE", "Reusable: many payments"],
] as const;
const KIND = "linkOptions.mode";

export function newLinkPage(view: View, refused?: Refused): Page {
  const { entered, problems = [] } = refused ?? {};
  const fields = fieldsFor(view.terminalId);
  const labels = new Map([...fields.map(({ name, label }) => [name, label] as const), [KIND, "Kind"]]);
  return dashboardPage(view, {
    title: "New link",
    invalid: refused !== undefined,
    tab: "links",
    content: html`<h1>New link</h1>
      ${refused === undefined ? "" : summary(refused.reason, problems, labels)}
      ${actionForm(
        view,
        "/sandbox/links",
        html`<div class="panel new-link">
          ${fields.map((field) => input(field, entered, problems))} ${kindField(entered)}
          <div class="actions whole">
            <button class="primary">Create link</button>
            <a class="button" href="${address(view, "/links")}">Back to links</a>
          </div>
        </div>`,
        "/links",
      )}`,
  });
}

/** Every problem, including those of fields that the form does not have. */
const summary = (reason: string, problems: readonly Problem[], labels: ReadonlyMap<string, string>): Page =>
  html`<section
    class="panel problems"
    role="alert"
    aria-labelledby="problems-title"
    id="problems"
    tabindex="-1"
    autofocus
  >
    <h2 id="problems-title">The link was not created: ${reason}</h2>
    <ul>
      ${problems.map(({ at, message }) => {
        const label = labels.get(at);
        return html`<li>
          ${label === undefined ? html`<code>${at}</code>` : html`<a href="#${fieldId(at)}">${label}</a>`}
          ${message}
        </li>`;
      })}
    </ul>
  </section>`;

const fieldId = (name: string): string => `field-${name.replaceAll(".", "-")}`;

function input(
  { name, label, value, hint, inputmode }: Field,
  entered: URLSearchParams | undefined,
  problems: readonly Problem[],
): Page {
  const id = fieldId(name);
  const problem = problems
    .filter(({ at }) => at === name)
    .map(({ message }) => message)
    .join("; ");
  const described = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(problem === "" ? [] : [`${id}-error`]),
  ];
  return html`<div>
    <label for="${id}">${label}</label>
    <input
      id="${id}"
      name="${name}"
      value="${entered === undefined ? value : (entered.get(name) ?? "")}"
      autocomplete="off"
      dir="auto"
      ${inputmode === undefined ? "" : html`inputmode="${inputmode}"`}
      ${problem === "" ? "" : html`aria-invalid="true"`}
      ${described.length === 0 ? "" : html`aria-describedby="${described.join(" ")}"`}
    />
    ${hint === undefined ? "" : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${problem === "" ? "" : html`<p class="error" id="${id}-error">${label} ${problem}</p>`}
  </div>`;
}

const kindField = (entered: URLSearchParams | undefined): Page =>
  html`<div>
    <label for="${fieldId(KIND)}">Kind</label>
    <select id="${fieldId(KIND)}" name="${KIND}">
      ${KINDS.map(
        ([value, label]) =>
          html`<option value="${value}" ${value === (entered?.get(KIND) ?? "") ? "selected" : ""}>
            ${label}
          </option>`,
      )}
    </select>
  </div>`;
