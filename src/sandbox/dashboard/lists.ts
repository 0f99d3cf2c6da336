/** The lists of deliveries, payments, links and requests, with their filters and pages, and the search through all three. */
import { html } from "hono/html";
import { SAMPLE_OUTCOMES } from "../../domain/outcome.ts";
import { capitalized, titleOf } from "../../domain/payment-link-fields.ts";
import { LINK_STATUSES } from "../../domain/payment-link-reply.ts";
import { textOf, type TransactionRecord } from "../../domain/transaction.ts";
import { isAccepted } from "../deliveries.ts";
import { statusOf } from "../links.ts";
import type { Page } from "../page.ts";
import { isFailed, type ApiRequest } from "../requests.ts";
import type { Attempt, Delivery, Link, ListPage, ListQuery, Payment } from "../store/rows.ts";
import { dashboardPage, searchBox, type Tab } from "./frame.ts";
import {
  actionForm,
  address,
  amountOf,
  badge,
  block,
  clipped,
  deliveryPath,
  linkPath,
  linkTitle,
  momentOf,
  outcomeText,
  pageLink,
  paidAt,
  panel,
  paymentPath,
  plural,
  priceOf,
  recordOf,
  referenceOf,
  requestPath,
  shortUrl,
  spaced,
  statusText,
  table,
  type Listing,
  type View,
} from "./parts.ts";

/** What differs between the lists. */
interface List<Row> extends Listing<Row> {
  /** The rows in plural, as the tab and the address name them. */
  readonly tab: Tab;
  readonly one: string;
  readonly states: readonly string[];
  readonly nothingYet: Page | string;
  /** A button beside the title. */
  readonly action?: (view: View) => Page | "";
  /** What to notice above the rows. */
  readonly alert?: (view: View) => Page | "";
  readonly refresh?: number;
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
  nothingYet: "A webhook appears here when a link with a callback URL is paid.",
  alert: (view) =>
    view.counts.failed === 0
      ? ""
      : html`<p class="bad">${plural(view.counts.failed, "delivery", "deliveries")} failed</p>
          <a href="${address(view, "/deliveries", { state: "failed" })}">Show only these</a>
          ${actionForm(view, "/sandbox/deliveries/resend-failed", html`<button>Resend all failed</button>`)}`,
  read: ({ ledger }, query) => {
    const page = ledger.deliveries(query);
    const rows = page.rows.map((delivery) => ({
      ...delivery,
      record: recordOf(delivery),
      attempt: ledger.lastAttempt(delivery.id),
    }));
    return { ...page, rows };
  },
  caption: "Deliveries of webhooks, the newest first",
  id: ({ id }) => id,
  columns: [
    { title: "State", cell: ({ state }) => badge(state) },
    {
      title: "Reference",
      kind: "main",
      cell: ({ id, uti, record }, view) => pageLink(view, deliveryPath(id), referenceOf(record, uti)),
    },
    { title: "Outcome", cell: ({ record }) => spaced(outcomeText(record)) },
    { title: "Amount", kind: "number", cell: ({ record }) => amountOf(record) },
    { title: "Address", kind: "wide mono", cell: ({ url }) => shortUrl(url) },
    {
      title: "Last status",
      cell: ({ attempt }) =>
        attempt && html`<span class="${isAccepted(attempt) ? "" : "bad"}">${statusText(attempt)}</span>`,
    },
    {
      title: "Last attempt",
      cell: ({ attempt }) => attempt && momentOf(attempt.at),
    },
    {
      title: "Next attempt",
      kind: "wide",
      cell: ({ state, due }) => state === "waiting" && momentOf(new Date(due)),
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
      cell: ({ record }) => {
        const time = paidAt(record);
        return time && momentOf(time);
      },
    },
    {
      title: titleOf("customerName"),
      kind: "wide",
      cell: ({ linkId }, view) =>
        pageLink(
          view,
          linkPath(linkId),
          clipped(view.ledger.findLink(linkId)?.request.customerName ?? linkId),
        ),
    },
    { title: "Card", kind: "wide mono", cell: ({ record }) => clipped(textOf(record, "cardPan") ?? "") },
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
      cell: ({ createdDate }) => momentOf(createdDate),
    },
    {
      title: titleOf("expirationDate"),
      kind: "wide",
      cell: ({ expirationDate }) => momentOf(new Date(expirationDate)),
    },
  ],
};

export const REQUESTS: List<ApiRequest> = {
  tab: "requests",
  one: "request",
  states: ["succeeded", "failed"],
  nothingYet:
    "The newest requests to the service's API appear here with their answers, since the sandbox was started.",
  // Requests change nothing in the ledger, so nothing announces them.
  refresh: 2_000,
  read: ({ requests }, query) => requests.list(query),
  caption: "Requests to the API, the newest first",
  id: ({ number }) => String(number),
  columns: [
    {
      title: "Status",
      cell: (request) => html`<span class="${isFailed(request) ? "bad" : "good"}">${request.status}</span>`,
    },
    {
      title: "Request",
      kind: "main",
      cell: ({ number, method, target }, view) =>
        pageLink(view, requestPath(number), `${method} ${clipped(target, 80)}`),
    },
    { title: "Duration", kind: "number", cell: ({ duration }) => `${duration} ms` },
    { title: "Time", cell: ({ at }) => momentOf(at) },
  ],
};

/** Undefined for a request that is not kept. */
export function requestPage(view: View, number: string): Page | undefined {
  const found = view.requests.find(Number(number));
  if (found === undefined) return undefined;
  const { method, target, status, duration, at, request, response } = found;
  const body = (id: string, { type, text }: ApiRequest["request"]): Page =>
    text === "" ? html`<p class="hint">No body.</p>` : block({ id, title: type, text });
  return dashboardPage(view, {
    title: `${method} ${clipped(target)}`,
    tab: "requests",
    content: html`<h1>${method} ${clipped(target, 200)}</h1>
      ${panel(
        "request",
        "Request",
        html`<p>${momentOf(at)}</p>
          ${body("request-body", request)}`,
      )}
      ${panel(
        "response",
        `Response ${status}`,
        html`<p>After ${duration} ms</p>
          ${body("response-body", response)}`,
      )}`,
  });
}

/** The most rows on a page of a list. */
const ROWS = 50;

/** The query of a list's address: its filters and position, and the newest row that an open page shows. */
type ListAddress = Readonly<Partial<Record<"text" | "state" | "older" | "newer" | "top", string>>>;

/**
 * New rows arrive by themselves on the first page while its top is in sight. On any other page, and further down, the rows
 * stay where they are under the pointer, and the new ones are counted.
 */
export function listPage<Row>(view: View, list: List<Row>, asked: ListAddress): Page {
  const { text = "", state = "", older, newer } = asked;
  const current = list.read(view, { ...asked, limit: ROWS, now: view.now });
  const { rows, arrived } = current;
  const top = asked.top ?? current.newest;
  const isFirst = older === undefined && newer === undefined;
  const alert = list.alert?.(view) ?? "";
  const title = capitalized(list.tab);
  /** This list with other filters, or at another position. */
  const to = (query: Readonly<Record<string, string>>): string => address(view, `/${list.tab}`, query);
  const filters = { text, state };
  return dashboardPage(view, {
    title,
    tab: list.tab,
    ...(list.refresh === undefined ? {} : { refresh: list.refresh }),
    live: isFirst ? {} : { top },
    pinned: { top },
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
                    >${capitalized(spaced(shown) || "all")}</a
                  >
                </li>`,
            )}
          </ul>
        </nav>
        ${searchBox(view, { id: "filter", action: `/${list.tab}`, label: `Filter ${list.tab} by text`, placeholder: `Filter ${list.tab}`, text, state })}
      </div>
      ${alert === "" ? "" : html`<section class="alert" aria-label="Failed">${alert}</section>`}
      <section class="panel" id="list" aria-label="${title}">
        <div class="list-row">
          <p id="range" class="quiet">${rangeText(current)}</p>
          <p role="status">
            ${arrived === 0 ? "" : html`<a id="fresh" href="${to(filters)}">Show ${arrived.toLocaleString("en-US")} new</a>`}
          </p>
        </div>
        ${
          rows.length > 0
            ? table(view, list, rows, text)
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
  return panel(list.tab, title, table(view, list, rows, query.text), total > rows.length ? more : "");
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
    <p>No link, payment or delivery shows all of these words.</p>
  </section>`;
  return dashboardPage(view, {
    title: "Search",
    text,
    content: html`<h1>Search</h1>
      ${found.every((section) => section === "") ? nothing : found}`,
  });
}
