/** The frame of the dashboard's pages: search, tabs with counts, the clock, the signing key and the connection. */
import { html } from "hono/html";
import { LISTENER_URL } from "../../domain/addresses.ts";
import { capitalized } from "../../domain/payment-link-fields.ts";
import { page, type Page } from "../page.ts";
import {
  actionForm,
  address,
  badge,
  clipped,
  keyField,
  minuteTime,
  momentOf,
  pageAddress,
  type View,
} from "./parts.ts";

export type Tab = "deliveries" | "payments" | "links" | "requests";

export interface DashboardPage {
  readonly title: string;
  readonly content: Page;
  readonly tab?: Tab;
  /** Added to the address that the script reads again at each change; without it, only the frame is kept up to date. */
  readonly live?: Readonly<Record<string, string>>;
  /** Milliseconds after which the script reads the page again without a change: fewer while a time on it counts in seconds. */
  readonly refresh?: number | undefined;
  /** The same while the top of the page's list is out of sight. */
  readonly pinned?: Readonly<Record<string, string>>;
  /** The text that was searched for. */
  readonly text?: string;
  /** Whether the page shows a refused form, which no change may replace. */
  readonly invalid?: boolean;
}

export const dashboardPage = (
  view: View,
  { title, content, tab, live, pinned = live, refresh = 60_000, text = "", invalid = false }: DashboardPage,
): Page =>
  page({
    kind: "dashboard",
    invalid,
    title: `${title} – ${view.merchantName} sandbox`,
    content: html`<a class="skip" href="#main">Skip to content</a>
      <section class="head" aria-label="Dashboard">
        <div class="head-row">
          <p class="brand" dir="auto"><a href="${address(view, "/")}">${clipped(view.merchantName)}</a></p>
          ${searchBox(view, { id: "search", action: "/search", label: "Search links, payments and deliveries", placeholder: "Amount, customer, reference, status or id", text })}
          <p id="connection" class="connection" role="status">Not live: reload to update</p>
        </div>
        <div class="head-row">
          ${tabs(view, tab)}
          <div id="controls" class="controls" data-live>${clock(view)} ${signingKey(view)}</div>
        </div>
      </section>
      <main id="main" tabindex="-1">
        ${notice(view.done)} ${view.key === undefined ? readOnlyNotice : ""}
        <div
          id="content"
          data-page="${pageAddress(view, view.here, live)}"
          data-pinned="${pageAddress(view, view.here, pinned)}"
          data-refresh="${refresh}"
          ${live === undefined || invalid ? "" : "data-live"}
        >
          ${content}
        </div>
      </main>
      <footer class="keys" aria-label="Keys">
        <kbd>/</kbd> or <kbd>Ctrl K</kbd> search · <kbd>j</kbd> <kbd>k</kbd> next and previous row ·
        <kbd>Enter</kbd> open
      </footer>`,
  });

interface SearchBox {
  readonly id: "search" | "filter";
  readonly action: string;
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  /** The filter that stays. */
  readonly state?: string;
}

export const searchBox = (
  view: View,
  { id, action, label, placeholder, text, state = "" }: SearchBox,
): Page =>
  html`<form class="${id}" method="get" action="${action}" ${id === "search" ? html`role="search"` : ""}>
    ${keyField(view)} ${state === "" ? "" : html`<input type="hidden" name="state" value="${state}" />`}
    <label class="hidden" for="${id}">${label}</label>
    <input id="${id}" name="text" type="search" value="${text}" placeholder="${placeholder}" dir="auto" />
    <button>${capitalized(id)}</button>
  </form>`;

function tabs(view: View, current: Tab | undefined): Page {
  const { deliveries, payments, links, failed } = view.counts;
  const tab = (name: Tab, title: string, count: number, more: Page | string = ""): Page =>
    html`<li>
      <a href="${address(view, `/${name}`)}" ${name === current ? html`aria-current="page"` : ""}
        >${title} <span class="count">${count.toLocaleString("en-US")}</span>${more}</a
      >
    </li>`;
  return html`<nav id="tabs" class="tabs" aria-label="Lists" data-live>
    <ul>
      ${tab("deliveries", "Deliveries", deliveries, failed === 0 ? "" : html` <span class="count failed">${failed.toLocaleString("en-US")}<span class="word"> failed</span></span>`)}
      ${tab("payments", "Payments", payments)} ${tab("links", "Links", links)}
      ${tab("requests", "Requests", view.requests.count())}
    </ul>
  </nav>`;
}

const clock = (view: View): Page =>
  html`<div class="control">
    <a href="${address(view, "/clock")}">Clock</a>
    ${momentOf(view.now, minuteTime(view.now))} ${view.clock === "running" ? "" : badge(view.clock)}
    ${actionForm(
      view,
      "/sandbox/advance",
      html`<button name="when" value="1h">+1 h<span class="hidden"> on the clock</span></button>
        <button name="when" value="1d">+1 d<span class="hidden"> on the clock</span></button>`,
    )}
  </div>`;

const signingKey = (view: View): Page =>
  html`<div class="control">
    <span class="control-name">Signing key</span> <span class="mono">${clipped(view.keyid)}</span>
    ${
      view.key === undefined
        ? ""
        : html`<button popovertarget="rotate">Rotate…</button> ${confirmation(view, {
              id: "rotate",
              title: "Rotate the signing key?",
              text: "Webhooks will be signed with a new key. The old key stays published for a day.",
              action: "/sandbox/rotate-key",
              button: "Rotate key",
            })}`
    }
  </div>`;

interface Confirmation {
  /** The target of the button that opens it. */
  readonly id: string;
  readonly title: string;
  /** What the action is about. */
  readonly subject?: string;
  readonly text: string;
  readonly action: string;
  readonly button: string;
}

/** Asks before an action that cannot be undone. A popover needs no script. */
export const confirmation = (view: View, { id, title, subject, text, action, button }: Confirmation): Page =>
  html`<dialog popover id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    ${subject === undefined ? "" : html`<p dir="auto"><b>${subject}</b></p>`}
    <p>${text}</p>
    <div class="actions">
      <button type="button" popovertarget="${id}" popovertargetaction="hide" autofocus>Go back</button>
      ${actionForm(view, action, html`<button class="danger">${button}</button>`)}
    </div>
  </dialog>`;

/** What the action that led to this page did. It is shown once: no reload and no change repeats it. */
const DONE = new Map([
  ["advanced", "The clock was moved forward."],
  ["cancelled", "The link was cancelled. It can no longer be paid."],
  ["created", "The link was created."],
  ["paid", "The payment was made. No money moved."],
  ["resent", "A new attempt has started."],
  ["resent-all", "A new attempt of each failed delivery has started."],
  ["sampled", `A sample link was created and paid. No money moved. Its webhook is sent to ${LISTENER_URL}.`],
  ["tampered", "A tampered attempt has started. Your application must refuse it."],
  ["rotated", "Webhooks are now signed with a new key. The old key stays published for a day."],
]);

function notice(done: string | undefined): Page | "" {
  const text = DONE.get(done ?? "");
  return text === undefined ? "" : html`<p class="notice" role="status">${text}</p>`;
}

const readOnlyNotice = html`<p class="notice">
  This page is read-only. To create links, cancel them or resend webhooks, open the dashboard address that
  <code>paylink sandbox</code> prints.
</p>`;

export const notFoundPage = (view: View, what: string): Page =>
  dashboardPage(view, {
    title: "Not found",
    content: html`<section class="panel">
      <h1>Not found</h1>
      <p>
        The sandbox has no ${what} with this id. It may have been restarted with <code>--reset</code> or
        another <code>--db</code>.
      </p>
      <a class="button" href="${address(view, "/deliveries")}">All deliveries</a>
    </section>`,
  });
