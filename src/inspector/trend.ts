/** How the newest webhooks spread over the last day and the last week, with what was approved in each. */
import { html } from "hono/html";
import type { EventStore } from "../store/event-store.ts";
import type { Bar } from "../store/search.ts";
import { type Series, trendChart } from "../pages/trend.ts";
import type { Page } from "../pages/page.ts";
import type { View } from "./frame.ts";
import { approvedSums } from "./totals.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The bars end with the hour, or the quarter of a day, that is going on. */
const PERIODS = [
  { id: "day", title: "Last 24 hours", parts: 24, width: HOUR },
  { id: "week", title: "Last 7 days", parts: 28, width: DAY / 4 },
] as const;

export async function trendPart(view: View, store: EventStore): Promise<Page> {
  const { now, keys } = view;
  const charts = await Promise.all(
    PERIODS.map(async ({ id, title, parts, width }) => {
      const until = new Date(Math.ceil((now.getTime() + 1) / width) * width);
      const since = new Date(until.getTime() - parts * width);
      const [bars, totals] = await Promise.all([
        store.bars(parts, width, until, keys),
        store.totals({ since, keys }),
      ]);
      return trendChart({
        id,
        title,
        labels: bars.map(({ at }) => labelOf(at)),
        series: seriesOf(bars),
        words: approvedSums(totals.groups),
      });
    }),
  );
  return html`<section class="panel trends" id="trend" aria-label="Trend">${charts}</section>`;
}

const labelOf = (at: Date): string => `${at.toISOString().slice(5, 16).replace("T", " ")} UTC`;

const seriesOf = (bars: readonly Bar[]): readonly Series[] => [
  { kind: "good", title: "approved", counts: bars.map(({ approved }) => approved) },
  { kind: "quiet", title: "not approved", counts: bars.map(({ other }) => other) },
  { kind: "warn", title: "failed at your application", counts: bars.map(({ failed }) => failed) },
  { kind: "bad", title: "refused", counts: bars.map(({ refused }) => refused) },
];
