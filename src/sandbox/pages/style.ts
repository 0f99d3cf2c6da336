/** The style sheet that all pages share: system fonts, and colours with enough contrast in light and dark mode. */

export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f8; --card: #ffffff; --text: #1b1f2a; --quiet: #565d6d; --line: #d9dde6; --edge: #858da0;
  --accent: #2f4bd8; --on-accent: #ffffff; --soft: #eef1fd;
  --good: #10693b; --bad: #ab1f2d; --warn: #7c4a03; --banner: #fdf0cd; --on-banner: #5c3b00;
  --shadow: 0 1px 2px rgb(20 25 40 / 6%), 0 12px 32px rgb(20 25 40 / 8%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #10131a; --card: #191e29; --text: #eceff6; --quiet: #a5aec0; --line: #333b4c; --edge: #78839a;
    --accent: #93a6ff; --on-accent: #0d1330; --soft: #222a40;
    --good: #6fd79f; --bad: #ff98a0; --warn: #f2c26b; --banner: #3a2d0c; --on-banner: #f8dfa4;
    --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 12px 32px rgb(0 0 0 / 30%);
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
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
.mono { font-family: ui-monospace, "SF Mono", Menlo, "Liberation Mono", monospace; font-size: 0.8125rem; overflow-wrap: anywhere; }
@media (forced-colors: active) { button.primary, .button.primary { forced-color-adjust: none; background: Highlight; border-color: Highlight; color: HighlightText; } }
`;
