/** The page of a search: the payments, links and deliveries with a reference, an id or an address. */
import { html } from "hono/html";
import type { Link, ListPage } from "../ledger.ts";
import { dashboardPage, type Tab } from "./dashboard-frame.ts";
import { address, type View } from "./dashboard-parts.ts";
import {
  deliveryTable,
  linkTable,
  paymentTable,
  type ListedDelivery,
  type ListedPayment,
} from "./dashboard-tables.ts";
import type { Page } from "./page-frame.ts";

interface SearchParts {
  readonly text: string;
  readonly deliveries: ListPage<ListedDelivery>;
  readonly payments: ListPage<ListedPayment>;
  readonly links: ListPage<Link>;
}

export function searchPage(view: View, { text, deliveries, payments, links }: SearchParts): Page {
  const results = (tab: Tab, title: string, { rows, total }: ListPage<unknown>, table: Page): Page | "" =>
    total === 0
      ? ""
      : html`<section class="panel" aria-label="${title}">
          <div class="list-row">
            <h2>${title}</h2>
            ${
              total > rows.length
                ? html`<a href="${address(view, `/${tab}`, { text })}"
                    >Show all ${total.toLocaleString("en-US")}</a
                  >`
                : ""
            }
          </div>
          ${table}
        </section>`;
  const found = deliveries.total + payments.total + links.total;
  return dashboardPage(view, {
    title: "Search",
    text,
    content: html`<h1>Search</h1>
      ${
        found === 0
          ? html`<section class="panel empty">
              <p><b>Nothing matches</b></p>
              <p>No link, payment or delivery contains this text.</p>
            </section>`
          : html`${results("payments", "Payments", payments, paymentTable(view, payments.rows))}
            ${results("links", "Links", links, linkTable(view, links.rows))}
            ${results("deliveries", "Deliveries", deliveries, deliveryTable(view, deliveries.rows))}`
      }`,
  });
}
