/** Lists: tables whose rows lead to a page, the filters above them, and the way to older rows. */
import { html } from "hono/html";
import { capitalized } from "../values/sentence.ts";
import { spaced } from "./components.ts";
import type { Page } from "./page.ts";

export interface ListingColumn<Row, View> {
  readonly title: string;
  /** `wide` and `medium` columns are left out on narrower screens; `number` aligns to the right. */
  readonly kind?: string;
  /** A dash stands for nothing. */
  readonly cell: (row: Row, view: View) => Page | string | false | undefined;
}

/** What a table shows of its rows. */
export interface Listing<Row, View> {
  readonly caption: string;
  /** The rows that stay are kept where they are when the page is read again. */
  readonly id: (row: Row) => string;
  readonly columns: readonly ListingColumn<Row, View>[];
}

export const table = <Row, View>(
  view: View,
  { caption, id, columns }: Listing<Row, View>,
  rows: readonly Row[],
): Page =>
  html`<table class="list">
    <caption class="hidden">
      ${caption}
    </caption>
    <thead>
      <tr>
        ${columns.map(({ title, kind = "" }) => html`<th scope="col" class="${kind.replace("mono", "")}">${title}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row) =>
          html`<tr data-row="${id(row)}">
            ${columns.map(({ kind = "", cell }) => html`<td class="${kind}">${cell(row, view) || EMPTY_CELL}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;

/** How many rows a list has and what they sum up to, with what can be done with all of them beside it. */
export const totalsLine = (words: Page | string, beside: Page | "" = ""): Page =>
  html`<div class="totals">
    <p id="totals">${words}</p>
    <div class="actions">${beside}</div>
  </div>`;

const EMPTY_CELL = html`<span class="quiet">–</span>`;

export interface Chip {
  readonly state: string;
  readonly href: string;
  readonly count?: string | undefined;
}

/** The filters of a list; "" is all. */
export const chips = (label: string, current: string, all: readonly Chip[]): Page =>
  html`<nav aria-label="${label}">
    <ul class="chips">
      ${all.map(
        ({ state, href, count }) =>
          html`<li>
            <a href="${href}" ${state === current ? html`aria-current="true"` : ""}
              >${capitalized(spaced(state) || "all")}${count === undefined ? "" : html` <span class="count">${count}</span>`}</a
            >
          </li>`,
      )}
    </ul>
  </nav>`;

export const emptyList = (title: string, content: Page | string, way: Page | "" = ""): Page =>
  html`<div class="empty">
    <p><b>${title}</b></p>
    <p>${content}</p>
    ${way}
  </div>`;

/** Lists go by position, not by number: what arrives meanwhile moves nothing. */
export const olderLink = (href: string | undefined, newest: string | undefined): Page | "" =>
  href === undefined && newest === undefined
    ? ""
    : html`<nav class="paging" aria-label="Pages">
        ${newest === undefined ? "" : html`<a class="button" href="${newest}">← Newest</a>`}
        ${href === undefined ? "" : html`<a class="button" rel="next" href="${href}">Older →</a>`}
      </nav>`;

/** The script shows it with the number of rows that have arrived while the list was scrolled down. */
export const freshButton: Page = html`<button id="fresh" class="primary" hidden></button>`;
