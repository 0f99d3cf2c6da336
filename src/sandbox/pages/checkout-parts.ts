/** What the checkout's pages share: amounts, times, long texts and lists of facts. */
import { html } from "hono/html";
import { type Amount, groupedAmount } from "../../domain/money.ts";
import type { Page } from "./page-frame.ts";

/** A name inside a sentence: its direction of writing does not change that of the sentence. */
export const name = (text: string): Page => html`<bdi>${text}</bdi>`;

/** The longest amount in large type. */
const LARGE = 16;

export function amountText(amount: Amount, currency: string): Page {
  const text = groupedAmount(amount, currency);
  return html`<p class="amount ${text.length > LARGE ? "long" : ""}">${text}</p>`;
}

const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

/** `31 January 2026 at 12:00 UTC` */
export const moment = (date: Date): Page =>
  html`<time datetime="${date.toISOString()}">${DATE.format(date)} UTC</time>`;

/** Characters of a text that are shown at first. */
const EXCERPT = 160;

/** A text that opens in full on demand, without a script, if it is long. */
export function excerpt(text: string): Page {
  const characters = [...text];
  if (characters.length <= EXCERPT) return html`<p dir="auto">${text}</p>`;
  const start = characters.slice(0, EXCERPT).join("");
  return html`<p dir="auto" class="excerpt">${start.replace(/[\s,;:.]+\S{0,20}$/, "")}…</p>
    <details class="whole">
      <summary>more</summary>
      <p dir="auto">${text}</p>
    </details>`;
}

type Fact = readonly [term: string, value: Page | string | undefined];

/** Facts without a value are left out. */
export const facts = (list: readonly Fact[]): Page =>
  html`<dl class="facts">
    ${list.map(([term, value]) =>
      value === undefined || value === ""
        ? ""
        : html`<div>
            <dt>${term}</dt>
            <dd dir="auto">${value}</dd>
          </div>`,
    )}
  </dl>`;
