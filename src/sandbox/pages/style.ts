/** The style sheet of all pages: system fonts, and colours with enough contrast in light and dark mode. */

export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f4f5f8; --card: #ffffff; --text: #1b1f2a; --quiet: #565d6d; --line: #d9dde6;
  --accent: #2f4bd8; --on-accent: #ffffff; --soft: #eef1fd;
  --good: #10693b; --bad: #ab1f2d; --warn: #7c4a03; --banner: #fdf0cd; --on-banner: #5c3b00;
  --shadow: 0 1px 2px rgb(20 25 40 / 6%), 0 12px 32px rgb(20 25 40 / 8%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #10131a; --card: #191e29; --text: #eceff6; --quiet: #a5aec0; --line: #333b4c;
    --accent: #93a6ff; --on-accent: #0d1330; --soft: #222a40;
    --good: #6fd79f; --bad: #ff98a0; --warn: #f2c26b; --banner: #3a2d0c; --on-banner: #f8dfa4;
    --shadow: 0 1px 2px rgb(0 0 0 / 40%), 0 12px 32px rgb(0 0 0 / 30%);
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1, h2, h3, p, dl, dd, ul, fieldset { margin: 0; padding: 0; border: 0; }
.banner { background: var(--banner); color: var(--on-banner); text-align: center; padding: 0.5rem 1rem; font-size: 0.875rem; }
.banner strong { text-transform: uppercase; letter-spacing: 0.06em; font-size: 0.75rem; margin-right: 0.4rem; }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
input, select, button, .button { font: inherit; border-radius: 10px; min-height: 2.75rem; padding: 0.55rem 0.85rem; }
input, select { width: 100%; border: 1px solid var(--quiet); background: var(--card); color: var(--text); }
input[aria-invalid] { border-color: var(--bad); }
button, .button { display: inline-block; text-align: center; text-decoration: none; border: 1px solid var(--line); background: var(--card); color: var(--text); cursor: pointer; font-weight: 600; }
button:hover, .button:hover { background: var(--soft); }
button.primary, .button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button.primary:hover, .button.primary:hover { filter: brightness(1.08); }
label, .label { display: block; font-size: 0.875rem; font-weight: 600; margin-bottom: 0.3rem; }
.hint { color: var(--quiet); font-size: 0.875rem; }
.error { color: var(--bad); font-size: 0.875rem; font-weight: 600; }

.checkout main { max-width: 27rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
.checkout .card { background: var(--card); border-radius: 18px; box-shadow: var(--shadow); padding: 1.5rem; display: grid; gap: 1.25rem; }
.merchant { color: var(--quiet); font-size: 0.9375rem; }
.checkout h1 { font-size: 1rem; font-weight: 600; color: var(--quiet); }
.amount { margin-top: 0.25rem; font-size: 2.375rem; line-height: 1.15; font-weight: 700; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.facts { overflow-wrap: anywhere; }
.checkout form { display: grid; gap: 1.1rem; }
.checkout .money { display: flex; align-items: center; gap: 0.6rem; }
.checkout .money + .hint { margin-top: 0.3rem; }
.checkout .money input { font-size: 1.5rem; font-weight: 700; }
.cards { display: grid; gap: 0.6rem; }
.cards legend { font-size: 0.875rem; font-weight: 600; margin-bottom: 0.4rem; padding: 0; }
.cards label { display: flex; align-items: center; gap: 0.8rem; margin: 0; padding: 0.75rem 0.9rem; border: 1px solid var(--line); border-radius: 12px; font-weight: 400; font-size: 1rem; cursor: pointer; }
.cards label:has(:checked) { border-color: var(--accent); background: var(--soft); box-shadow: inset 0 0 0 1px var(--accent); }
.cards input { width: 1.15rem; height: 1.15rem; min-height: 0; flex: none; accent-color: var(--accent); }
.cards b { display: block; font-weight: 600; font-variant-numeric: tabular-nums; }
.actions { display: grid; gap: 0.6rem; }
.actions button { width: 100%; min-height: 3.1rem; }
.quiet-button { background: transparent; border-color: transparent; color: var(--quiet); font-weight: 500; }
details.customer { border-top: 1px solid var(--line); padding-top: 0.9rem; }
details.customer summary { cursor: pointer; font-weight: 600; font-size: 0.9375rem; }
details.customer .fields { display: grid; gap: 0.8rem; margin-top: 0.8rem; grid-template-columns: 1fr 1fr; }
.fields .wide { grid-column: 1 / -1; }
.result { text-align: center; justify-items: center; }
.result h1 { font-size: 1.5rem; color: var(--text); }
.mark { width: 4rem; height: 4rem; border-radius: 50%; display: grid; place-items: center; font-size: 2rem; font-weight: 700; background: var(--soft); }
.mark.approved { color: var(--good); } .mark.declined, .mark.unknown, .mark.refused { color: var(--bad); } .mark.cancelled, .mark.expired { color: var(--warn); } .mark.paid { color: var(--good); }
.mono { font-family: ui-monospace, "SF Mono", Menlo, "Liberation Mono", monospace; font-size: 0.8125rem; overflow-wrap: anywhere; }
@media (min-width: 60rem) { .checkout main { padding-top: 4rem; } .checkout .card { padding: 2rem; } }
`;
