/** The frame of every page, the headers that restrict what a page may load and do, and the style that all pages share. */
import { html } from "hono/html";
import { safePage } from "../render/safe-text.ts";

export type Page = ReturnType<typeof html>;

interface Frame {
  readonly title: string;
  readonly content: Page;
  /** Each has a style and a script of its own. */
  readonly kind: "checkout" | "dashboard";
  /** The page shows a refused form, and its title begins with "Error:". */
  readonly invalid?: boolean;
}

/** A link of a chain with a check mark. */
const MARK_PATH =
  "M13.5 6.5l1.8-1.8a4.2 4.2 0 0 1 6 6l-3.6 3.6a4.2 4.2 0 0 1-6 0M10.5 17.5l-1.8 1.8a4.2 4.2 0 0 1-6-6l3.6-3.6a4.2 4.2 0 0 1 6 0";
const FAVICON = encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4 -4 32 32"><rect x="-4" y="-4" width="32" height="32" rx="8" fill="#2f4bd8"/><path d="${MARK_PATH}" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/></svg>`,
);

export function page({ title, content, kind, invalid = false }: Frame): Page {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${invalid ? "Error: " : ""}${title}</title>
        <link rel="icon" type="image/svg+xml" href="data:image/svg+xml,${FAVICON}" />
        <link rel="stylesheet" href="/${kind}.css" />
        <script type="module" src="/${kind}.js"></script>
      </head>
      <body class="${kind}">
        <aside class="banner" aria-label="Sandbox">
          <svg viewBox="0 0 24 24" aria-hidden="true"><path d="${MARK_PATH}" /></svg>
          <strong>Sandbox</strong> No money moves here.
        </aside>
        ${content}
      </body>
    </html>`;
}

/** A text of one line: a page would show a line break as a space. The reply makes the other characters visible. */
export const oneLine = (text: string): string => text.replaceAll("\n", "\\n");

/** Terms and their values, which may be written from right to left; empty values are left out. */
export const facts = (
  entries: readonly (readonly [term: string, value: Page | string | undefined])[],
): Page =>
  html`<dl class="facts">
    ${entries.map(([term, value]) =>
      value === undefined || value === ""
        ? ""
        : html`<div>
            <dt>${term}</dt>
            <dd><bdi>${typeof value === "string" ? oneLine(value) : value}</bdi></dd>
          </div>`,
    )}
  </dl>`;

/** No inline code, no other origins, no framing. No value of a link is part of it, so no link can add a directive. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

export const pageHeaders = (): Record<string, string> => ({
  "Content-Security-Policy": POLICY,
  "Referrer-Policy": "same-origin",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
});

/**
 * Content as a reply, with every character visible that could change how the rest is read. A rejected page is a fault of the
 * sandbox.
 */
export async function htmlReply(
  content: Page,
  status = 200,
  headers: Record<string, string> = {},
): Promise<Response> {
  const type = { "Content-Type": "text/html; charset=utf-8" };
  return new Response(safePage(String(await content)), {
    status,
    headers: { ...pageHeaders(), ...type, ...headers },
  });
}

/** A file that pages load. */
export const fileReply = (text: string, type: "text/css" | "text/javascript"): Response =>
  new Response(text, { headers: { ...pageHeaders(), "Content-Type": `${type}; charset=utf-8` } });

/** System fonts, and colours with enough contrast in light and dark mode. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f8; --card: #ffffff; --text: #1b1f2a; --quiet: #565d6d; --line: #d9dde6; --edge: #858da0;
  --accent: #2f4bd8; --on-accent: #ffffff; --soft: #eef1fd;
  --good: #10693b; --bad: #ab1f2d; --warn: #7c4a03; --banner: #fdf0cd; --on-banner: #5c3b00; --mark: #ffe38a;
  --shadow: 0 1px 2px rgb(20 25 40 / 6%), 0 12px 32px rgb(20 25 40 / 8%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #10131a; --card: #191e29; --text: #eceff6; --quiet: #a5aec0; --line: #333b4c; --edge: #78839a;
    --accent: #93a6ff; --on-accent: #0d1330; --soft: #222a40;
    --good: #6fd79f; --bad: #ff98a0; --warn: #f2c26b; --banner: #3a2d0c; --on-banner: #f8dfa4; --mark: #6a5310;
    --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 12px 32px rgb(0 0 0 / 30%);
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1, h2, h3, p, dl, dd, ul, fieldset { margin: 0; padding: 0; border: 0; min-width: 0; }
.banner { background: var(--banner); color: var(--on-banner); text-align: center; padding: 0.4rem 1rem; font-size: 0.8125rem; }
.banner strong { margin-right: 0.35rem; }
.banner svg { width: 1rem; height: 1rem; margin-right: 0.4rem; vertical-align: -0.15rem; fill: none; stroke: currentColor; stroke-width: 2.4; stroke-linecap: round; }
a { color: var(--accent); text-underline-offset: 0.15em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
input, select, button, .button { font: inherit; border-radius: 10px; min-height: 2.75rem; padding: 0.55rem 0.85rem; }
input, select { width: 100%; border: 1px solid var(--edge); background: var(--card); color: var(--text); }
input[aria-invalid] { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad); }
button, .button { display: inline-block; text-align: center; text-decoration: none; border: 1px solid var(--line); background: var(--card); color: var(--text); cursor: pointer; font-weight: 600; }
button:hover, .button:hover { background: var(--soft); }
button.primary, .button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.primary:hover, .button.primary:hover { filter: brightness(1.08); }
label, .label { display: block; font-size: 0.875rem; font-weight: 600; margin-bottom: 0.3rem; }
.hint { color: var(--quiet); font-size: 0.875rem; }
.error { color: var(--bad); font-size: 0.875rem; font-weight: 600; }
.problems { border: 1px solid var(--bad); border-radius: 10px; padding: 0.9rem 1rem; }
.problems h2 { font-size: 0.9375rem; color: var(--bad); }
.problems ul { padding-left: 1.1rem; margin-top: 0.35rem; font-size: 0.9375rem; }
.problems a { color: var(--bad); }
.hidden { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.mono { font-family: ui-monospace, "SF Mono", Menlo, "Liberation Mono", monospace; font-size: 0.8125rem; overflow-wrap: anywhere; }
@media (forced-colors: active) { button.primary, .button.primary { forced-color-adjust: none; background: Highlight; border-color: Highlight; color: HighlightText; } }
`;
