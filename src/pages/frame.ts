/** The frame of pages that people work with: search and connection, tabs, what an action has done, and the content. */
import { html } from "hono/html";
import { searchBox, type SearchBox } from "./components.ts";
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

interface WorkFrame extends Omit<Frame, "content" | "now"> {
  readonly view: WorkView;
  /** What an action has done. The script takes it out of the address, so that it is told once. */
  readonly notices: Notices;
  readonly brand: Page | string;
  readonly search: SearchBox;
  readonly tabs: readonly Tab[];
  /** The address of the current tab. */
  readonly current: string | undefined;
  /** Beside the tabs. */
  readonly beside: Page;
  readonly content: Page;
  /** The part of the page that the first link skips to; by default, all that is not the head. */
  readonly skipTo?: string | undefined;
  /** Whether the content follows what happens; the head always does. */
  readonly live: boolean;
}

export function workPage({
  view: { now, here, done },
  notices,
  brand,
  search,
  tabs,
  current,
  beside,
  content,
  live,
  skipTo = "main",
  ...frame
}: WorkFrame): Page {
  const notice = done === undefined ? undefined : noticeOf(done, notices);
  return page({
    ...frame,
    now,
    content: html`<a class="skip" href="#${skipTo}">Skip to ${skipTo === "main" ? "content" : "the list"}</a>
      <section class="head" aria-label="Head">
        <div class="head-row">
          <p class="brand" dir="auto"><a href="/">${brand}</a></p>
          ${searchBox(search)}
          <div class="status">
            <p id="connection" class="connection" role="status">Reload to update</p>
          </div>
        </div>
        <div class="head-row">
          <nav id="tabs" class="tabs" aria-label="Lists" data-live>
            <ul>
              ${tabs.map(
                ({ href, title, more = "" }) =>
                  html`<li>
                    <a href="${href}" ${href === current ? html`aria-current="page"` : ""}>${title}${more}</a>
                  </li>`,
              )}
            </ul>
          </nav>
          ${beside}
        </div>
      </section>
      <main id="main" tabindex="-1">
        ${notice === undefined ? "" : html`<p class="notice" role="status">${notice}</p>`}
        <div id="content" data-page="${here}" ${live ? "data-live" : ""}>${content}</div>
      </main>`,
  });
}

/** A count beside a tab; on narrow screens its word is heard, not seen. */
export const count = (text: string, kind: "failed" | "waiting"): Page =>
  html` <span class="count ${kind}">${text}<span class="word"> ${kind}</span></span>`;
