/** The bar chart of what arrived over the last day or the last week: inline SVG, with the same numbers as a table for people who cannot see it. */
import { formatCount } from "../values/plural.ts";
import { html } from "hono/html";
import { UNITS } from "../values/time.ts";
import { address, folded, hourOf, hourText } from "./components.ts";
import type { Page } from "./page.ts";

/** One kind of what arrived; its class gives its colour. */
export interface Series {
  readonly kind: "good" | "quiet" | "bad" | "warn";
  readonly title: string;
  /** One count for each bar, stacked from the bottom. */
  readonly counts: readonly number[];
}

/** The times that a chart can show; the first is shown unless an address asks for another. */
const RANGES = {
  day: { title: "Last 24 hours", parts: 24, width: UNITS.h },
  week: { title: "Last 7 days", parts: 28, width: UNITS.d / 4 },
} as const;
type RangeName = keyof typeof RANGES;

export const rangeNamed = (name = ""): RangeName => (name === "week" ? "week" : "day");

/** Equal parts of a time, a bar each. */
export interface Bars {
  readonly parts: number;
  /** Milliseconds of a part. */
  readonly width: number;
  readonly since: Date;
  readonly until: Date;
}

export interface ChartContent {
  readonly series: readonly Series[];
  /** Beside the title, such as sums. */
  readonly words?: Page | string;
}

/** What is shown of a list, and its path. */
export interface ChartPlace {
  readonly range: RangeName;
  readonly path: string;
}

interface Trend extends ChartContent, ChartPlace {
  /** When each bar begins. */
  readonly times: readonly Date[];
}

/** One chart of the day or the week, above the list at this path. Its bars end with the hour, or the quarter of a day, that is going on. */
export async function trendPart(
  now: Date,
  { range, path }: ChartPlace,
  read: (bars: Bars) => Promise<ChartContent>,
): Promise<Page> {
  const { parts, width } = RANGES[range];
  const until = new Date(Math.ceil((now.getTime() + 1) / width) * width);
  const since = new Date(until.getTime() - parts * width);
  const times = Array.from({ length: parts }, (_, part) => new Date(since.getTime() + part * width));
  return html`<section class="panel trends" id="trend" aria-label="Trend">
    ${trendChart({ range, path, times, ...(await read({ parts, width, since, until })) })}
  </section>`;
}

/** The way to the other time. */
const ranges = (path: string, shown: RangeName): Page =>
  html`<span class="ranges"
    >${Object.entries(RANGES).map(([name, { title }]) => (name === shown ? "" : html`<a href="${address(path, { range: name === "day" ? "" : name })}">${title}</a>`))}</span
  >`;

const HEIGHT = 32;
const STEP = 10;
const WIDTH = 8;
/** The least height of a bar that is not empty, so that it can be seen beside much higher ones. */
const LEAST = 1.5;

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

function trendChart({ range, path, times, series, words = "" }: Trend): Page {
  const { title } = RANGES[range];
  const highest = Math.max(1, ...times.map((_, bar) => total(series.map(({ counts }) => counts[bar] ?? 0))));
  const shown = series.filter(({ counts }) => total(counts) > 0);
  const totals = shown.map(({ title: name, counts }) => `${formatCount(total(counts))} ${name}`);
  return html`<figure class="trend">
    <figcaption>
      <b>${title}</b>
      ${shown.length === 0 ? html`<span class="quiet">nothing arrived</span>` : ""}
      ${shown.map(
        ({ kind, title: name, counts }) =>
          html`<span class="legend"><i class="${kind}"></i>${formatCount(total(counts))} ${name}</span>`,
      )}
      ${words === "" ? "" : html`<span class="quiet">${words}</span>`} ${ranges(path, range)}
    </figcaption>
    <svg
      viewBox="0 0 ${times.length * STEP} ${HEIGHT}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${title}: ${totals.join(", ") || "nothing arrived"}"
    >
      ${times.map((at, bar) => column(at, bar, series, highest))}
    </svg>
    <p class="axis" aria-hidden="true">${times.slice(0, 1).map(hourOf)}${times.slice(-1).map(hourOf)}</p>
    ${shown.length === 0 ? "" : folded("trend-numbers", "Numbers", numbers(title, times, shown))}
  </figure>`;
}

function column(at: Date, bar: number, series: readonly Series[], highest: number): Page {
  let top = HEIGHT;
  const counts = series.map(({ title, counts: all }) => `${all[bar] ?? 0} ${title}`);
  return html`<g>
    <title>${hourText(at)}: ${counts.join(", ")}</title>
    <rect class="ground" x="${bar * STEP}" y="0" width="${STEP}" height="${HEIGHT}" />
    ${series.map(({ kind, counts: all }) => {
      const count = all[bar] ?? 0;
      if (count === 0) return "";
      const height = Math.max(LEAST, (count / highest) * (HEIGHT - 2));
      top -= height;
      return html`<rect
        class="${kind}"
        x="${bar * STEP + (STEP - WIDTH) / 2}"
        y="${Math.max(0, top).toFixed(2)}"
        width="${WIDTH}"
        height="${height.toFixed(2)}"
      />`;
    })}
  </g>`;
}

const numbers = (title: string, times: readonly Date[], series: readonly Series[]): Page =>
  html`<table class="numbers">
    <caption class="hidden">
      ${title}
    </caption>
    <thead>
      <tr>
        <th scope="col">Time</th>
        ${series.map(({ title: name }) => html`<th scope="col">${name}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${times.flatMap((at, bar) =>
        series.every(({ counts }) => (counts[bar] ?? 0) === 0)
          ? []
          : [
              html`<tr>
                <th scope="row">${hourOf(at)}</th>
                ${series.map(({ counts }) => html`<td>${counts[bar] ?? 0}</td>`)}
              </tr>`,
            ],
      )}
    </tbody>
  </table>`;
