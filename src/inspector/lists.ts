/** The page of all that was received, with its filters, sums and charts, and what a search finds. */
import { html } from "hono/html";
import { groupedAmount, Sums } from "../domain/money.ts";
import { OUTCOME_NAMES } from "../domain/outcome.ts";
import { capitalized } from "../domain/sentence.ts";
import { splitReference } from "../domain/reference.ts";
import { amountIn, textOf } from "../domain/transaction.ts";
import type { EventStore } from "../store/event-store.ts";
import { SEARCHED } from "../store/event-query.ts";
import type { Totals } from "../store/search.ts";
import { address, clipped, copyable, datedMoment, panel, plural, spaced } from "../pages/components.ts";
import { any, filterForm, periodFields } from "../pages/filters.ts";
import {
  chips,
  emptyList,
  freshButton,
  olderLink,
  type RowGroup,
  table,
  totalsLine,
} from "../pages/lists.ts";
import type { Page } from "../pages/page.ts";
import { countText, inspectorPage, isApart, type InspectorView } from "./frame.ts";
import { EXPORTED } from "./export.ts";
import { type Filters, filtersIn, isFiltered, queryFrom, STORED_STATES } from "./query.ts";
import { EVENT_LISTING, type EventRow, ROWS_SHOWN, withAttempts } from "./rows.ts";
import { totalsSentence } from "./totals.ts";
import { eventsTrend } from "./trend.ts";

/** `advice` is the command that makes a first webhook. */
export async function eventsPage(
  view: InspectorView,
  store: EventStore,
  asked: Readonly<Record<string, string>>,
  advice: string,
): Promise<Page> {
  const filters = filtersIn(asked);
  const { before } = asked;
  const { query, problem } = queryFrom(filters, view);
  const [found, totals, paths] =
    problem === undefined
      ? await Promise.all([
          store.list(query, { before, limit: ROWS_SHOWN + 1 }),
          store.totals(query),
          store.paths(PATHS_SHOWN),
        ])
      : [[], undefined, []];
  const rows = await withAttempts(store, found.slice(0, ROWS_SHOWN));
  const next = found.length > ROWS_SHOWN ? rows.at(-1)?.stored.id : undefined;
  const apart = rows.filter(({ stored }) => stored.type === "event" && isApart(view, stored));
  const shown = rows.filter((row) => !apart.includes(row));
  return inspectorPage(view, {
    title: filters.text === "" ? "Events" : "Search",
    tab: "/",
    text: filters.text,
    skipTo: "list",
    content: html`${isFiltered(filters) || before !== undefined || rows.length === 0 ? "" : await eventsTrend(view, store)}
      ${filtersPart(view, filters, paths)}
      ${problem === undefined ? "" : html`<p class="alert bad">${problem}</p>`}
      ${totals === undefined || rows.length === 0 ? "" : totalsPart(view, filters, totals)}
      <section class="panel" id="list" tabindex="-1" aria-label="Events">
        ${
          rows.length > 0
            ? table(view, EVENT_LISTING, shown, filters.group === "order" ? ordersOf(shown) : [])
            : nothing(filters, advice)
        }
        ${olderLink(
          next === undefined ? undefined : address("/", { ...filters, before: next }),
          before === undefined ? undefined : address("/", filters),
        )}
      </section>
      ${apart.length === 0 ? "" : panel("other-keys", "Verified with another key: this run does not send these", table(view, EVENT_LISTING, apart))}
      ${freshButton}`,
  });
}

/** The most paths to choose from. */
const PATHS_SHOWN = 20;

function filtersPart(view: InspectorView, filters: Filters, paths: readonly string[]): Page {
  const { text, state, outcome, path, keys, group } = filters;
  const counts: Readonly<Record<string, number>> = { waiting: view.waiting, failed: view.failed };
  return html`<div class="filters">
      ${chips(
        "Filter events",
        state,
        ["", ...Object.keys(STORED_STATES)].map((one) => ({
          state: one,
          href: address("/", { ...filters, state: one }),
          count: counts[one] ? countText(counts[one]) : undefined,
        })),
      )}
    </div>
    ${filterForm({
      action: "/",
      kept: { text, state, group },
      fields: [
        {
          name: "outcome",
          label: "Outcome",
          value: outcome,
          options: [any(), ...OUTCOME_NAMES.map((name) => [name, capitalized(spaced(name))] as const)],
        },
        ...periodFields(filters),
        ...(paths.length < 2 && path === ""
          ? []
          : [
              {
                name: "path",
                label: "Path",
                value: path,
                options: [
                  any(),
                  ...[...new Set([...paths, path])]
                    .filter(Boolean)
                    .map((one) => [one, clipped(one)] as const),
                ],
              },
            ]),
        {
          name: "keys",
          label: "Key",
          value: keys,
          options: [any(), ["own", "In use here"], ["other", "Others"]] as const,
        },
      ],
      clear: isFiltered(filters) ? "/" : undefined,
    })}`;
}

/** What the list adds up to, and what can be done with all of it. */
function totalsPart(view: InspectorView, filters: Filters, totals: Totals): Page {
  const { group } = filters;
  const grouping =
    group === "order"
      ? html`<a href="${address("/", { ...filters, group: "" })}">Do not group</a>`
      : html`<a href="${address("/", { ...filters, group: "order" })}">Group by order</a>`;
  const { searchedSince } = totals;
  return totalsLine(
    html`${totalsSentence(view, totals)}
    ${
      searchedSince === null
        ? ""
        : html`Only the newest ${SEARCHED.toLocaleString("en-US")} events were searched, those received after
          ${datedMoment(searchedSince)}.`
    }`,
    html`${grouping} ${exports(filters, totals)}`,
  );
}

/** The files of the same list; a file that leaves rows out says so before it is made. */
function exports(filters: Filters, { groups, rejected }: Totals): Page {
  const rows = rejected + groups.reduce((sum, { events }) => sum + events, 0);
  const part = rows > EXPORTED ? `, the newest ${EXPORTED.toLocaleString("en-US")}` : "";
  return html`<a href="${address("/export.csv", filters)}" download>Export CSV${part}</a>
    <a href="${address("/export.jsonl", filters)}" download>JSON lines${part}</a>`;
}

/** The rows of a page by order, in the order of the newest of each. */
function ordersOf(rows: readonly EventRow[]): RowGroup<EventRow>[] {
  const orders = new Map<string, EventRow[]>();
  for (const row of rows) {
    const { stored } = row;
    const name = stored.type === "event" ? splitReference(stored.reference).base : "";
    orders.set(name, [...(orders.get(name) ?? []), row]);
  }
  return [...orders].map(([name, own]) => ({
    title: html`<bdi>${clipped(name) || "Without an order number"}</bdi>
      <span class="quiet">${orderWords(own)}</span>`,
    rows: own,
  }));
}

function orderWords(rows: readonly EventRow[]): string {
  const sums = new Sums();
  let [payments, approved, ofOneTimeLinks] = [0, 0, 0];
  for (const { stored } of rows) {
    if (stored.type !== "event") continue;
    payments += 1;
    const { record } = stored.content;
    const amount = record === null ? undefined : amountIn(record, "amountTrans");
    if (record === null || amount === undefined || stored.outcome !== "APPROVED") continue;
    approved += 1;
    // Each payment of a reusable link has a suffix of its own, and is intended.
    if (splitReference(stored.reference).suffix === null) ofOneTimeLinks += 1;
    sums.add(amount, textOf(record, "transCurrencyCode") ?? "");
  }
  const paid = sums.list().map(({ amount, currency }) => groupedAmount(amount, currency));
  return [
    plural(payments, "payment"),
    ...(approved > 1 ? [`${approved} approved`] : []),
    ...(paid.length === 0 ? [] : [`approved ${paid.join(", ")}`]),
    ...(ofOneTimeLinks > 1 ? ["may have been paid twice"] : []),
  ].join(", ");
}

const NONE_IN_STATE: Readonly<Record<string, string>> = {
  waiting: "No events are waiting.",
  failed: "No events have failed.",
  forwarded: "No events were forwarded.",
  skipped: "No events were skipped.",
  rejected: "No webhooks were rejected.",
};

function nothing({ state, ...filters }: Filters, advice: string): Page {
  if (state === "" && !isFiltered({ ...filters, state }))
    return emptyList(
      "Waiting for the first webhook",
      "It will appear here on its own. To send a webhook while paylink listen is running:",
      html`<p>${copyable("the command that makes a webhook", advice)}</p>`,
    );
  const words = isFiltered({ ...filters, state: "" }) ? undefined : NONE_IN_STATE[state];
  const all = html`<a class="button" href="/">Show all events</a>`;
  return words === undefined
    ? emptyList("Nothing matches", "No event or rejected webhook matches all of these filters.", all)
    : emptyList(words, "", all);
}
