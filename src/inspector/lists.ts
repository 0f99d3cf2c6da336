/** The page of all that was received, with its filters, sums and chart, and what a search finds. */
import { formatCount, plural, wordFor } from "../values/plural.ts";
import { html } from "hono/html";
import { OUTCOME_NAMES } from "../domain/outcome.ts";
import { capitalized } from "../values/sentence.ts";
import type { EventStore } from "../store/event-store.ts";
import { SEARCHED } from "../store/event-query.ts";
import type { Totals } from "../store/search.ts";
import { address, clipped, copyable, datedMoment, panel, spaced } from "../pages/components.ts";
import { any, type FilterForm, periodFields } from "../pages/filters.ts";
import { listContent } from "../pages/list-page.ts";
import { table } from "../pages/lists.ts";
import type { Page } from "../pages/page.ts";
import { approvedSums, sumsOf } from "../pages/totals.ts";
import { type ChartPlace, trendPart } from "../pages/trend.ts";
import { countText, inspectorPage, isApart, type InspectorView } from "./frame.ts";
import { EXPORTED } from "./export.ts";
import { type EventFilters, eventFilters, LISTED_STATES, queryFrom } from "./query.ts";
import { EVENT_LISTING, ROWS_SHOWN, withAttempts } from "./rows.ts";

/** `advice` is the command that makes a first webhook. */
export async function eventsPage(
  view: InspectorView,
  store: EventStore,
  asked: Readonly<Record<string, string>>,
  advice: string,
): Promise<Page> {
  const filters = eventFilters(asked);
  const { query, problem } = queryFrom(filters, view);
  const [found, totals, paths] =
    problem === undefined
      ? await Promise.all([
          store.list(query, { before: asked["older"], limit: ROWS_SHOWN + 1 }),
          store.totals(query, view.keys),
          store.paths(PATHS_SHOWN),
        ])
      : [[], undefined, []];
  const rows = await withAttempts(store, found.slice(0, ROWS_SHOWN));
  const apart = rows.filter(({ stored }) => stored.type === "event" && isApart(view, stored));
  const shown = rows.filter((row) => !apart.includes(row));
  const counts: Readonly<Record<string, number>> = { pending: view.pending, failed: view.failed };
  return inspectorPage(view, {
    title: filters.text === "" ? "Events" : "Search",
    tab: "/",
    text: filters.text,
    skipTo: "list",
    content: await listContent({
      title: "Events",
      path: "/",
      asked,
      filters,
      states: LISTED_STATES.map((state) => ({
        state,
        count: counts[state] ? countText(counts[state]) : undefined,
      })),
      fields: filterFields(filters, paths),
      problem,
      trend: (place) => eventsTrend(view, store, place),
      totals: totals === undefined ? "" : totalsWords(view, totals),
      beside: totals === undefined ? "" : exportLink(filters, totals),
      rows: rows.length === 0 ? undefined : table(view, EVENT_LISTING, shown),
      next: found.length > ROWS_SHOWN ? rows.at(-1)?.stored.id : undefined,
      nothing:
        filters.state === ""
          ? {
              title: "Waiting for the first webhook",
              content: html`It will appear here on its own. To send a webhook while paylink listen is running:
              ${copyable("the command that makes a webhook", advice)}`,
            }
          : { title: `No ${filters.state} events.` },
      noMatch: "No event or rejected webhook matches all of these filters.",
      below:
        apart.length === 0
          ? ""
          : panel(
              "other-keys",
              "Verified with another key: this run does not send these",
              table(view, EVENT_LISTING, apart),
            ),
    }),
  });
}

/** The most paths to choose from. */
const PATHS_SHOWN = 20;

const filterFields = (filters: EventFilters, paths: readonly string[]): FilterForm["fields"] => [
  {
    name: "outcome",
    label: "Outcome",
    value: filters.outcome,
    options: [any(), ...OUTCOME_NAMES.map((name) => [name, capitalized(spaced(name))] as const)],
  },
  ...periodFields(filters),
  ...(paths.length < 2 && filters.path === ""
    ? []
    : [
        {
          name: "path",
          label: "Path",
          value: filters.path,
          options: [
            any(),
            ...[...new Set([...paths, filters.path])]
              .filter(Boolean)
              .map((one) => [one, clipped(one)] as const),
          ],
        },
      ]),
  {
    name: "keys",
    label: "Key",
    value: filters.keys,
    options: [any(), ["own", "In use here"], ["other", "Others"]] as const,
  },
];

/** How the newest webhooks spread over the last day or the last week, with what was approved in each. */
const eventsTrend = ({ now, keys }: InspectorView, store: EventStore, place: ChartPlace): Promise<Page> =>
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

/** What the list adds up to, and how far it was searched. */
const totalsWords = (view: InspectorView, totals: Totals): Page =>
  html`${totalsSentence(view, totals)}
  ${
    totals.searchedSince === null
      ? ""
      : html`Only the newest ${formatCount(SEARCHED)} events were searched, those received after
        ${datedMoment(totals.searchedSince)}.`
  }`;

/**
 * By currency, of the keys in use here, and apart those of other keys: "412 events (2 replaced by newer records), 3 rejected; approved
 * EUR 1,250.00, GBP 20.00; not approved EUR 80.00."
 */
function totalsSentence(view: InspectorView, { groups, replaced, rejected }: Totals): string {
  const of = (apart: boolean) => {
    const isOf = (one: { readonly key: string }): boolean => isApart(view, one) === apart;
    const counted = groups.filter(isOf);
    const without = eventsIn(replaced.filter(isOf));
    return {
      events: eventsIn(counted) + without,
      note:
        without === 0
          ? ""
          : ` (${formatCount(without)} replaced by ${wordFor(without, "a newer record", "newer records")})`,
      sums: sumsOf(counted),
    };
  };
  const [own, other] = [of(false), of(true)];
  const counted = [
    ...(own.events > 0 || (other.events === 0 && rejected === 0)
      ? [`${plural(own.events, "event")}${own.note}`]
      : []),
    ...(rejected > 0 ? [`${formatCount(rejected)} rejected`] : []),
  ].join(", ");
  const words = [
    ...(counted === "" ? [] : [[counted, ...own.sums].join("; ")]),
    ...(other.events === 0
      ? []
      : [[`other keys: ${plural(other.events, "event")}${other.note}`, ...other.sums].join("; ")]),
  ].join(". ");
  return `${capitalized(words)}.`;
}

const eventsIn = (groups: readonly { readonly events: number }[]): number =>
  groups.reduce((sum, { events }) => sum + events, 0);

/** The file of the same list; one that leaves rows out says so before it is made. */
function exportLink(filters: EventFilters, { groups, replaced, rejected }: Totals): Page {
  const rows = rejected + eventsIn([...groups, ...replaced]);
  const part = rows > EXPORTED ? `, the newest ${formatCount(EXPORTED)}` : "";
  return html`<a href="${address("/export.csv", filters)}" download>Export CSV${part}</a>`;
}
