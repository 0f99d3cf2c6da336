/** The frame of pages that people work with: search and connection, tabs, what an action has done, the heading and the parts. */
import { html } from "hono/html";
import { badge, searchBox, type SearchBox } from "./components.ts";
import { page, type Frame, type Page } from "./page.ts";

export interface Tab {
  readonly href: string;
  readonly title: string;
  /** Beside the title, such as a count. */
  readonly more?: Page | "";
}

/** What each page of a site is about. */
export interface WorkView {
  readonly now: Date;
  /** The path and query of this page: actions return to it, and the script reads it again. */
  readonly here: string;
  /** The action that led to this page, with the number of what it was done to, if that is told: `retry-3`. */
  readonly done: string | undefined;
}

/** What is said of an action. */
export type Notice = string | ((count: number | undefined) => string);
export type Notices = ReadonlyMap<string, Notice>;

function noticeOf(done: string, notices: Notices): string | undefined {
  const [, name = done, number] = /^(.*)-(\d{1,7})$/.exec(done) ?? [];
  const notice = notices.get(name);
  return typeof notice === "function" ? notice(number === undefined ? undefined : Number(number)) : notice;
}

/** What the pages of a site have in common. */
export interface Site extends Pick<Frame, "kind" | "poll" | "banner"> {
  /** The title of the window. */
  readonly titled: (title: string) => string;
  readonly brand: Page | string;
  readonly search: Omit<SearchBox, "text">;
  readonly tabs: readonly Tab[];
  /** Beside the tabs. */
  readonly beside: Page;
  /** What an action has done. The script takes it out of the address, so that it is told once. */
  readonly notices: Notices;
}

/** What differs between the pages of a site. */
export interface WorkPage {
  readonly title: string;
  /** Above the content, if that is not the title. */
  readonly heading?: Page | string;
  /** Of what the page is about. */
  readonly state?: string;
  /** What can be done. */
  readonly actions?: Page | "" | undefined;
  readonly content: Page;
  /** The address of the current tab. */
  readonly tab?: string;
  /** The text that was searched for. */
  readonly text?: string;
  /** The part of the page that the first link skips to; by default, all that is not the head. */
  readonly skipTo?: string;
  /** Whether the content follows what happens; the head always does. */
  readonly live?: boolean;
  /** Whether the page shows a refused form, which no change may replace. */
  readonly invalid?: boolean;
}

export function workPage(
  { titled, brand, search, tabs, beside, notices, ...site }: Site,
  { now, here, done }: WorkView,
  shown: WorkPage,
): Page {
  const { title, heading = title, state, actions = "", content, text = "", skipTo = "main" } = shown;
  const { live = true, invalid = false } = shown;
  const notice = done === undefined ? undefined : noticeOf(done, notices);
  return page({
    ...site,
    now,
    invalid,
    title: titled(title),
    content: html`<a class="skip" href="#${skipTo}">Skip to ${skipTo === "main" ? "content" : "the list"}</a>
      <section class="head" aria-label="Head">
        <div class="head-row">
          <p class="brand" dir="auto"><a href="/">${brand}</a></p>
          ${searchBox({ ...search, text })}
          <div class="status">
            <p id="connection" class="connection" role="status">Reload to update</p>
          </div>
        </div>
        <div class="head-row">
          <nav id="tabs" class="tabs" aria-label="Lists" data-live>
            <ul>
              ${tabs.map(
                ({ href, title: name, more = "" }) =>
                  html`<li>
                    <a href="${href}" ${href === shown.tab ? html`aria-current="page"` : ""}
                      >${name}${more}</a
                    >
                  </li>`,
              )}
            </ul>
          </nav>
          ${beside}
        </div>
      </section>
      <main id="main" tabindex="-1">
        ${notice === undefined ? "" : html`<p class="notice" role="status">${notice}</p>`}
        <div id="content" data-page="${here}" ${live && !invalid ? "data-live" : ""}>
          <div class="title-row">
            <h1>
              <bdi>${heading}</bdi> <span id="title-state">${state === undefined ? "" : badge(state)}</span>
            </h1>
            <div class="actions">${actions}</div>
          </div>
          ${content}
        </div>
      </main>`,
  });
}

/** The content of a page about one thing: what matters most, its parts, and beside them what led to it. */
export const detailContent = (summary: Page, parts: readonly (Page | "")[], aside: Page | "" = ""): Page =>
  html`<div class="detail">
    <section class="panel" id="summary" aria-label="Summary">${summary}</section>
    ${aside === "" ? "" : html`<div class="detail-aside">${aside}</div>`}
    <div class="detail-main">${parts}</div>
  </div>`;

/** The page of an address at which there is nothing; `way` leads to where there is something. */
export const notFoundContent = (why: Page | string, way: Page): Page =>
  html`<section class="panel">
    <p>${why}</p>
    <p>${way}</p>
  </section>`;

/** A count beside a tab; on narrow screens its word is heard, not seen. */
export const count = (text: string, kind: "failed" | "pending"): Page =>
  html` <span class="count ${kind}">${text}<span class="word"> ${kind}</span></span>`;
