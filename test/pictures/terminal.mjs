/** Terminal windows as SVG, from programs that run in a real pseudo-terminal. */
import { openPseudoTerminal } from "../support/pseudo-terminal.mjs";

const COLUMNS = 120;
const ROWS = 100;
const [CHARACTER, LINE, PADDING, BAR] = [8.4, 20, 16, 30];

/** The sixteen colours of a terminal, in the order of their codes. */
const PALETTE =
  "#484f58 #ff7b72 #56d364 #e3b341 #79c0ff #d2a8ff #56d4dd #c9d1d9 #6e7681 #ffa198 #7ee787 #f2cc60 #a5d6ff #e2c5ff #b3f0ff #ffffff".split(
    " ",
  );

/**
 * @typedef {object} Span
 * @property {string} text
 * @property {string} style
 *
 * @typedef {Span[]} Line
 *
 * @typedef {object} Program
 * @property {(pattern: RegExp) => Promise<RegExpExecArray>} until Rejects if the program ends without a match.
 * @property {() => Line[]} lines What the screen shows, after the command.
 * @property {() => Promise<Line[]>} ended Resolves when the program has ended by itself.
 * @property {() => Promise<void>} stop Presses Ctrl-C.
 */

/**
 * Runs `paylink` with these arguments as in a terminal of its own.
 * @param {string[]} args
 * @param {Record<string, string>} env
 * @returns {Program}
 */
export function runInTerminal(args, env) {
  const binary = new URL("../../bin/paylink.js", import.meta.url).pathname;
  const command = [
    { text: "$ ", style: "dim" },
    { text: ["paylink", ...args.map(quoted)].join(" "), style: "bold" },
  ];
  const { terminal, child, ended, until } = openPseudoTerminal([process.execPath, binary, ...args], {
    columns: COLUMNS,
    rows: ROWS,
    env,
    text: shownText,
  });
  const lines = () => [command, ...linesOf(terminal)];
  return {
    lines,
    until,
    ended: async () => {
      await ended;
      return lines();
    },
    stop: async () => {
      child.write("\u0003");
      await ended;
    },
  };
}

/**
 * What the screen shows as text: a line that is wider than the screen, such as one with an address, is one line.
 * @param {import("@xterm/headless").Terminal} terminal
 */
const shownText = ({ buffer: { active } }) =>
  Array.from({ length: active.length }, (_, row) => active.getLine(row))
    .map((line) => `${line?.isWrapped === true ? "" : "\n"}${line?.translateToString(true) ?? ""}`)
    .join("");

/** @param {string} argument */
const quoted = (argument) => (/^[\w.:/-]+$/.test(argument) ? argument : `"${argument}"`);

/**
 * @param {import("@xterm/headless").Terminal} terminal
 * @returns {Line[]}
 */
function linesOf({ buffer: { active } }) {
  const lines = Array.from({ length: active.length }, (_, row) => {
    /** @type {Line} */
    const spans = [];
    const line = active.getLine(row);
    const end = line?.translateToString(true).length ?? 0;
    for (let column = 0; column < end; column++) {
      const cell = line?.getCell(column);
      if (cell === undefined) continue;
      const style = [
        cell.isBold() && "bold",
        cell.isDim() && "dim",
        cell.isFgPalette() && `c${cell.getFgColor()}`,
      ]
        .filter(Boolean)
        .join(" ");
      const last = spans.at(-1);
      if (last?.style === style) last.text += cell.getChars() || " ";
      else spans.push({ text: cell.getChars() || " ", style });
    }
    return spans;
  });
  return lines.slice(0, lines.findLastIndex((line) => line.length > 0) + 1);
}

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/**
 * @param {readonly { readonly title: string, readonly lines: readonly Line[] }[]} windows
 */
export function terminalPicture(windows) {
  const width = Math.ceil(COLUMNS * CHARACTER) + 2 * PADDING;
  let top = 0;
  const drawn = windows.map(({ title, lines }) => {
    const height = BAR + lines.length * LINE + PADDING;
    const rows = lines.map((line, row) => {
      const spans = line
        .map(({ text, style }) => `<tspan class="${style}">${escaped(text)}</tspan>`)
        .join("");
      return `<text x="${PADDING}" y="${BAR + row * LINE + 14}">${spans}</text>`;
    });
    const group = `<g transform="translate(0 ${top})">
<rect width="${width}" height="${height}" rx="8" fill="#0d1117" stroke="#30363d"/>
<text x="${width / 2}" y="20" text-anchor="middle" class="dim title">${escaped(title)}</text>
${rows.join("\n")}
</g>`;
    top += height + 12;
    return group;
  });
  const colours = PALETTE.map((colour, code) => `.c${code}{fill:${colour}}`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top - 12}" viewBox="0 0 ${width} ${top - 12}">
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}.bold{font-weight:bold}.dim{fill:#8b949e}.title{font-size:12px}${colours}</style>
${drawn.join("\n")}
</svg>
`;
}
