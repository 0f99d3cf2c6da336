/** The pages of the lists, with their filters and the way to older rows; a list on another page; and the search through all of them. */
import { html } from "hono/html";
import { SAMPLE_OUTCOMES } from "../../domain/outcome.ts";
import { capitalized } from "../../domain/sentence.ts";
import { address, panel, spaced } from "../../pages/components.ts";
import { any, filterForm, periodFields, periodIn } from "../../pages/filters.ts";
import { chips, emptyList, freshButton, olderLink, table, totalsLine } from "../../pages/lists.ts";
import type { Page } from "../../pages/page.ts";
import type { LedgerQuery } from "../store/lists.ts";
import type { DashboardView } from "./components.ts";
import { dashboardPage } from "./frame.ts";
import { type DashboardList, DELIVERY_LIST, LINK_LIST, PAYMENT_LIST } from "./lists.ts";

/** The most rows on a page of a list. */
const ROWS_ON_PAGE = 50;

/** The filters of a list; each is empty if it is not used. */
const LIST_FILTERS = ["text", "state", "outcome", "time", "from", "to"] as const;
type ListFilters = Readonly<Record<(typeof LIST_FILTERS)[number], string>>;

export async function listPage<Row>(
  view: DashboardView,
  list: DashboardList<Row>,
  asked: Readonly<Record<string, string>>,
): Promise<Page> {
  const given = Object.fromEntries(
    LIST_FILTERS.map((name) => [name, asked[name]?.trim() ?? ""]),
  ) as ListFilters;
  const filters = list.hasOutcome === true ? given : { ...given, outcome: "" };
  const { text, state, outcome } = filters;
  const { older } = asked;
  const { problem, ...period } = periodIn(filters, view.now);
  const query = { text, state, outcome, ...period, older, limit: ROWS_ON_PAGE, now: view.now };
  const { rows, older: next } = problem === undefined ? list.read(view, query) : NO_ROWS;
  const alert = list.alert?.(view) ?? "";
  const title = capitalized(list.tab);
  /** This list with other filters, or at another position. */
  const to = (changed: Readonly<Record<string, string>> = {}): string =>
    address(`/${list.tab}`, { ...filters, ...changed });
  const isFiltered = LIST_FILTERS.some((name) => filters[name] !== "");
  return dashboardPage(view, {
    title,
    tab: list.tab,
    text,
    skipTo: "list",
    live: true,
    content: html`<div class="title-row">
        <h1>${title}</h1>
        <div class="actions">${list.action?.(view) ?? ""}</div>
      </div>
      ${isFiltered || older !== undefined || rows.length === 0 ? "" : await list.trend?.(view)}
      <div class="filters">
        ${chips(
          `Filter ${list.tab}`,
          state,
          ["", ...list.states].map((one) => ({ state: one, href: to({ state: one }) })),
        )}
      </div>
      ${filterForm({
        action: `/${list.tab}`,
        kept: { text, state },
        fields: [...(list.hasOutcome === true ? [outcomeField(outcome)] : []), ...periodFields(filters)],
        clear: isFiltered ? `/${list.tab}` : undefined,
      })}
      ${problem === undefined ? "" : html`<p class="alert bad">${problem}</p>`}
      ${alert === "" ? "" : html`<section class="alert" aria-label="Failed">${alert}</section>`}
      ${rows.length === 0 ? "" : totalsLine(list.totals(view, query))}
      <section class="panel" id="list" tabindex="-1" aria-label="${title}">
        ${
          rows.length > 0
            ? table(view, list, rows)
            : isFiltered
              ? emptyList(
                  "Nothing matches",
                  `No ${list.one} matches these filters.`,
                  html`<a class="button" href="/${list.tab}">Show all ${list.tab}</a>`,
                )
              : emptyList("Nothing yet", list.nothingYet)
        }
        ${olderLink(next === undefined ? undefined : to({ older: next }), older === undefined ? undefined : to())}
      </section>
      ${freshButton}`,
  });
}

const NO_ROWS = { rows: [], older: undefined };

const outcomeField = (value: string) => ({
  name: "outcome",
  label: "Outcome",
  value,
  options: [any(), ...SAMPLE_OUTCOMES.map((name) => [name, capitalized(spaced(name))] as const)],
});

/** The most rows of a list on another page. */
const EXCERPT = 10;

interface Excerpt {
  /** The link, the payment or the text that selects the rows. */
  readonly query: Pick<LedgerQuery, "linkId" | "uti" | "text">;
  readonly title?: string;
  /** Shown if there are no rows; without it, the part is left out then. */
  readonly nothing?: string;
}

/** The first rows of a list on another page, with the way to all of them. */
export function listPanel<Row>(view: DashboardView, list: DashboardList<Row>, excerpt: Excerpt): Page | "" {
  const { query, title = capitalized(list.tab), nothing } = excerpt;
  const { rows, older } = list.read(view, { ...query, limit: EXCERPT, now: view.now });
  if (rows.length === 0)
    return nothing === undefined ? "" : panel(list.tab, title, html`<p class="hint">${nothing}</p>`);
  const all = address(`/${list.tab}`, { text: query.linkId ?? query.uti ?? query.text });
  const more = html`<a href="${all}">Show all</a>`;
  return panel(list.tab, title, table(view, list, rows), older === undefined ? "" : more);
}

export function searchPage(view: DashboardView, text: string): Page {
  const query = { text };
  const found = [
    listPanel(view, PAYMENT_LIST, { query }),
    listPanel(view, LINK_LIST, { query }),
    listPanel(view, DELIVERY_LIST, { query }),
  ];
  const nothing = html`<section class="panel">
    ${emptyList("Nothing matches", "No link, payment or delivery matches all of these words.")}
  </section>`;
  return dashboardPage(view, {
    title: "Search",
    text,
    content: html`<h1>Search</h1>
      ${found.every((section) => section === "") ? nothing : found}`,
  });
}
