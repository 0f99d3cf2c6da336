/** The lists of deliveries, payments and links, with their filters and pages, and the search through all three. */
import { SAMPLE_OUTCOMES } from "../../domain/outcome.ts";
import { html } from "hono/html";
import { LINK_STATUSES } from "../../domain/payment-link-reply.ts";
import { textOf, type TransactionRecord } from "../../domain/transaction.ts";
import { isAccepted } from "../deliveries.ts";
import type { ListPage, ListQuery } from "../store/lists.ts";
import type { Attempt, Delivery, Link, Payment } from "../store/rows.ts";
import { statusOf } from "../links.ts";
import type { Page } from "../page.ts";
import { dashboardPage, type Tab } from "./frame.ts";
import {
  actionForm,
  address,
  amountOf,
  badge,
  clipped,
  deliveryPath,
  keyField,
  linkPath,
  linkTitle,
  none,
  outcomeText,
  paidAt,
  paymentPath,
  priceOf,
  recordOf,
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
interface ListedDelivery {
  readonly delivery: Delivery;
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
      delivery,
      record: recordOf(delivery),
      attempt: ledger.findAttempt(delivery.id, delivery.attempts),
    }));
    return { ...page, rows };
  },
  caption: "Deliveries of webhooks, the failed ones first",
  id: ({ delivery }) => delivery.id,
  columns: [
    { title: "State", cell: ({ delivery }) => badge(delivery.state) },
    {
      title: "Reference",
      kind: "main",
      cell: ({ delivery: { id, uti }, record }, view) =>
        html`<a href="${address(view, deliveryPath(id))}" dir="auto"
          >${clipped(textOf(record, "reference") ?? uti)}</a
        >`,
    },
    { title: "Outcome", kind: "medium", cell: ({ record }) => outcomeText(record) },
    { title: "Amount", kind: "number", cell: ({ record }) => amountOf(record) },
    { title: "Address", kind: "wide mono", cell: ({ delivery }) => shortUrl(delivery.url) },
    {
      title: "Last status",
      kind: "medium",
      cell: ({ attempt }) =>
        attempt === undefined
          ? none
          : html`<span class="${isAccepted(attempt) ? "" : "bad"}">${statusText(attempt)}</span>`,
    },
    { title: "Attempts", kind: "wide number", cell: ({ delivery }) => String(delivery.attempts) },
    {
      title: "Last attempt",
      kind: "medium",
      cell: ({ attempt }, { now }) => (attempt === undefined ? none : timeOf(attempt.at, now)),
    },
    {
      title: "Next attempt",
      kind: "wide",
      cell: ({ delivery: { state, due } }, { now }) =>
        state === "waiting" ? timeOf(new Date(due), now) : none,
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
      cell: ({ uti, record }, view) =>
        html`<a href="${address(view, paymentPath(uti))}" dir="auto"
          >${clipped(textOf(record, "reference") ?? uti)}</a
        >`,
    },
    { title: "Amount", kind: "number", cell: ({ record }) => amountOf(record) },
    {
      title: "Time",
      kind: "medium",
      cell: ({ record }, { now }) => {
        const time = paidAt(record);
        return time === undefined ? none : timeOf(time, now);
      },
    },
    {
      title: "Card",
      kind: "wide mono",
      cell: ({ record }) => clipped(textOf(record, "cardPan") ?? "") || none,
    },
    {
      title: "Link",
      kind: "wide mono",
      cell: ({ linkId }, view) => html`<a href="${address(view, linkPath(linkId))}">${linkId}</a>`,
    },
    {
      title: "Webhook",
      kind: "medium",
      cell: ({ uti }, view) => {
        const [delivery] = view.ledger.deliveries({ uti, limit: 1, now: view.now }).rows;
        if (delivery === undefined) return none;
        return html`<a href="${address(view, deliveryPath(delivery.id))}">${delivery.state}</a>`;
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
    { title: "Status", cell: (link, { now }) => badge(statusOf(link, now)) },
    {
      title: "Description",
      kind: "main",
      cell: (link, view) =>
        html`<a href="${address(view, linkPath(link.id))}" dir="auto">${clipped(linkTitle(link))}</a>`,
    },
    { title: "Amount", kind: "number", cell: priceOf },
    {
      title: "Invoice",
      kind: "wide",
      cell: ({ request: { invoiceId } }) =>
        invoiceId === undefined ? none : html`<bdi>${clipped(invoiceId)}</bdi>`,
    },
    {
      title: "Customer",
      kind: "wide",
      cell: ({ request }) => html`<bdi>${clipped(request.customerName)}</bdi>`,
    },
    { title: "Created", kind: "medium", cell: ({ createdDate }, { now }) => timeOf(createdDate, now) },
    {
      title: "Expires",
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
  const filters = { text, state };
  const title = capitalized(list.tab);
  return dashboardPage(view, {
    title,
    tab: list.tab,
    live: { shown: rows.map(list.id).join(","), above: String(above) },
    content: html`<div class="title-row">
        <h1>${title}</h1>
        <div class="actions">${list.action?.(view) ?? ""}</div>
      </div>
      ${filterBar(view, list, filters)}
      <section class="panel" id="list" aria-label="${title}">
        <div class="list-row">
          <p id="range" class="quiet">${rangeText(current)}</p>
          <p role="status">
            ${fresh === 0 ? "" : html`<a id="fresh" href="${address(view, `/${list.tab}`, filters)}">Show ${fresh} new</a>`}
          </p>
        </div>
        ${rows.length === 0 ? emptyList(view, list, filters) : table(view, list, rows)}
        ${pageLinks(view, list.tab, filters, current)}
      </section>`,
  });
}

type Filters = Readonly<Record<"text" | "state", string>>;

function filterBar(
  view: View,
  { tab, states }: Pick<List<unknown>, "tab" | "states">,
  filters: Filters,
): Page {
  const chip = (state: string, label: string): Page =>
    html`<li>
      <a
        href="${address(view, `/${tab}`, { text: filters.text, state })}"
        ${filters.state === state ? html`aria-current="true"` : ""}
        >${label}</a
      >
    </li>`;
  return html`<div class="filters">
    <nav aria-label="Filter ${tab}">
      <ul class="chips">
        ${chip("", "All")} ${states.map((state) => chip(state, capitalized(state)))}
      </ul>
    </nav>
    <form class="filter" method="get" action="/${tab}">
      ${keyField(view)}
      ${filters.state === "" ? "" : html`<input type="hidden" name="state" value="${filters.state}" />`}
      <label class="hidden" for="filter">Filter ${tab} by text</label>
      <input
        id="filter"
        name="text"
        type="search"
        value="${filters.text}"
        placeholder="Filter ${tab}"
        dir="auto"
      />
      <button>Filter</button>
    </form>
  </div>`;
}

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function rangeText({ skipped, rows, total }: ListPage<unknown>): string {
  if (total === 0) return "";
  const all = total.toLocaleString("en-US");
  if (skipped === 0) return `${rows.length} of ${all}`;
  return `${skipped + 1} to ${skipped + rows.length} of ${all}`;
}

const emptyList = (
  view: View,
  { tab, one, nothingYet }: Pick<List<unknown>, "tab" | "one" | "nothingYet">,
  { text, state }: Filters,
): Page =>
  text !== "" || state !== ""
    ? html`<div class="empty">
        <p><b>Nothing matches</b></p>
        <p>No ${one} matches these filters.</p>
        <a class="button" href="${address(view, `/${tab}`)}">Show all ${tab}</a>
      </div>`
    : html`<div class="empty">
        <p><b>Nothing yet</b></p>
        <p>${nothingYet}</p>
      </div>`;

function pageLinks(view: View, tab: Tab, filters: Filters, { newer, older }: ListPage<unknown>): Page | "" {
  if (newer === undefined && older === undefined) return "";
  const to = (position: Readonly<Record<string, string>>): string =>
    address(view, `/${tab}`, { ...filters, ...position });
  return html`<nav class="pages" aria-label="Pages">
    ${newer === undefined ? "" : html`<a class="button" rel="prev" href="${to({ newer })}">← Previous</a>`}
    ${older === undefined ? "" : html`<a class="button" rel="next" href="${to({ older })}">Next →</a>`}
  </nav>`;
}

/** A link to a whole list, where a page shows only its newest rows. */
export const showAll = (view: View, tab: Tab, text: string, { rows, total }: ListPage<unknown>): Page | "" =>
  total > rows.length
    ? html`<a href="${address(view, `/${tab}`, { text })}">Show all ${total.toLocaleString("en-US")}</a>`
    : "";

/** The most rows of each list that a search shows. */
const FOUND = 10;

export function searchPage(view: View, text: string): Page {
  const results = <Row>(list: List<Row>): Page | "" => {
    const found = list.read(view, { text, limit: FOUND, now: view.now });
    const title = capitalized(list.tab);
    return found.total === 0
      ? ""
      : html`<section class="panel" aria-label="${title}">
          <div class="list-row">
            <h2>${title}</h2>
            ${showAll(view, list.tab, text, found)}
          </div>
          ${table(view, list, found.rows)}
        </section>`;
  };
  const found = [results(PAYMENTS), results(LINKS), results(DELIVERIES)];
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
