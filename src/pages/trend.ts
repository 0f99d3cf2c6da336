/** Bar charts of what arrived over the last day and the last week: inline SVG, with the same numbers as a table for people who cannot see it. */
import { html } from "hono/html";
import { UNITS } from "../domain/time.ts";
import { folded, hourOf, hourText } from "./components.ts";
import type { Page } from "./page.ts";

/** One kind of what arrived; its class gives its colour. */
export interface Series {
  readonly kind: "good" | "quiet" | "bad" | "warn";
  readonly title: string;
  /** One count for each bar, stacked from the bottom. */
  readonly counts: readonly number[];
}

interface Trend {
  readonly id: string;
  readonly title: string;
  /** When each bar begins. */
  readonly times: readonly Date[];
  readonly series: readonly Series[];
  /** Under the chart, such as sums. */
  readonly words?: Page | string;
}

const PERIODS = [
  { id: "day", title: "Last 24 hours", parts: 24, width: UNITS.h },
  { id: "week", title: "Last 7 days", parts: 28, width: UNITS.d / 4 },
] as const;

/** Equal parts of a time, a bar each. */
export interface Bars {
  readonly parts: number;
  /** Milliseconds of a part. */
  readonly width: number;
  readonly since: Date;
  readonly until: Date;
}

/** What one of the charts shows. */
export type ChartContent = Pick<Trend, "series" | "words">;

/** The last day and the last week. Their bars end with the hour, or the quarter of a day, that is going on. */
export async function trendPart(
  now: Date,
  read: (bars: Bars) => Promise<ChartContent> | ChartContent,
): Promise<Page> {
  const charts = await Promise.all(
    PERIODS.map(async ({ id, title, parts, width }) => {
      const until = new Date(Math.ceil((now.getTime() + 1) / width) * width);
      const since = new Date(until.getTime() - parts * width);
      const times = Array.from({ length: parts }, (_, part) => new Date(since.getTime() + part * width));
      return trendChart({ id, title, times, ...(await read({ parts, width, since, until })) });
    }),
  );
  return html`<section class="panel trends" id="trend" aria-label="Trend">${charts}</section>`;
}

const HEIGHT = 48;
const STEP = 10;
const WIDTH = 8;
/** The least height of a bar that is not empty, so that it can be seen beside much higher ones. */
const LEAST = 1.5;

const total = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

function trendChart({ id, title, times, series, words = "" }: Trend): Page {
  const highest = Math.max(1, ...times.map((_, bar) => total(series.map(({ counts }) => counts[bar] ?? 0))));
  const shown = series.filter(({ counts }) => total(counts) > 0);
  const totals = shown.map(({ title: name, counts }) => `${total(counts).toLocaleString("en-US")} ${name}`);
  return html`<figure class="trend" id="${id}">
    <figcaption>
      <b>${title}</b>
      ${shown.length === 0 ? html`<span class="quiet">nothing arrived</span>` : ""}
      ${shown.map(
        ({ kind, title: name, counts }) =>
          html`<span class="legend"
            ><i class="${kind}"></i>${total(counts).toLocaleString("en-US")} ${name}</span
          >`,
      )}
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
    ${words === "" ? "" : html`<p class="hint">${words}</p>`}
    ${shown.length === 0 ? "" : folded(`${id}-table`, "Numbers", numbers(title, times, shown))}
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
