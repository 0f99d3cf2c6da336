/** What every page of the inspector shows: its head with search, store and connection, the tabs, and what an action has done. */
import { plural, formatCount } from "../values/plural.ts";
import { html } from "hono/html";
import { clipped } from "../pages/components.ts";
import {
  count,
  notFoundContent,
  type Notice,
  type Notices,
  workPage,
  type WorkPage,
  type WorkView,
} from "../pages/frame.ts";
import type { Page } from "../pages/page.ts";
import type { Named } from "../render/hint.ts";
import type { RunKeys } from "../events/event.ts";

export interface InspectorView extends WorkView {
  readonly profile: string | undefined;
  /** What commands on the pages carry. */
  readonly named: Named;
  /** The file, or the URL of the database without its password. */
  readonly place: string;
  /** The keys of this run, whose events it acts on; undefined without one, when it shows those of every key alike. */
  readonly keys: RunKeys | undefined;
  /** Events of these keys that wait or failed, each counted up to `COUNT_LIMIT`. */
  readonly pending: number;
  readonly failed: number;
  /** Where events are sent again, unless a person names another target; "" for none. */
  readonly target: string;
}

/** Events that wait or failed are counted up to this number. */
export const COUNT_LIMIT = 1_000;

/** Whether the event is listed separately, because a key that this run does not have verified it. Without any key, no event is. */
export const isApart = ({ keys }: InspectorView, { key }: { readonly key: string }): boolean =>
  keys !== undefined && !keys.includes(key);

/** Whether this run may send the event. */
export const isOwn = ({ keys = [] }: InspectorView, { key }: { readonly key: string }): boolean =>
  keys.includes(key);

export const countText = (count: number): string =>
  count >= COUNT_LIMIT ? `${formatCount(COUNT_LIMIT)}+` : String(count);

/** Milliseconds between two readings of an open page. */
const INSPECTOR_POLL = 2_000;

export const inspectorPage = (view: InspectorView, page: WorkPage): Page =>
  workPage(
    {
      kind: "inspector",
      poll: INSPECTOR_POLL,
      titled: (title) =>
        `${view.failed === 0 ? "" : `(${countText(view.failed)} failed) `}${title} – paylink inspect`,
      brand: "paylink inspect",
      search: {
        action: "/",
        label: "Search events",
        placeholder: "Order, uti, amount, card, status, reason",
      },
      tabs: [
        { href: "/", title: "Events" },
        {
          href: "/queue",
          title: "Queue",
          more: html`${view.pending === 0 ? "" : count(countText(view.pending), "pending")}${view.failed === 0 ? "" : count(countText(view.failed), "failed")}`,
        },
      ],
      beside: html`<p class="store mono" dir="auto">
        ${view.profile === undefined ? "" : html`profile ${clipped(view.profile)} · `}${clipped(view.place, 80)}
      </p>`,
      notices: NOTICES,
    },
    view,
    page,
  );

/** What an action has done, or why it has changed nothing. */
const NOTICES: Notices = new Map<string, Notice>([
  [
    "retry",
    (count) =>
      count === undefined
        ? "The event is due now: a running listen --ack stored forwards it."
        : `${plural(count, "event is", "events are")} due now.`,
  ],
  ["busy", "Nothing changed: the event is already due, is being forwarded now, or was delivered."],
  ["skip", "The event will not be forwarded. Retry undoes this."],
  ["other-key", "Nothing was sent: the event was verified with a key that this run does not have."],
  ["accepted", "The webhook verified, and is now an event."],
  ["refused", "Nothing changed: the webhook does not verify with the key that is configured now."],
  ["target", "Nothing was sent: the target must be a port, host:port/path, an http(s) URL or a broker."],
  ["sent", "The webhook was sent again, and your application accepted it."],
  ["unsent", "The webhook was sent again, and was not accepted: see the newest attempt."],
]);

export const eventNotFoundPage = (view: InspectorView): Page =>
  inspectorPage(view, {
    title: "Not found",
    content: notFoundContent(
      "The store has no such event. It may have been pruned.",
      html`<a class="button" href="/">All events</a>`,
    ),
  });
