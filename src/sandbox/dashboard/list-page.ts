/** The pages of the lists, with their filters and the way to older rows; a list on another page; and the search through all of them. */
import { html } from "hono/html";
import { SAMPLE_OUTCOMES } from "../../domain/outcome.ts";
import { capitalized } from "../../values/sentence.ts";
import { address, panel, spaced } from "../../pages/components.ts";
import { any, periodFields, periodIn } from "../../pages/filters.ts";
import { filtersIn, listContent } from "../../pages/list-page.ts";
import { emptyList, table } from "../../pages/lists.ts";
import type { Page } from "../../pages/page.ts";
import type { LedgerQuery } from "../store/ledger-lists.ts";
import type { DashboardView } from "./components.ts";
import { dashboardPage } from "./frame.ts";
import { type DashboardList, DELIVERY_LIST, LINK_LIST, PAYMENT_LIST } from "./lists.ts";

/** The most rows on a page of a list. */
const ROWS_ON_PAGE = 50;

export async function listPage<Row>(
  view: DashboardView,
  list: DashboardList<Row>,
  asked: Readonly<Record<string, string>>,
): Promise<Page> {
  const period = filtersIn(["time", "from", "to"], asked);
  const { hasOutcome = false, trend } = list;
  const outcome = hasOutcome ? filtersIn(["outcome"], asked) : undefined;
  const filters = { ...outcome, ...period };
  const { problem, ...times } = periodIn(period, view.now);
  const query = { ...filters, ...times, older: asked["older"], limit: ROWS_ON_PAGE, now: view.now };
  const { rows, older: next } = problem === undefined ? list.read(view, query) : NO_ROWS;
  const title = capitalized(list.tab);
  return dashboardPage(view, {
    title,
    tab: `/${list.tab}`,
    text: filters.text,
    skipTo: "list",
    actions: list.action?.(view),
    content: await listContent({
      title,
      path: `/${list.tab}`,
      asked,
      filters,
      states: list.states.map((state) => ({ state })),
      fields: [...(outcome === undefined ? [] : [outcomeField(outcome.outcome)]), ...periodFields(period)],
      problem,
      trend: trend && ((place) => trend(view, place)),
      alert: list.alert?.(view),
      totals: rows.length === 0 ? "" : await list.totals(view, query),
      rows: rows.length === 0 ? undefined : table(view, list, rows),
      next,
      nothing:
        filters.state === ""
          ? { title: "Nothing yet", content: list.nothingYet }
          : { title: `No ${filters.state} ${list.tab}.` },
      noMatch: `No ${list.one} matches these filters.`,
    }),
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
    live: false,
    content: html`${found.every((section) => section === "") ? nothing : found}`,
  });
}
