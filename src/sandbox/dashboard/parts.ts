/** Small pieces that the dashboard's pages share: addresses, forms, times, values, tables and blocks of text to copy. */
import { outcomeName } from "../../domain/outcome.ts";
import type { Context } from "hono";
import { html, raw } from "hono/html";
import { withoutPassword } from "../../domain/addresses.ts";
import { groupedAmount, signOf } from "../../domain/money.ts";
import { parseJsonObject } from "../../domain/parse-json.ts";
import { formatRelative, parseInstant } from "../../domain/time.ts";
import { amountIn, outcomeOf, textOf, type TransactionRecord } from "../../domain/transaction.ts";
import type { HeaderLine } from "../../http/message.ts";
import { searchWords, type Attempt, type Delivery, type Link } from "../store/rows.ts";
import { isReusable } from "../links.ts";
import type { Page } from "../page.ts";
import { checkoutUrl } from "../replies.ts";
import type { Service } from "../service.ts";

/** What every page of the dashboard shows, and what its addresses and forms carry. */
export type View = Readonly<ReturnType<typeof viewOf>>;

/** `here` is the page's address, if it is not that of the request. */
export function viewOf(
  c: Context,
  { merchant, clock, keys, ledger, tokens, notices, requests }: Service,
  key: string | undefined,
  here?: string,
) {
  return {
    merchantName: merchant.merchantName,
    /** The merchant's first terminal. */
    terminalId: merchant.terminals[0] ?? "",
    ledger,
    requests,
    /** Where customers open links. */
    checkoutUrl: checkoutUrl(c),
    now: clock.now(),
    clock: clock.running ? (clock.own ? "moved" : "running") : "stopped",
    /** The id of the signing key. */
    keyid: keys.current().keyid ?? "",
    counts: ledger.counts(),
    /** The dashboard's key; a page that was opened without it has no controls. */
    key: key !== undefined && tokens.isDashboardKey(key) ? key : undefined,
    /** The path and query of this page, without the key; actions return to it. */
    here: here ?? pathAndQuery(c.req.url),
    /** The action that led to this page. */
    done: notices.take(c.req.query("done")),
  };
}

/** Query parameters of a single request, which are not part of the address of a page. */
const PASSING = ["key", "done", "top"];

function pathAndQuery(url: string): string {
  const { pathname, searchParams } = new URL(url);
  for (const name of PASSING) searchParams.delete(name);
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams.toString()}`;
}

/** The path and query of a page of this sandbox; the first page for any other address. */
export function localPath(given: string | null | undefined): string {
  const path = given?.startsWith("/") ? pathAndQuery(`http://sandbox${given}`) : "//";
  // Browsers read an address that starts with two slashes as one of another host.
  return path.startsWith("//") ? "/deliveries" : path;
}

type Query = Readonly<Record<string, string | undefined>>;

/** An address of the dashboard, with the key; members without a value are left out. */
export function address({ key }: Pick<View, "key">, path: string, query: Query = {}): string {
  const given = new URLSearchParams();
  for (const [name, value = ""] of Object.entries({ ...query, key }))
    if (value !== "") given.set(name, value);
  return given.size === 0 ? path : `${path}?${given.toString()}`;
}

/** The same for a path with a query. */
export function pageAddress(view: Pick<View, "key">, page: string, query: Query = {}): string {
  const [path = "/", given] = page.split("?", 2);
  return address(view, path, { ...Object.fromEntries(new URLSearchParams(given)), ...query });
}

export const linkPath = (id: string): string => `/links/${encodeURIComponent(id)}`;
export const paymentPath = (uti: string): string => `/payments/${encodeURIComponent(uti)}`;
export const requestPath = (number: number): string => `/requests/${number}`;
export const deliveryPath = (id: string): string => `/deliveries/${encodeURIComponent(id)}`;

/** Text that leads to a page of the dashboard. */
export const pageLink = (view: View, path: string, text: string): Page =>
  html`<a href="${address(view, path)}" dir="auto">${text}</a>`;

/** A form for an action; empty without the key. */
export function actionForm(view: View, action: string, content: Page): Page | "" {
  if (view.key === undefined) return "";
  return html`<form class="inline" method="post" action="${action}">
    ${keyField(view)} <input type="hidden" name="back" value="${view.here}" /> ${content}
  </form>`;
}

export const keyField = ({ key }: Pick<View, "key">): Page | "" =>
  key === undefined ? "" : html`<input type="hidden" name="key" value="${key}" />`;

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;

/** "3 minutes ago"; the exact time is its title. */
export const timeOf = (date: Date, now: Date): Page =>
  html`<time datetime="${date.toISOString()}" title="${exactTime(date)}">${formatRelative(date, now)}</time>`;

/** The exact time; the script shows it in the time zone of the browser. */
export const momentOf = (date: Date, text = exactTime(date)): Page =>
  html`<time datetime="${date.toISOString()}" class="exact">${text}</time>`;

/** `2026-01-31 12:00:00 UTC` */
export const exactTime = (date: Date): string => timeTo("2026-01-31T12:00:00", date);

/** `2026-01-31 12:00 UTC` */
export const minuteTime = (date: Date): string => timeTo("2026-01-31T12:00", date);

const timeTo = (example: string, date: Date): string =>
  `${date.toISOString().slice(0, example.length).replace("T", " ")} UTC`;

export const badge = (state: string): Page => html`<span class="badge ${state}">${spaced(state)}</span>`;

/** A state as it is read: `partially approved`. */
export const spaced = (state: string): string => state.replaceAll("-", " ");

/** The longest text in a cell and in a block, in characters: a page stays small whatever a link contains. */
const CELL = 48;
const BLOCK = 2_500;

/** The bytes of a character in a page: some are escaped, and others are longer in UTF-8. */
const bytesOf = (character: string): number => (/[&<>"']/.test(character) ? 6 : character > "\x7f" ? 3 : 1);

/** The start of a text that is too long: at most so many characters, and `bytes` in the page. */
export function clipped(text: string, length: number = CELL, bytes: number = 3 * length): string {
  let shown = 0;
  for (let left = bytes; shown < text.length && left >= 0; shown++) left -= bytesOf(text.charAt(shown));
  if (shown === text.length && shown <= length) return text;
  // Half of a surrogate pair is no character.
  return `${text.slice(0, Math.min(shown, length) - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Without the scheme, to save space. */
export const shortUrl = (url: string): string => clipped(withoutPassword(url).replace(/^https?:\/\//, ""));

/** The style hides it until the script runs, since it needs the script. */
export const copyButton = (what: string, from: { readonly text: string } | { readonly id: string }): Page =>
  html`<button
    type="button"
    class="copy"
    ${"text" in from ? html`data-copy="${from.text}"` : html`data-copy-from="${from.id}"`}
    aria-label="Copy ${what}"
  >
    Copy
  </button>`;

/** A short text in the type of code, with a button that copies it; `shown` is its start, if it is too long. */
export const copyable = (what: string, text: string, shown = text): Page =>
  html`<span class="mono">${shown}</span> ${copyButton(what, { text })}`;

interface Block {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** Where the whole text is, if the block shows only its start. */
  readonly whole?: string;
}

/** A titled text that can be copied. */
export function block({ id, title, text, whole }: Block): Page {
  const shown = clipped(text, BLOCK, 2 * BLOCK);
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

/** A block that is folded at first. */
export const foldedBlock = (parts: Block, summary: string): Page =>
  html`<details id="fold-${parts.id}">
    <summary>${summary}</summary>
    ${block(parts)}
  </details>`;

/** A part of a detail, which its title names; the parts of a page have different ids. */
export const panel = (id: string, title: string, content: Page, beside: Page | "" = ""): Page =>
  html`<section class="panel" id="${id}" aria-labelledby="${id}-title">
    <div class="list-row">
      <h2 id="${id}-title">${title}</h2>
      ${beside}
    </div>
    ${content}
  </section>`;

export interface Column<Row> {
  readonly title: string;
  /** `wide` and `medium` columns are left out on narrower screens; `number` aligns to the right. */
  readonly kind?: string;
  /** A dash stands for nothing. */
  readonly cell: (row: Row, view: View) => Page | string | false | undefined;
}

/** What a table shows of its rows. */
export interface Listing<Row> {
  readonly caption: string;
  readonly id: (row: Row) => string;
  readonly columns: readonly Column<Row>[];
}

/** The words of `text` are marked in the rows. */
export const table = <Row>(
  view: View,
  { caption, id, columns }: Listing<Row>,
  rows: readonly Row[],
  text = "",
): Page => {
  const show = marker(text);
  return html`<table class="list">
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
            ${columns.map(({ kind = "", cell }) => html`<td class="${kind}">${show(cell(row, view) || NOTHING)}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
};

const NOTHING = html`<span class="quiet">–</span>`;

/** What a search does not look through: times, tags and escaped characters. */
const UNSEARCHED = String.raw`<time[^]*?<\/time>|<[^>]*>|&#?\w+;`;

/** Marks the words of a search in the content of a cell; in an amount, there may be commas between the digits. */
function marker(text: string): (content: Page | string) => Page | string {
  const words = searchWords(text);
  if (words.length === 0) return (content) => content;
  const pattern = Promise.all(words.map(patternOf)).then(
    (patterns) => new RegExp(`(${patterns.join("|")})|${UNSEARCHED}`, "gi"),
  );
  return async (content) =>
    raw(
      (await escaped(content)).replace(await pattern, (found, word) =>
        word === undefined ? found : `<mark>${found}</mark>`,
      ),
    );
}

async function patternOf(word: string): Promise<string> {
  const characters = Array.from(await escaped(word), (one) => one.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&"));
  return characters.join(/^[\d.]+$/.test(word) ? ",?" : "");
}

/** Text as a template escapes it, and a page as it is. */
const escaped = async (content: Page | string): Promise<string> => String(await html`${content}`);

/** The most headers that are shown, and the longest value. */
const HEADERS = 20;
const HEADER_VALUE = 400;

/** Each row has an id by its place, and the class that `classOf` gives it. */
export const headerTable = (
  caption: string,
  headers: readonly HeaderLine[],
  classOf: (at: number) => string | undefined = () => undefined,
): Page =>
  headers.length === 0
    ? html`<p class="hint">No headers.</p>`
    : html`<table class="headers">
        <caption>
          ${caption}${headers.length > HEADERS ? `: the first ${HEADERS} of ${headers.length}` : ""}
        </caption>
        <tbody>
          ${headers.slice(0, HEADERS).map(
            ([name, value], at) =>
              html`<tr id="header-${at}" class="${classOf(at) ?? ""}">
                <th scope="row">${clipped(name)}</th>
                <td>${clipped(value, HEADER_VALUE, HEADER_VALUE)}</td>
              </tr>`,
          )}
        </tbody>
      </table>`;

export const amountOf = (record: TransactionRecord): string => {
  const amount = amountIn(record, "amountTrans");
  return amount !== undefined ? groupedAmount(amount, textOf(record, "transCurrencyCode") ?? "") : "";
};

/** What a payment, and a webhook about it, is called. */
export const referenceOf = (record: TransactionRecord, uti: string): string =>
  clipped(textOf(record, "reference") ?? uti);

export const outcomeText = (record: TransactionRecord): string => outcomeName(outcomeOf(record));

/** The record in a webhook's body; empty if the body is not a JSON object. */
export function recordOf({ body }: Delivery): TransactionRecord {
  return parseJsonObject(new TextDecoder().decode(body)) ?? {};
}

/** When the payment was made, by the sandbox's clock. */
export const paidAt = (record: TransactionRecord): Date | undefined =>
  parseInstant(textOf(record, "transDateTime") ?? "");

/** The receiver's status, or one word that says why it is missing. */
export function statusText({ status, duration }: Attempt): string {
  if (status !== null) return String(status);
  return duration === null ? "not sent" : "no answer";
}

export const linkTitle = ({ id, request }: Link): string => request.description ?? request.invoiceId ?? id;

/** What a customer pays through the link. */
export function priceOf(link: Link): string {
  const { amount, currency } = link.request;
  if (!isReusable(link)) return groupedAmount(amount, currency);
  return signOf(amount) === 0
    ? `${currency.toUpperCase()}, any amount`
    : `${groupedAmount(amount, currency)}, reusable`;
}
