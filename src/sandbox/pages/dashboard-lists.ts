/** The lists of deliveries, payments and links, each with its filters and pages. */
import { html } from "hono/html";
import { LINK_STATUSES } from "../../domain/payment-link-reply.ts";
import type { Link, ListPage } from "../ledger.ts";
import { CHOICES } from "../payments.ts";
import { dashboardPage, type Tab } from "./dashboard-frame.ts";
import { actionForm, address, keyField, type View } from "./dashboard-parts.ts";
import {
  deliveryTable,
  linkTable,
  type ListedDelivery,
  type ListedPayment,
  paymentTable,
} from "./dashboard-tables.ts";
import type { Page } from "./page-frame.ts";

/** The active filters of a list. */
export type Filters = Readonly<Record<"text" | "state", string>>;

export interface ListParts<Row> extends Filters {
  readonly list: ListPage<Row>;
  /** Rows that the script asked for, shown instead of those of the page. */
  readonly chosen?: ChosenRows<Row> | undefined;
}

export interface ChosenRows<Row> {
  readonly rows: readonly Row[];
  /** The ids of the rows that match the filters. */
  readonly listed: ReadonlySet<string>;
}

/** What differs between the three pages. */
interface ListKind<Row> {
  /** The rows in plural, as the tab and the address name them. */
  readonly tab: Tab;
  readonly one: string;
  readonly states: readonly string[];
  readonly nothingYet: Page | string;
  readonly table: (view: View, rows: readonly Row[], listed?: ReadonlySet<string>) => Page;
}

const DELIVERIES: ListKind<ListedDelivery> = {
  tab: "deliveries",
  one: "delivery",
  states: ["failed", "waiting", "delivered"],
  nothingYet: "A webhook appears here when a link with a callback address is paid.",
  table: deliveryTable,
};

const PAYMENTS: ListKind<ListedPayment> = {
  tab: "payments",
  one: "payment",
  states: CHOICES,
  nothingYet: "Open a link and pay it with a test card.",
  table: paymentTable,
};

const LINKS: ListKind<Link> = {
  tab: "links",
  one: "link",
  states: LINK_STATUSES,
  nothingYet: html`Create one here, or with
    <code>paylink create --amount 10 --currency EUR -p sandbox</code>`,
  table: linkTable,
};

export const deliveriesPage = (view: View, parts: ListParts<ListedDelivery>): Page =>
  listPage(view, DELIVERIES, parts, resendFailedForm(view));

export const paymentsPage = (view: View, parts: ListParts<ListedPayment>): Page =>
  listPage(view, PAYMENTS, parts);

export const linksPage = (view: View, parts: ListParts<Link>): Page =>
  listPage(view, LINKS, parts, newLinkButton(view));

const resendFailedForm = (view: View): Page | "" =>
  view.counts.failed === 0
    ? ""
    : actionForm(view, "/sandbox/deliveries/resend-failed", html`<button>Resend all failed</button>`);

const newLinkButton = (view: View): Page | "" =>
  view.key === undefined
    ? ""
    : html`<a class="button primary" href="${address(view, "/links/new")}">New link</a>`;

function listPage<Row>(view: View, kind: ListKind<Row>, parts: ListParts<Row>, action?: Page | ""): Page {
  const { list, chosen } = parts;
  const title = capitalized(kind.tab);
  return dashboardPage(view, {
    title,
    tab: kind.tab,
    content: html`<div class="title-row">
        <h1>${title}</h1>
        <div id="list-action" class="actions" data-live>${action ?? ""}</div>
      </div>
      ${filterBar(view, kind, parts)}
      <section class="panel" id="list" aria-label="${title}" data-kind="${kind.one}">
        <div class="list-row">
          <p id="range" class="quiet" data-live>${rangeText(list)}</p>
          <p role="status">
            <a id="fresh" href="${address(view, `/${kind.tab}`, filtersOf(parts))}" hidden></a>
          </p>
        </div>
        ${list.total === 0 && chosen === undefined ? emptyList(view, kind, parts) : kind.table(view, chosen?.rows ?? list.rows, chosen?.listed)}
        ${pageLinks(view, kind, parts)}
      </section>`,
  });
}

const filtersOf = ({ text, state }: Filters): Filters => ({ text, state });
const isFiltered = ({ text, state }: Filters): boolean => text !== "" || state !== "";

function filterBar<Row>(view: View, { tab, states }: ListKind<Row>, filters: Filters): Page {
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

const emptyList = <Row>(view: View, kind: ListKind<Row>, filters: Filters): Page =>
  isFiltered(filters)
    ? html`<div class="empty">
        <p><b>Nothing matches</b></p>
        <p>No ${kind.one} matches these filters.</p>
        <a class="button" href="${address(view, `/${kind.tab}`)}">Show all ${kind.tab}</a>
      </div>`
    : html`<div class="empty">
        <p><b>Nothing yet</b></p>
        <p>${kind.nothingYet}</p>
      </div>`;

function pageLinks<Row>(view: View, { tab }: ListKind<Row>, parts: ListParts<Row>): Page | "" {
  const { newer, older } = parts.list;
  if (newer === undefined && older === undefined) return "";
  const to = (position: Readonly<Record<string, string>>): string =>
    address(view, `/${tab}`, { ...filtersOf(parts), ...position });
  return html`<nav class="pages" aria-label="Pages">
    ${newer === undefined ? "" : html`<a class="button" rel="prev" href="${to({ newer })}">← Previous</a>`}
    ${older === undefined ? "" : html`<a class="button" rel="next" href="${to({ older })}">Next →</a>`}
  </nav>`;
}
