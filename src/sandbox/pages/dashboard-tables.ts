/** The tables of deliveries, payments and links. The script replaces a row by its id. */
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
  shortUrl,
  timeOf,
  type View,
} from "./dashboard-parts.ts";
import {
  amountOf,
  linkTitle,
  outcomeText,
  paidAt,
  priceOf,
  recordOf,
  statusText,
  succeeded,
} from "./dashboard-values.ts";
import type { Page } from "./page-frame.ts";

/** A delivery with the record that it carries and its newest attempt. */
export interface ListedDelivery {
  readonly delivery: Delivery;
  readonly attempt: Attempt | undefined;
}

/** A payment with the newest delivery of its webhook. */
export interface ListedPayment {
  readonly payment: Payment;
  readonly delivery: Delivery | undefined;
}

const none = html`<span class="quiet">–</span>`;

interface Column {
  readonly title: string;
  /** `wide` and `medium` columns are left out on narrow screens; `number` aligns to the right. */
  readonly kind?: string;
}

interface Row {
  readonly id: string;
  readonly cells: readonly (Page | string)[];
}

/** `listed` has the ids of the rows that match the filters; the script also asks for other rows. */
function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly Row[],
  listed?: ReadonlySet<string>,
): Page {
  const kind = (index: number): string => columns[index]?.kind ?? "";
  return html`<table class="list">
    <caption class="hidden">
      ${caption}
    </caption>
    <thead>
      <tr>
        ${columns.map(({ title }, index) => html`<th scope="col" class="${kind(index).replace("mono", "")}">${title}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        ({ id, cells }) =>
          html`<tr data-row="${id}" ${listed === undefined || listed.has(id) ? "data-listed" : ""}>
            ${cells.map((cell, index) => html`<td class="${kind(index)}">${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

const DELIVERY_COLUMNS: readonly Column[] = [
  { title: "State" },
  { title: "Reference", kind: "main" },
  { title: "Outcome", kind: "medium" },
  { title: "Amount", kind: "number" },
  { title: "Address", kind: "wide mono" },
  { title: "Last status", kind: "medium" },
  { title: "Attempts", kind: "wide number" },
  { title: "Last attempt", kind: "medium" },
  { title: "Next attempt", kind: "wide" },
];

export function deliveryTable(
  view: View,
  rows: readonly ListedDelivery[],
  listed?: ReadonlySet<string>,
): Page {
  return table(
    "Deliveries of webhooks, the failed ones first",
    DELIVERY_COLUMNS,
    rows.map((row) => ({ id: row.delivery.id, cells: deliveryCells(view, row) })),
    listed,
  );
}

function deliveryCells(view: View, { delivery, attempt }: ListedDelivery): Row["cells"] {
  const record = recordOf(delivery);
  const reference = textOf(record, "reference") ?? delivery.uti;
  return [
    badge(delivery.state),
    html`<a href="${address(view, deliveryPath(delivery.id))}" dir="auto">${clipped(reference)}</a>`,
    outcomeText(record),
    amountOf(record),
    shortUrl(delivery.url),
    attempt === undefined
      ? none
      : html`<span class="${succeeded(attempt) ? "" : "bad"}">${statusText(attempt)}</span>`,
    String(delivery.attempts),
    attempt === undefined ? none : timeOf(attempt.at, view.now),
    delivery.state === "waiting" ? timeOf(new Date(delivery.due), view.now) : none,
  ];
}

const PAYMENT_COLUMNS: readonly Column[] = [
  { title: "Outcome" },
  { title: "Reference", kind: "main" },
  { title: "Amount", kind: "number" },
  { title: "Time", kind: "medium" },
  { title: "Card", kind: "wide mono" },
  { title: "Link", kind: "wide mono" },
  { title: "Webhook", kind: "medium" },
];

export function paymentTable(view: View, rows: readonly ListedPayment[], listed?: ReadonlySet<string>): Page {
  return table(
    "Payments, the newest first",
    PAYMENT_COLUMNS,
    rows.map((row) => ({ id: row.payment.uti, cells: paymentCells(view, row) })),
    listed,
  );
}

function paymentCells(view: View, { payment, delivery }: ListedPayment): Row["cells"] {
  const { uti, linkId, record } = payment;
  const time = paidAt(record);
  return [
    badge(outcomeText(record)),
    html`<a href="${address(view, paymentPath(uti))}" dir="auto"
      >${clipped(textOf(record, "reference") ?? uti)}</a
    >`,
    amountOf(record),
    time === undefined ? none : timeOf(time, view.now),
    clipped(textOf(record, "cardPan") ?? "") || none,
    html`<a href="${address(view, linkPath(linkId))}">${linkId}</a>`,
    delivery === undefined
      ? none
      : html`<a href="${address(view, deliveryPath(delivery.id))}">${delivery.state}</a>`,
  ];
}

const LINK_COLUMNS: readonly Column[] = [
  { title: "Status" },
  { title: "Description", kind: "main" },
  { title: "Amount", kind: "number" },
  { title: "Invoice", kind: "wide" },
  { title: "Customer", kind: "wide" },
  { title: "Created", kind: "medium" },
  { title: "Expires", kind: "medium" },
];

export function linkTable(view: View, rows: readonly Link[], listed?: ReadonlySet<string>): Page {
  return table(
    "Links, the newest first",
    LINK_COLUMNS,
    rows.map((link) => ({ id: link.id, cells: linkCells(view, link) })),
    listed,
  );
}

function linkCells(view: View, link: Link): Row["cells"] {
  const { invoiceId, customerName } = link.request;
  return [
    badge(statusOf(link, view.now)),
    html`<a href="${address(view, linkPath(link.id))}" dir="auto">${clipped(linkTitle(link))}</a>`,
    priceOf(link),
    invoiceId === undefined ? none : html`<bdi>${clipped(invoiceId)}</bdi>`,
    html`<bdi>${clipped(customerName)}</bdi>`,
    timeOf(link.createdDate, view.now),
    timeOf(new Date(link.expirationDate), view.now),
  ];
}
