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

interface WorkFrame extends Omit<Frame, "content"> {
  readonly brand: Page | string;
  readonly search: SearchBox;
  readonly tabs: readonly Tab[];
  /** The address of the current tab. */
  readonly current: string | undefined;
  /** Beside the tabs. */
  readonly beside: Page;
  /** How much has failed, of which the browser can notify; undefined where it does not. */
  readonly failed?: number;
  /** What an action has done. The script takes it out of the address, so that it is told once. */
  readonly done: string | undefined;
  readonly content: Page;
  /** The part of the page that the first link skips to; by default, all that is not the head. */
  readonly skipTo?: string | undefined;
  /** The address that the script reads again. */
  readonly here: string;
  /** Whether the content follows what happens; the head always does. */
  readonly live: boolean;
}

export const workPage = ({
  brand,
  search,
  tabs,
  current,
  beside,
  failed,
  done,
  content,
  here,
  live,
  skipTo = "main",
  ...frame
}: WorkFrame): Page =>
  page({
    ...frame,
    content: html`<a class="skip" href="#${skipTo}">Skip to ${skipTo === "main" ? "content" : "the list"}</a>
      <section class="head" aria-label="Head">
        <div class="head-row">
          <p class="brand" dir="auto"><a href="/">${brand}</a></p>
          ${searchBox(search)}
          <div class="status">
            <p id="connection" class="connection" role="status">Not live: reload to update</p>
            ${
              failed === undefined
                ? ""
                : html`<button type="button" id="notify" aria-pressed="false" hidden>
                    Notify of failures
                  </button>`
            }
          </div>
        </div>
        <div class="head-row">
          <nav
            id="tabs"
            class="tabs"
            aria-label="Lists"
            data-live
            ${failed === undefined ? "" : html`data-failed="${failed}"`}
          >
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
        ${done === undefined ? "" : html`<p class="notice" role="status">${done}</p>`}
        <div id="content" data-page="${here}" ${live ? "data-live" : ""}>${content}</div>
      </main>`,
  });

/** A count beside a tab; on narrow screens its word is heard, not seen. */
export const count = (text: string, kind: "failed" | "waiting"): Page =>
  html` <span class="count ${kind}">${text}<span class="word"> ${kind}</span></span>`;
