/** The content of a page with a list, of either site: what arrived over time, filters, what is wrong, sums, rows, and the way to older ones. */
import { html } from "hono/html";
import { address } from "./components.ts";
import { filterForm, type FilterForm } from "./filters.ts";
import { chips, emptyList, freshButton, olderLink, totalsLine } from "./lists.ts";
import type { Page } from "./page.ts";
import { type ChartPlace, rangeNamed } from "./trend.ts";

/** The filters of a list by their name; each is empty if it is not used. All have `text`, which is searched for, and `state`. */
export type ListFilters = Readonly<Record<string, string>> & Readonly<Record<"text" | "state", string>>;

/** What the address of a list asks for: a colleague who opens the same address gets the same. */
export const filtersIn = <Name extends string>(
  names: readonly Name[],
  asked: Readonly<Record<string, string>>,
): Readonly<Record<Name | "text" | "state", string>> =>
  Object.fromEntries(
    ["text", "state", ...names].map((name) => [name, asked[name]?.trim() ?? ""]),
  ) as Readonly<Record<Name | "text" | "state", string>>;

/** Whether anything is left out by them. */
export const isFiltered = (filters: ListFilters): boolean =>
  Object.values(filters).some((value) => value !== "");

interface NoRows {
  readonly title: string;
  readonly content?: Page | string;
}

export interface ListPage {
  readonly title: string;
  readonly path: string;
  readonly asked: Readonly<Record<string, string>>;
  readonly filters: ListFilters;
  /** The states that rows can have, with what is told of how many have them. */
  readonly states: readonly { readonly state: string; readonly count?: string | undefined }[];
  /** The filters besides text and state. */
  readonly fields: FilterForm["fields"];
  /** A filter that cannot be read: the list shows nothing, since it would show too much. */
  readonly problem: string | undefined;
  /** Shown above the rows of a list that is not filtered. */
  readonly trend?: ((chart: ChartPlace) => Promise<Page>) | undefined;
  readonly alert?: Page | "" | undefined;
  readonly totals: Page | string;
  /** What can be done with all rows. */
  readonly beside?: Page | "";
  /** The table; undefined without rows. */
  readonly rows: Page | undefined;
  /** The position of the rows on the next page; undefined on the last one. */
  readonly next: string | undefined;
  /** Of a list that is not filtered, or filtered by its state alone. */
  readonly nothing: NoRows;
  readonly noMatch: string;
  /** Below the list. */
  readonly below?: Page | "";
}

export async function listContent(list: ListPage): Promise<Page> {
  const { title, path, asked, filters, states, fields, problem, alert = "", rows, next, nothing } = list;
  const { text, state } = filters;
  const { older } = asked;
  /** This list with other filters, or at another position. */
  const to = (changed: Readonly<Record<string, string>> = {}): string =>
    address(path, { ...filters, ...changed });
  const isNarrow = isFiltered(filters);
  const all = html`<a class="button" href="${path}">Show all ${title.toLowerCase()}</a>`;
  const isOfState = state !== "" && !isFiltered({ ...filters, state: "" });
  return html`${isNarrow || older !== undefined || rows === undefined ? "" : await list.trend?.({ range: rangeNamed(asked["range"]), path })}
    <div class="filters">
      ${chips(
        `Filter ${title.toLowerCase()}`,
        state,
        [{ state: "" }, ...states].map((one) => ({ ...one, href: to({ state: one.state }) })),
      )}
    </div>
    ${filterForm({ action: path, kept: { text, state }, fields, clear: isNarrow ? path : undefined })}
    ${problem === undefined ? "" : html`<p class="alert bad">${problem}</p>`}
    ${alert === "" ? "" : html`<section class="alert" aria-label="Failed">${alert}</section>`}
    ${rows === undefined ? "" : totalsLine(list.totals, list.beside)}
    <section class="panel" id="list" tabindex="-1" aria-label="${title}">
      ${
        rows ??
        (isNarrow && !isOfState
          ? emptyList("Nothing matches", list.noMatch, all)
          : emptyList(nothing.title, nothing.content ?? "", isNarrow ? all : ""))
      }
      ${olderLink(next === undefined ? undefined : to({ older: next }), older === undefined ? undefined : to())}
    </section>
    ${list.below ?? ""} ${freshButton}`;
}
