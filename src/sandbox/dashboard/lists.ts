/** The lists of deliveries, payments and links, with their filters and pages, and the search through all three. */
import { html } from "hono/html";
import { SAMPLE_OUTCOMES } from "../../domain/outcome.ts";
import { capitalized, titleOf } from "../../domain/payment-link-fields.ts";
import { LINK_STATUSES } from "../../domain/payment-link-reply.ts";
import { textOf, type TransactionRecord } from "../../domain/transaction.ts";
import { isAccepted } from "../deliveries.ts";
import { statusOf } from "../links.ts";
import type { Page } from "../page.ts";
import type { Attempt, Delivery, Link, ListPage, ListQuery, Payment } from "../store/rows.ts";
import { dashboardPage, searchBox, type Tab } from "./frame.ts";
import {
  actionForm,
  address,
  amountOf,
  badge,
  clipped,
  deliveryPath,
  linkPath,
  linkTitle,
  outcomeText,
  pageLink,
  paidAt,
  panel,
  paymentPath,
  priceOf,
  recordOf,
  referenceOf,
  shortUrl,
  statusText,
  table,
  timeOf,
  type Listing,
  type View,
} from "./parts.ts";

/** What differs between the three lists. */
interface List<Row> extends Listing<Row> {
  /** The rows in plural, as the tab and the address name them. */
  readonly tab: Tab;
  readonly one: string;
  readonly states: readonly string[];
  readonly nothingYet: Page | string;
  /** A button beside the title. */
  readonly action?: (view: View) => Page | "";
  readonly read: (view: View, query: ListQuery) => ListPage<Row>;
}

/** A delivery with the record that it carries and its newest attempt. */
interface ListedDelivery extends Delivery {
  readonly record: TransactionRecord;
  readonly attempt: Attempt | undefined;
}

export const DELIVERIES: List<ListedDelivery> = {
  tab: "deliveries",
  one: "delivery",
  states: ["failed", "waiting", "delivered"],
  nothingYet: "A webhook appears here when a link with a callback address is paid.",
  action: (view) =>
    view.counts.failed === 0
      ? ""
      : actionForm(view, "/sandbox/deliveries/resend-failed", html`<button>Resend all failed</button>`),
  read: ({ ledger }, query) => {
    const page = ledger.deliveries(query);
    const rows = page.rows.map((delivery) => ({
      ...delivery,
      record: recordOf(delivery),
      attempt: ledger.findAttempt(delivery.id, delivery.attempts),
    }));
    return { ...page, rows };
  },
  caption: "Deliveries of webhooks, the failed ones first",
  id: ({ id }) => id,
  columns: [
    { title: "State", cell: ({ state }) => badge(state) },
    {
      title: "Reference",
      kind: "main",
      cell: ({ id, uti, record }, view) => pageLink(view, deliveryPath(id), referenceOf(record, uti)),
    },
    { title: "Outcome", kind: "medium", cell: ({ record }) => outcomeText(record) },
    { title: "Amount", kind: "number", cell: ({ record }) => amountOf(record) },
    { title: "Address", kind: "wide mono", cell: ({ url }) => shortUrl(url) },
    {
      title: "Last status",
      kind: "medium",
      cell: ({ attempt }) =>
        attempt && html`<span class="${isAccepted(attempt) ? "" : "bad"}">${statusText(attempt)}</span>`,
    },
    { title: "Attempts", kind: "wide number", cell: ({ attempts }) => String(attempts) },
    {
      title: "Last attempt",
      kind: "medium",
      cell: ({ attempt }, { now }) => attempt && timeOf(attempt.at, now),
    },
    {
      title: "Next attempt",
      kind: "wide",
      cell: ({ state, due }, { now }) => state === "waiting" && timeOf(new Date(due), now),
    },
  ],
};

export const PAYMENTS: List<Payment> = {
  tab: "payments",
  one: "payment",
  states: SAMPLE_OUTCOMES,
  nothingYet: "Open a link and pay it with a test card.",
  read: ({ ledger }, query) => ledger.payments(query),
  caption: "Payments, the newest first",
  id: ({ uti }) => uti,
  columns: [
    { title: "Outcome", cell: ({ record }) => badge(outcomeText(record)) },
    {
      title: "Reference",
      kind: "main",
      cell: ({ uti, record }, view) => pageLink(view, paymentPath(uti), referenceOf(record, uti)),
    },
    { title: "Amount", kind: "number", cell: ({ record }) => amountOf(record) },
    {
      title: "Time",
      kind: "medium",
      cell: ({ record }, { now }) => {
        const time = paidAt(record);
        return time && timeOf(time, now);
      },
    },
    { title: "Card", kind: "wide mono", cell: ({ record }) => clipped(textOf(record, "cardPan") ?? "") },
    {
      title: "Link",
      kind: "wide mono",
      cell: ({ linkId }, view) => pageLink(view, linkPath(linkId), linkId),
    },
    {
      title: "Webhook",
      kind: "medium",
      cell: ({ uti }, view) => {
        const [delivery] = view.ledger.deliveries({ uti, limit: 1, now: view.now }).rows;
        return delivery && pageLink(view, deliveryPath(delivery.id), delivery.state);
      },
    },
  ],
};

export const LINKS: List<Link> = {
  tab: "links",
  one: "link",
  states: LINK_STATUSES,
  nothingYet: html`Create one here, or with
    <code>paylink create --amount 10 --currency EUR -p sandbox</code>`,
  action: (view) =>
    view.key === undefined
      ? ""
      : html`<a class="button primary" href="${address(view, "/links/new")}">New link</a>`,
  read: ({ ledger }, query) => ledger.links(query),
  caption: "Links, the newest first",
  id: ({ id }) => id,
  columns: [
    { title: titleOf("status"), cell: (link, { now }) => badge(statusOf(link, now)) },
    {
      title: titleOf("description"),
      kind: "main",
      cell: (link, view) => pageLink(view, linkPath(link.id), clipped(linkTitle(link))),
    },
    { title: titleOf("amount"), kind: "number", cell: priceOf },
    {
      title: titleOf("invoiceId"),
      kind: "wide",
      cell: ({ request: { invoiceId } }) => invoiceId && html`<bdi>${clipped(invoiceId)}</bdi>`,
    },
    {
      title: titleOf("customerName"),
      kind: "wide",
      cell: ({ request }) => html`<bdi>${clipped(request.customerName)}</bdi>`,
    },
    {
      title: titleOf("createdDate"),
      kind: "medium",
      cell: ({ createdDate }, { now }) => timeOf(createdDate, now),
    },
    {
      title: titleOf("expirationDate"),
      kind: "medium",
      cell: ({ expirationDate }, { now }) => timeOf(new Date(expirationDate), now),
    },
  ],
};

/** The most rows on a page of a list. */
const ROWS = 50;

/**
 * The query of a list's address: its filters and position; the ids of the rows that an open page shows, and the number of
 * rows before them when it was opened.
 */
type ListAddress = Readonly<
  Partial<Record<"text" | "state" | "older" | "newer" | "shown" | "above", string>>
>;

/** Nothing moves under the pointer on an open page: its rows stay where they are, and new ones are announced. */
export function listPage<Row>(view: View, list: List<Row>, asked: ListAddress): Page {
  const { text = "", state = "", older, newer } = asked;
  const query = { limit: ROWS, now: view.now };
  const current = list.read(view, { ...query, text, state, older, newer });
  const ids = asked.shown === undefined ? [] : asked.shown.split(",").slice(0, ROWS);
  const kept = new Map(
    (ids.length === 0 ? [] : list.read(view, { ...query, ids }).rows).map((row) => [list.id(row), row]),
  );
  const isOpen = kept.size > 0;
  const rows = isOpen ? ids.flatMap((id) => kept.get(id) ?? []) : current.rows;
  const above = (isOpen && Number(asked.above)) || current.skipped;
  const others = isOpen ? current.rows.filter((row) => !kept.has(list.id(row))).length : 0;
  const fresh = others + Math.max(0, current.skipped - above);
  const title = capitalized(list.tab);
  /** This list with other filters, or at another position. */
  const to = (query: Readonly<Record<string, string>>): string => address(view, `/${list.tab}`, query);
  const filters = { text, state };
  return dashboardPage(view, {
    title,
    tab: list.tab,
    live: { shown: rows.map(list.id).join(","), above: String(above) },
    content: html`<div class="title-row">
        <h1>${title}</h1>
        <div class="actions">${list.action?.(view) ?? ""}</div>
      </div>
      <div class="filters">
        <nav aria-label="Filter ${list.tab}">
          <ul class="chips">
            ${["", ...list.states].map(
              (shown) =>
                html`<li>
                  <a href="${to({ text, state: shown })}" ${shown === state ? html`aria-current="true"` : ""}
                    >${capitalized(shown || "all")}</a
                  >
                </li>`,
            )}
          </ul>
        </nav>
        ${searchBox(view, { id: "filter", action: `/${list.tab}`, label: `Filter ${list.tab} by text`, placeholder: `Filter ${list.tab}`, text, state })}
      </div>
      <section class="panel" id="list" aria-label="${title}">
        <div class="list-row">
          <p id="range" class="quiet">${rangeText(current)}</p>
          <p role="status">
            ${fresh === 0 ? "" : html`<a id="fresh" href="${to(filters)}">Show ${fresh} new</a>`}
          </p>
        </div>
        ${
          rows.length > 0
            ? table(view, list, rows)
            : text === "" && state === ""
              ? html`<div class="empty">
                  <p><b>Nothing yet</b></p>
                  <p>${list.nothingYet}</p>
                </div>`
              : html`<div class="empty">
                  <p><b>Nothing matches</b></p>
                  <p>No ${list.one} matches these filters.</p>
                  <a class="button" href="${to({})}">Show all ${list.tab}</a>
                </div>`
        }
        ${pageLinks(current, (position) => to({ ...filters, ...position }))}
      </section>`,
  });
}

function rangeText({ skipped, rows, total }: ListPage<unknown>): string {
  if (total === 0) return "";
  const all = total.toLocaleString("en-US");
  if (skipped === 0) return `${rows.length} of ${all}`;
  return `${skipped + 1} to ${skipped + rows.length} of ${all}`;
}

function pageLinks(
  { newer, older }: ListPage<unknown>,
  to: (position: Readonly<Record<string, string>>) => string,
): Page | "" {
  if (newer === undefined && older === undefined) return "";
  return html`<nav class="pages" aria-label="Pages">
    ${newer === undefined ? "" : html`<a class="button" rel="prev" href="${to({ newer })}">← Previous</a>`}
    ${older === undefined ? "" : html`<a class="button" rel="next" href="${to({ older })}">Next →</a>`}
  </nav>`;
}

/** The most rows of a list on another page. */
const EXCERPT = 10;

interface Excerpt {
  /** Of which link, of which payment, or with which text the rows are. */
  readonly query: Pick<ListQuery, "linkId" | "uti" | "text">;
  readonly title?: string;
  /** What stands there without rows; without it, there is no such part of the page. */
  readonly nothing?: string;
}

/** The first rows of a list on another page, with the way to all of them. */
export function listPanel<Row>(view: View, list: List<Row>, excerpt: Excerpt): Page | "" {
  const { query, title = capitalized(list.tab), nothing } = excerpt;
  const { rows, total } = list.read(view, { ...query, limit: EXCERPT, now: view.now });
  if (rows.length === 0)
    return nothing === undefined ? "" : panel(list.tab, title, html`<p class="hint">${nothing}</p>`);
  const all = address(view, `/${list.tab}`, { text: query.linkId ?? query.uti ?? query.text });
  const more = html`<a href="${all}">Show all ${total.toLocaleString("en-US")}</a>`;
  return panel(list.tab, title, table(view, list, rows), total > rows.length ? more : "");
}

export function searchPage(view: View, text: string): Page {
  const query = { text };
  const found = [
    listPanel(view, PAYMENTS, { query }),
    listPanel(view, LINKS, { query }),
    listPanel(view, DELIVERIES, { query }),
  ];
  const nothing = html`<section class="panel empty">
    <p><b>Nothing matches</b></p>
    <p>No link, payment or delivery contains this text.</p>
  </section>`;
  return dashboardPage(view, {
    title: "Search",
    text,
    content: html`<h1>Search</h1>
      ${found.every((section) => section === "") ? nothing : found}`,
  });
}
