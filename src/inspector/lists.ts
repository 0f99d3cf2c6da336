/** The pages with lists: what was received, what waits and failed, and what a search finds. */
import { html } from "hono/html";
import type { EventStore } from "../store/event-store.ts";
import { address, askedAction, copyable, panel } from "../pages/components.ts";
import { describedPart } from "../pages/exchange.ts";
import { chips, emptyList, freshButton, olderLink, table } from "../pages/lists.ts";
import type { Page } from "../pages/page.ts";
import { situationSentence, statsSentence } from "../render/stats.ts";
import { COUNTED, countText, inspectorPage, isApart, type View } from "./frame.ts";
import { type EventRow, ROWS, SHOWN, withAttempts } from "./rows.ts";

/** The most rows of a page. */
const ROWS_SHOWN = 50;

type Shown = keyof typeof SHOWN;

const isShown = (state: string): state is Shown => Object.hasOwn(SHOWN, state);

/** `advice` is the command that makes a first webhook. */
export async function eventsPage(
  view: View,
  store: EventStore,
  asked: Readonly<Record<string, string>>,
  advice: string,
): Promise<Page> {
  const { state = "", before, text = "" } = asked;
  const show = isShown(state) ? SHOWN[state] : undefined;
  const found =
    text === "" ? await store.page({ show, before, limit: ROWS_SHOWN + 1 }) : await store.find(text.trim());
  const rows = await withAttempts(store, found.slice(0, ROWS_SHOWN));
  const next = found.length > ROWS_SHOWN ? rows.at(-1)?.stored.id : undefined;
  const counts: Readonly<Record<string, number>> = { waiting: view.waiting, failed: view.failed };
  const apart = rows.filter(({ stored }) => stored.type === "event" && isApart(view, stored));
  const shown = rows.filter((row) => !apart.includes(row));
  return inspectorPage(view, {
    title: text === "" ? "Events" : "Search",
    tab: "/",
    text,
    content: html`<div class="filters">
        ${chips(
          "Filter events",
          show === undefined ? "" : state,
          ["", ...Object.keys(SHOWN)].map((one) => ({
            state: one,
            href: address("/", { state: one }),
            count: counts[one] ? countText(counts[one]) : undefined,
          })),
        )}
      </div>
      <section class="panel" id="list" aria-label="Events">
        ${rows.length > 0 ? table(view.now, ROWS, shown) : nothing(text === "" ? state : "search", advice)}
        ${olderLink(
          next === undefined ? undefined : address("/", { state, before: next }),
          before === undefined ? undefined : address("/", { state }),
        )}
      </section>
      ${apart.length === 0 ? "" : panel("other-keys", "Of another key: this run sends none of these", table(view.now, ROWS, apart))}
      ${freshButton}`,
  });
}

const NONE: Readonly<Record<string, string>> = {
  waiting: "No event waits.",
  failed: "No event has failed.",
  forwarded: "No event was forwarded.",
  skipped: "No event was skipped.",
  rejected: "No webhook was rejected.",
  search: "No event has this order number, or a uti or id that begins with it.",
};

const nothing = (state: string, advice: string): Page =>
  state === ""
    ? emptyList(
        "Waiting for the first webhook",
        "It appears here by itself. To make one, with paylink listen running:",
        html`<p>${copyable("the command that makes a webhook", advice)}</p>`,
      )
    : emptyList(NONE[state] ?? "No event matches.", "", html`<a class="button" href="/">Show all events</a>`);

export async function queuePage(view: View, store: EventStore): Promise<Page> {
  const [stats, failed, waiting] = await Promise.all([
    store.stats(view.now, view.now, COUNTED),
    store
      .page({ show: "failed", keys: view.keys, limit: ROWS_SHOWN })
      .then((found) => withAttempts(store, found)),
    store
      .page({ show: "pending", nextFirst: true, keys: view.keys, limit: ROWS_SHOWN })
      .then((found) => withAttempts(store, found)),
  ]);
  const lost = [...waiting, ...failed].flatMap(({ attempt }) => attempt ?? []);
  const [words, all] = [situationSentence(stats, lost, view.now), statsSentence(stats, view.now)];
  return inspectorPage(view, {
    title: "Queue",
    tab: "/queue",
    actions: view.keys === undefined || view.waiting + view.failed === 0 ? "" : retryAll(view),
    content: html`<section class="panel" id="summary" aria-label="Summary">
        ${describedPart({
          kind: view.failed > 0 ? "bad" : view.waiting > 0 ? "waiting" : "good",
          words,
          reason: stats.keys.some(({ overdue }) => overdue > UNCLAIMED) ? NO_RECEIVER : undefined,
          advice: all === words ? undefined : all,
        })}
      </section>
      ${queuePanel(view, "failed", "Failed: not retried automatically", failed, view.failed)}
      ${queuePanel(view, "waiting", "Waiting, next attempt first", waiting, view.waiting)}`,
  });
}

/** Milliseconds after which something due that nobody has claimed means that no receiver forwards. */
const UNCLAIMED = 60_000;
const NO_RECEIVER = "No receiver forwards these: start paylink listen --ack stored --forward-to <target>";

function queuePanel(
  view: View,
  state: Shown,
  title: string,
  rows: readonly EventRow[],
  count: number,
): Page | "" {
  if (rows.length === 0) return "";
  const all = html`<a href="${address("/", { state })}">Show all ${countText(count)}</a>`;
  return panel(state, title, table(view.now, ROWS, rows), count > rows.length ? all : "");
}

function retryAll(view: View): Page {
  const total = view.waiting + view.failed;
  const what = `${countText(total)} ${total === 1 ? "event" : "events"}`;
  return askedAction({
    id: "retry-all",
    button: "Retry all…",
    title: `Retry ${what} now?`,
    text: "They go out at most 8 at a time.",
    confirm: `Retry ${what}`,
    action: "/retry-all",
    back: view.here,
  });
}
