/** Small pieces that pages share: times, states, texts that are too long or can be copied, blocks, panels and questions. */
import { html } from "hono/html";
import { groupedAmount } from "../domain/money.ts";
import { amountIn, textOf, type TransactionRecord } from "../domain/transaction.ts";
import { formatRelative } from "../values/time.ts";
import type { HeaderLine } from "../http/message.ts";
import type { Page } from "./page.ts";

/** "3 minutes ago"; the exact time is its title. */
export const timeAgo = (date: Date, now: Date): Page =>
  html`<time datetime="${date.toISOString()}" title="${utcTime(date)}">${formatRelative(date, now)}</time>`;

/** A time that counts down in the browser: "in 9 s". */
export const countdown = (date: Date, now: Date): Page =>
  html`<time datetime="${date.toISOString()}" class="countdown" title="${utcTime(date)}"
    >${formatRelative(date, now)}</time
  >`;

/** The exact time, of today without its date; the script shows it in the time zone of the browser. */
export const exactTime = (date: Date, now: Date): Page => {
  const text = utcTime(date);
  const day = 11;
  const isToday = text.slice(0, day) === utcTime(now).slice(0, day);
  return html`<time datetime="${date.toISOString()}" class="exact"
    >${isToday ? text.slice(day) : text}</time
  >`;
};

/** The exact time with its date, even today. */
export const datedMoment = (date: Date): Page =>
  html`<time datetime="${date.toISOString()}" class="exact dated">${utcTime(date)}</time>`;

/** A full hour, without its year: `01-31 12:00 UTC`; the script shows it in the time zone of the browser. */
export const hourText = (date: Date): string => `${utcTime(date).slice(5, 16)} UTC`;

export const hourOf = (date: Date): Page =>
  html`<time datetime="${date.toISOString()}" class="exact hour">${hourText(date)}</time>`;

/** `2026-01-31 12:00:00 UTC` */
const utcTime = (date: Date): string => `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;

/** Empty for a payment without an amount. */
export function shownAmount(record: TransactionRecord): string {
  const amount = amountIn(record, "amountTrans");
  return amount === undefined ? "" : groupedAmount(amount, textOf(record, "transCurrencyCode") ?? "");
}

export const badge = (state: string): Page => html`<span class="badge ${state}">${spaced(state)}</span>`;

/** A state as it is read: `partially approved`. */
export const spaced = (state: string): string => state.replaceAll("-", " ");

/** The longest text in a cell and in a block, in characters: a page stays small whatever it shows. */
const CELL = 48;
const TEXT_BLOCK = 2_500;

/** The start of a text that is too long, with an ellipsis. */
export const clipped = (text: string, length: number = CELL): string =>
  // Half of a surrogate pair is not a character.
  text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;

/** A text of one line: a page would show a line break as a space. The reply makes the other characters visible. */
export const oneLine = (text: string): string => text.replaceAll("\n", "\\n");

/** Terms and their values, which may be written from right to left; empty values are left out. */
export const facts = (
  entries: readonly (readonly [term: string, value: Page | string | undefined])[],
): Page =>
  html`<dl class="facts">
    ${entries.map(([term, value]) =>
      value === undefined || value === ""
        ? ""
        : html`<div>
            <dt>${term}</dt>
            <dd><bdi>${typeof value === "string" ? oneLine(value) : value}</bdi></dd>
          </div>`,
    )}
  </dl>`;

/** The style hides the button until the script runs, since the button needs the script. */
export const copyButton = (what: string, from: { readonly text: string } | { readonly id: string }): Page =>
  html`<button
    type="button"
    class="copy"
    ${"text" in from ? html`data-copy="${from.text}"` : html`data-copy-from="${from.id}"`}
    aria-label="Copy ${what}"
  >
    Copy
  </button>`;

/** A short text in the type of code, with a button that copies it; `shown` is its start, if it is too long. Its words stay whole. */
export const copyable = (what: string, text: string, shown = text): Page =>
  html`<span class="mono"
      >${shown.split(" ").map((word, at) => html`${at === 0 ? "" : " "}<span class="whole">${word}</span>`)}</span
    >
    ${copyButton(what, { text })}`;

interface TextBlock {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** Where the whole text is, if the block shows only its start. */
  readonly whole?: string;
}

/** A titled text that can be copied. */
export function block({ id, title, text, whole }: TextBlock): Page {
  const shown = clipped(text, TEXT_BLOCK);
  const isWhole = shown === text;
  return html`<div class="block">
    <div class="block-head">
      <p class="block-title">${title}</p>
      ${isWhole ? copyButton(title.toLowerCase(), { id }) : ""}
    </div>
    <pre id="${id}" tabindex="0" role="region" aria-label="${title}" dir="auto">${shown}</pre>
    ${
      isWhole
        ? ""
        : html`<p class="hint">
            The first ${shown.length - 1} of ${text.length} characters.
            ${whole === undefined ? "" : html`<a href="${whole}">Download all of it</a>`}
          </p>`
    }
  </div>`;
}

/** Content that is folded at first. */
export const folded = (id: string, summary: Page | string, content: Page, isOpen = false): Page =>
  html`<details id="fold-${id}" ${isOpen ? "open" : ""}>
    <summary>${summary}</summary>
    ${content}
  </details>`;

/** A part of a page, which its title names; the parts of a page have different ids. */
export const panel = (id: string, title: string, content: Page, beside: Page | "" = ""): Page =>
  html`<section class="panel" id="${id}" aria-labelledby="${id}-title">
    <div class="list-row">
      <h2 id="${id}-title">${title}</h2>
      ${beside}
    </div>
    ${content}
  </section>`;

/** The longest value of a header that is shown. */
const HEADER_VALUE = 400;

export const headerTable = (caption: string, headers: readonly HeaderLine[]): Page =>
  headers.length === 0
    ? html`<p class="hint">No headers.</p>`
    : html`<table class="headers">
        <caption>
          ${caption}
        </caption>
        <tbody>
          ${headers.map(
            ([name, value]) =>
              html`<tr>
                <th scope="row">${clipped(name)}</th>
                <td>${clipped(value, HEADER_VALUE)}</td>
              </tr>`,
          )}
        </tbody>
      </table>`;

/** A form that makes one change; `back` is the page that it returns to. */
export const actionForm = (action: string, back: string, content: Page, id = ""): Page =>
  html`<form class="inline" method="post" action="${action}" ${id === "" ? "" : html`id="${id}"`}>
    <input type="hidden" name="back" value="${back}" /> ${content}
  </form>`;

interface AskedAction {
  readonly id: string;
  /** What the button says that opens the question. */
  readonly button: string;
  readonly title: string;
  /** What the action is about. */
  readonly subject?: string;
  readonly text: string;
  /** The button that does it. */
  readonly confirm: string;
  readonly kind?: "primary" | "danger";
  /** Further fields of the form. */
  readonly fields?: Page;
  /** As those of an `actionForm`. */
  readonly action: string;
  readonly back: string;
}

/** A button that asks for confirmation before the action is done. A popover needs no script. */
export const askedAction = (asked: AskedAction): Page => {
  const { id, button, title, subject, text, confirm, kind = "primary", fields, action, back } = asked;
  return html`<button class="${kind === "danger" ? kind : ""}" popovertarget="${id}">${button}</button>
    <dialog popover id="${id}" aria-labelledby="${id}-title">
      <h2 id="${id}-title">${title}</h2>
      ${subject === undefined ? "" : html`<p dir="auto"><b>${subject}</b></p>`}
      <p>${text}</p>
      ${fields === undefined ? "" : html`<div id="${id}-fields">${fields}</div>`}
      <div class="actions">
        <button type="button" popovertarget="${id}" popovertargetaction="hide" autofocus>Go back</button>
        ${actionForm(action, back, html`<button class="${kind}">${confirm}</button>`, `${id}-form`)}
      </div>
    </dialog>`;
};

export interface SearchBox {
  readonly action: string;
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
}

export const searchBox = ({ action, label, placeholder, text }: SearchBox): Page =>
  html`<form class="search" method="get" action="${action}" role="search">
    <label class="hidden" for="search">${label}</label>
    <input id="search" name="text" type="search" value="${text}" placeholder="${placeholder}" dir="auto" />
    <button>Search</button>
  </form>`;

type Query = Readonly<Record<string, string | undefined>>;

/** A path with a query; members without a value are left out. */
export function address(path: string, query: Query = {}): string {
  const given = new URLSearchParams();
  for (const [name, value = ""] of Object.entries(query)) if (value !== "") given.set(name, value);
  return given.size === 0 ? path : `${path}?${given.toString()}`;
}

/** Query parameters of a single request, which are not part of the address of a page. */
const PASSING = ["key", "done"];

/** The address of a page that says what an action has done. */
export const doneAt = (page: string, done: string): string =>
  `${page}${page.includes("?") ? "&" : "?"}done=${done}`;

/** The path and query of a page of this origin; `first` for any other address. */
export function localPath(given: string | null | undefined, first: string): string {
  // Browsers, and URL, read an address that starts with two slashes as one of another host, such as "[".
  if (given == null || !/^\/(?![/\\])/.test(given) || !URL.canParse(given, "http://page")) return first;
  const { origin, pathname, searchParams } = new URL(given, "http://page");
  if (origin !== "http://page" || pathname.startsWith("//")) return first;
  for (const name of PASSING) searchParams.delete(name);
  return address(pathname, Object.fromEntries(searchParams));
}
