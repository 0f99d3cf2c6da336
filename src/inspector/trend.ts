/** How the newest webhooks spread over the last day or the last week, with what was approved in each. */
import type { EventStore } from "../store/event-store.ts";
import { type ChartPlace, trendPart } from "../pages/trend.ts";
import type { Page } from "../pages/page.ts";
import { approvedSums } from "../pages/totals.ts";
import type { InspectorView } from "./frame.ts";

export const eventsTrend = (
  { now, keys }: InspectorView,
  store: EventStore,
  place: ChartPlace,
): Promise<Page> =>
  trendPart(now, place, async ({ parts, width, since, until }) => {
    const [bars, totals] = await Promise.all([
      store.bars(parts, width, until, keys),
      store.totals({ since, keys }, keys),
    ]);
    return {
      series: [
        { kind: "good", title: "approved", counts: bars.map(({ approved }) => approved) },
        { kind: "quiet", title: "not approved", counts: bars.map(({ other }) => other) },
        { kind: "warn", title: "failed at your application", counts: bars.map(({ failed }) => failed) },
        { kind: "bad", title: "rejected", counts: bars.map(({ refused }) => refused) },
      ],
      words: approvedSums(totals.groups),
    };
  });
