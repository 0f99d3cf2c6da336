/** A bar chart of what arrived over time: inline SVG, with the same numbers as a table for who does not see it. */
import { html } from "hono/html";
import { folded } from "./components.ts";
import type { Page } from "./page.ts";

/** One kind of what arrived; its class gives its colour. */
export interface Series {
  readonly kind: "good" | "quiet" | "bad" | "warn";
  readonly title: string;
  /** One count for each bar, stacked from the bottom. */
  readonly counts: readonly number[];
}

export interface Trend {
  readonly id: string;
  readonly title: string;
  /** What a bar stands for. */
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  /** Under the chart, such as sums. */
  readonly words?: Page | string;
}

const HEIGHT = 48;
const STEP = 10;
const WIDTH = 8;
/** A bar of anything is seen, however much more there is beside it. */
const LEAST = 1.5;

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

export function trendChart({ id, title, labels, series, words = "" }: Trend): Page {
  const highest = Math.max(1, ...labels.map((_, bar) => sumOf(series.map(({ counts }) => counts[bar] ?? 0))));
  const shown = series.filter(({ counts }) => sumOf(counts) > 0);
  const totals = shown.map(({ title: name, counts }) => `${sumOf(counts).toLocaleString("en-US")} ${name}`);
  return html`<figure class="trend" id="${id}">
    <figcaption>
      <b>${title}</b>
      ${shown.length === 0 ? html`<span class="quiet">nothing arrived</span>` : ""}
      ${shown.map(
        ({ kind, title: name, counts }) =>
          html`<span class="legend"
            ><i class="${kind}"></i>${sumOf(counts).toLocaleString("en-US")} ${name}</span
          >`,
      )}
    </figcaption>
    <svg
      viewBox="0 0 ${labels.length * STEP} ${HEIGHT}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${title}: ${totals.join(", ") || "nothing arrived"}"
    >
      ${labels.map((label, bar) => column(label, bar, series, highest))}
    </svg>
    <p class="axis" aria-hidden="true"><span>${labels[0]}</span><span>${labels.at(-1)}</span></p>
    ${words === "" ? "" : html`<p class="hint">${words}</p>`}
    ${shown.length === 0 ? "" : folded(`${id}-table`, "Numbers", numbers(title, labels, shown))}
  </figure>`;
}

function column(label: string, bar: number, series: readonly Series[], highest: number): Page {
  let top = HEIGHT;
  const counts = series.map(({ title, counts: all }) => `${all[bar] ?? 0} ${title}`);
  return html`<g>
    <title>${label}: ${counts.join(", ")}</title>
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

const numbers = (title: string, labels: readonly string[], series: readonly Series[]): Page =>
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
      ${labels.flatMap((label, bar) =>
        series.every(({ counts }) => (counts[bar] ?? 0) === 0)
          ? []
          : [
              html`<tr>
                <th scope="row">${label}</th>
                ${series.map(({ counts }) => html`<td>${counts[bar] ?? 0}</td>`)}
              </tr>`,
            ],
      )}
    </tbody>
  </table>`;
