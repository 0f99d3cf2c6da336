/** The page of what waits and failed: why, since when, for which money, and when each target is tried next. */
import { wordFor } from "../values/plural.ts";
import { html } from "hono/html";
import type { EventStore } from "../store/event-store.ts";
import type { TargetAnswer } from "../store/targets.ts";
import { address, askedAction, clipped, countdown, panel } from "../pages/components.ts";
import { describedPart } from "../pages/exchange.ts";
import { detailContent } from "../pages/frame.ts";
import { type Listing, table } from "../pages/lists.ts";
import type { Page } from "../pages/page.ts";
import { isUnclaimed } from "../events/event.ts";
import { situationSentence, statsSentence } from "../render/stats.ts";
import { COUNT_LIMIT, countText, inspectorPage, type InspectorView } from "./frame.ts";
import { EVENT_LISTING, type EventRow, ROWS_SHOWN, withAttempts } from "./rows.ts";

export async function queuePage(view: InspectorView, store: EventStore): Promise<Page> {
  const [stats, targets, failed, pending] = await Promise.all([
    store.stats(view.now, view.now, COUNT_LIMIT),
    store.targets(COUNT_LIMIT, view.keys),
    store
      .list({ state: "failed", keys: view.keys }, { limit: ROWS_SHOWN })
      .then((found) => withAttempts(store, found)),
    store.waiting(ROWS_SHOWN, view.keys).then((found) => withAttempts(store, found)),
  ]);
  const answers = targets.map((one) => ({ ...one, count: one.waiting + one.failed }));
  const [words, all] = [situationSentence(stats, answers, view.now), statsSentence(stats, view.now)];
  return inspectorPage(view, {
    title: "Queue",
    tab: "/queue",
    actions: view.keys === undefined || view.pending + view.failed === 0 ? "" : retryAll(view),
    content: detailContent(
      describedPart({
        kind: view.failed > 0 ? "bad" : view.pending > 0 ? "waiting" : "good",
        words,
        reason: stats.keys.some(({ overdue }) => isUnclaimed(overdue, stats.lastAttempt, view.now))
          ? NOT_FORWARDED
          : undefined,
        advice: all === words ? undefined : all,
      }),
      [
        targetsPanel(view, targets),
        queuePanel(view, "failed", "Failed: paylink does not retry these on its own", failed, view.failed),
        queuePanel(view, "pending", "Pending, next attempt first", pending, view.pending),
      ],
    ),
  });
}

const NOT_FORWARDED =
  "Nothing was forwarded in the last minute: either their target has asked for a pause, or no receiver is running. To start one: paylink listen --ack stored --forward-to <target>";

function queuePanel(
  view: InspectorView,
  state: "failed" | "pending",
  title: string,
  rows: readonly EventRow[],
  count: number,
): Page | "" {
  if (rows.length === 0) return "";
  const all = html`<a href="${address("/", { state })}">Show all ${countText(count)}</a>`;
  return panel(state, title, table(view, EVENT_LISTING, rows), count > rows.length ? all : "");
}

function retryAll(view: InspectorView): Page {
  const total = view.pending + view.failed;
  const what = `${countText(total)} ${wordFor(total, "event", "events")}`;
  return askedAction({
    id: "retry-all",
    button: "Retry all…",
    title: `Retry ${what} now?`,
    text: "They are due then: a running listen --ack stored forwards them.",
    confirm: `Retry ${what}`,
    action: "/retry-all",
    back: view.here,
  });
}

/** A target of events that wait or failed. */
interface TargetRow {
  /** Null for events that were not attempted yet. */
  readonly target: string | null;
  readonly answers: readonly TargetAnswer[];
}

function targetsPanel(view: InspectorView, answers: readonly TargetAnswer[]): Page | "" {
  if (answers.length === 0) return "";
  const rows = [...new Set(answers.map(({ target }) => target))].map((target) => ({
    target,
    answers: answers.filter((answer) => answer.target === target),
  }));
  return panel("targets", "Targets", table(view, TARGET_LISTING, rows));
}

const TARGET_LISTING: Listing<TargetRow, InspectorView> = {
  caption: "Targets of the events that wait or failed",
  id: ({ target }) => target ?? "",
  columns: [
    {
      title: "Target",
      kind: "main",
      cell: ({ target }) => (target === null ? "Not attempted yet" : html`<bdi>${clipped(target)}</bdi>`),
    },
    {
      title: "Events",
      cell: (row) => `${answersOfState(row, "waiting")} pending, ${answersOfState(row, "failed")} failed`,
    },
    { title: "Last answers", cell: (row) => row.target !== null && answersText(row) },
    { title: "Next attempt", cell: (row, { now }) => nextAttempt(row, now) },
  ],
};

const answersOfState = ({ answers }: TargetRow, state: "waiting" | "failed"): string =>
  countText(answers.reduce((sum, answer) => sum + answer[state], 0));

/** "500 (12), none (3)", the most frequent first. */
function answersText({ answers }: TargetRow): string {
  const counts = new Map<string, number>();
  for (const { status, waiting, failed } of answers) {
    const name = String(status ?? "none");
    counts.set(name, (counts.get(name) ?? 0) + waiting + failed);
  }
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
  return sorted.map(([name, count]) => `${name} (${countText(count)})`).join(", ");
}

function nextAttempt({ answers }: TargetRow, now: Date): Page | string | undefined {
  const times = answers.flatMap(({ next }) => next?.getTime() ?? []);
  if (times.length === 0) return undefined;
  const next = new Date(Math.min(...times));
  return next <= now ? "due now" : html`next ${countdown(next, now)}`;
}
