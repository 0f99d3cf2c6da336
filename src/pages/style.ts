/** The style that all pages share, and that of pages with lists and details. */

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

export const PAGES_STYLE = `
.pages { --row: 0.4rem; font-size: 0.875rem; }
.pages main:focus { outline: none; }
.pages .head, .pages main { max-width: 90rem; margin: 0 auto; padding: 0 1rem; }
.pages main { display: block; padding-bottom: 4rem; }
.pages h1 { font-size: 1.375rem; line-height: 1.3; letter-spacing: -0.01em; overflow-wrap: anywhere; }
.pages h2 { font-size: 1rem; margin: 0 0 0.6rem; }
.pages :is(.list-row, dialog) h2 { margin: 0; }
.pages h3 { font-size: 0.9375rem; margin: 1.4rem 0 0.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
.block-title { font-size: 0.8125rem; font-weight: 600; color: var(--quiet); }
.pages ul, .pages ol { list-style: none; margin: 0; padding: 0; }
.pages .quiet { color: var(--quiet); }
.pages .hint { color: var(--quiet); font-size: 0.8125rem; }
.pages .mono, .pages code, .pages pre { font-family: ui-monospace, "SF Mono", Menlo, "Liberation Mono", monospace; font-size: 0.8125rem; overflow-wrap: anywhere; }
.skip { position: absolute; left: 1rem; top: -6rem; z-index: 2; padding: 0.5rem 0.9rem; background: var(--card); border-radius: 8px; }
.skip:focus { top: 0.5rem; }

.pages button, .pages .button { min-height: 2rem; padding: 0.25rem 0.7rem; font-size: 0.8125rem; border-radius: 8px; border: 1px solid var(--line); background: var(--card); line-height: 1.4; white-space: nowrap; }
.pages .button { display: inline-flex; align-items: center; justify-content: center; }
.pages button:hover, .pages .button:hover { background: var(--soft); }
.pages button.primary, .pages .button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.pages button.danger, .pages .button.danger { color: var(--bad); }
.pages input, .pages select { min-height: 2.25rem; padding: 0.3rem 0.65rem; font-size: 0.875rem; border-radius: 8px; }
.pages .inline { display: contents; }
.pages .actions { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; }
html:not(.scripted) .copy { display: none; }
.pages button.copy { min-height: 1.5rem; padding: 0 0.5rem; font-size: 0.75rem; font-weight: 500; color: var(--quiet); }

.pages .head { padding-top: 0.9rem; padding-bottom: 0; display: grid; gap: 0.6rem; }
.head-row { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; align-items: center; justify-content: space-between; }
.brand { font-weight: 700; font-size: 1rem; overflow-wrap: anywhere; }
.brand a { color: inherit; text-decoration: none; }
.search { display: flex; gap: 0.4rem; flex: 1 1 16rem; max-width: 32rem; }
.search input { flex: 1; min-width: 0; }
.connection { display: inline-flex; align-items: center; gap: 0.4rem; font-size: 0.8125rem; color: var(--quiet); }
.connection::before { content: ""; width: 0.55rem; height: 0.55rem; border-radius: 50%; border: 2px solid currentColor; }
.connection[data-state="live"]::before { background: var(--good); border-color: var(--good); }
.connection[data-state="reconnecting"] { color: var(--warn); }
.connection[data-state="stopped"] { color: var(--bad); font-weight: 600; }
.tabs ul { display: flex; flex-wrap: wrap; gap: 0 1.4rem; }
.tabs a { display: inline-flex; gap: 0.4rem; align-items: center; padding: 0.55rem 0; color: var(--quiet); text-decoration: none; font-weight: 600; border-bottom: 2px solid transparent; }
.tabs a:hover { color: var(--text); }
.tabs a[aria-current] { color: var(--text); border-color: var(--accent); }
.count { font-size: 0.75rem; font-weight: 600; padding: 0 0.4rem; border-radius: 99px; background: var(--soft); color: var(--quiet); font-variant-numeric: tabular-nums; }
.count.failed { background: none; border: 1px solid currentColor; color: var(--bad); }
.pages .control button, .pages .control .button { min-height: 1.75rem; padding: 0.1rem 0.5rem; font-weight: 500; }
@media (max-width: 30rem) {
  .tabs ul { gap: 0 0.5rem; } .tabs a { font-size: 0.8125rem; gap: 0.2rem; }  .count { padding: 0 0.25rem; }
  .control-name, .count:not(.failed), .count .word { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  .pages .panel { padding: 0.8rem; overflow-x: auto; }
   table.list { font-size: 0.8125rem; } .badge { padding: 0 0.35rem; }
}
@media (max-width: 60rem) { .controls { padding-bottom: 0.6rem; } }
.pages main { border-top: 1px solid var(--line); margin-top: 0; padding-top: 1.1rem; }

.title-row { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; justify-content: space-between; margin-bottom: 0.9rem; min-height: 2rem; }
#content > h1 { margin-bottom: 0.9rem; }
.pages .panel { background: var(--card); border: 1px solid var(--line); border-radius: 12px; box-shadow: none; padding: 0.9rem 1rem; margin-bottom: 1rem; min-width: 0; container-type: inline-size; }
.notice { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--accent); border-radius: 8px; padding: 0.6rem 0.9rem; margin-bottom: 1rem; }
.alert { display: flex; flex-wrap: wrap; gap: 0.4rem 1rem; align-items: center; background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--bad); border-radius: 8px; padding: 0.5rem 0.9rem; margin-bottom: 0.8rem; }
.alert form { margin-left: auto; }
.filters { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; justify-content: space-between; margin-bottom: 0.8rem; }
.chips { display: flex; flex-wrap: wrap; gap: 0.35rem; }
.chips a { display: block; padding: 0.2rem 0.7rem; border: 1px solid var(--line); border-radius: 99px; background: var(--card); color: var(--text); text-decoration: none; font-size: 0.8125rem; }
.chips a:hover { background: var(--soft); }
.chips a[aria-current] { border-color: var(--accent); background: var(--soft); font-weight: 600; }
.filter { display: flex; gap: 0.4rem; flex: 0 1 20rem; }
.filter input { flex: 1; min-width: 0; }
.list-row { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; justify-content: space-between; align-items: baseline; min-height: 1.4rem; margin-bottom: 0.4rem; font-variant-numeric: tabular-nums; }
.empty { text-align: center; padding: 2.5rem 1rem !important; display: grid; gap: 0.6rem; justify-items: center; color: var(--quiet); }
.empty b { color: var(--text); font-size: 1rem; }
.paging { display: flex; gap: 0.5rem; justify-content: flex-end; padding-top: 0.8rem; }

table.list { width: 100%; border-collapse: collapse; }
table.list th { text-align: left; font-size: 0.75rem; font-weight: 600; color: var(--quiet); padding: 0.3rem 0.75rem 0.3rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
table.list td { padding: var(--row) 0.75rem var(--row) 0; border-bottom: 1px solid var(--line); vertical-align: baseline; overflow-wrap: anywhere; }
table.list tr:last-child td { border-bottom: 0; }
table.list tbody tr:hover { background: var(--soft); }
table.list td:not(.main, .wide) { white-space: nowrap; }
table.list :is(td.wide, td.main) { min-width: 7rem; } table.list td.mono { min-width: 9rem; }
table.list .number { text-align: right; padding-right: 0; font-variant-numeric: tabular-nums; }
table.list time { white-space: nowrap; }
.scripted table.list tbody tr { cursor: pointer; }
table.list time { font-variant-numeric: tabular-nums; color: var(--quiet); }
table.list a { text-decoration: none; } table.list a:hover { text-decoration: underline; }
table.list .main a { font-weight: 600; }
table.list tr:has([aria-current]) { background: var(--soft); }
table.list td:last-child, table.list th:last-child { padding-right: 0; }
@container (max-width: 72rem) { .pages .wide { display: none; } }
@container (min-width: 44rem) { table.list .number { padding-right: 1.75rem; white-space: nowrap; } }
/* In a narrow panel a row is two lines: what it is and its amount, then its states and times. */
@container (max-width: 43.99rem) {
  .pages .medium, table.list thead, table.list td:has(> .quiet:only-child) { display: none; }
  table.list, table.list tbody { display: block; }
  table.list tr { display: flex; flex-wrap: wrap; align-items: center; gap: 0.15rem 0.6rem; padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
  table.list tr:last-child { border-bottom: 0; }
  table.list tr::after { content: ""; order: 1; flex-basis: 100%; }
  table.list td { order: 2; padding: 0; border: 0; }
  table.list td.wide:has(mark) { display: block; }
  table.list td.main { order: 0; flex: 1; min-width: 40%; }
  table.list td.number { order: 1; margin-left: auto; }
}
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
.badge { display: inline-block; font-size: 0.75rem; font-weight: 600; padding: 0 0.5rem; border-radius: 99px; border: 1px solid currentColor; line-height: 1.5; color: var(--quiet); vertical-align: middle; letter-spacing: 0; }
.badge.approved, .badge.delivered, .badge.paid { color: var(--good); }
.badge.declined, .badge.failed { color: var(--bad); }
.badge.partially-approved, .badge.cancelled, .badge.waiting, .badge.expired, .badge.attempted, .badge.stopped, .badge.moved { color: var(--warn); }
.badge.active, .badge.viewed { color: var(--accent); }

.detail { display: grid; gap: 0 1rem; }
.detail-main, .detail-aside { min-width: 0; }
@media (max-width: 60rem) { .detail-aside { display: contents; } .detail .chain { order: 1; } }
@media (min-width: 60rem) { .detail { grid-template: auto 1fr / 19rem minmax(0, 1fr); } .detail-aside { grid-area: 1 / 1 / 3; } }
.verdict { font-size: 1.125rem; font-weight: 650; line-height: 1.4; }
.verdict.waiting { color: var(--text); }
.reason { margin-top: 0.2rem; overflow-wrap: anywhere; }
#summary .hint { margin-top: 0.4rem; }
.exchange { display: grid; gap: 0 1rem; align-items: start; }
@media (min-width: 75rem) { .exchange { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
/* One below the other, the short response is first. */
@media (max-width: 75rem) { .exchange > div { display: contents; } #response { order: -1; } }
.checks { display: grid; gap: 0.35rem 1.25rem; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); }
.checks li { display: grid; grid-template-columns: 6rem minmax(0, 1fr); gap: 0.5rem; font-weight: 400; overflow-wrap: anywhere; }
.checks .bad { grid-column: 1 / -1; }
.checks li > span { color: var(--quiet); }
.facts { display: grid; gap: 0.45rem; margin: 0; }
.facts div { display: grid; gap: 0 1rem; }
@media (min-width: 40rem) { .facts div { grid-template-columns: 8rem minmax(0, 1fr); } }
.facts dt { color: var(--quiet); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.pages details:not(:first-child) { margin-top: 0.8rem; }
.pages summary { cursor: pointer; font-weight: 600; font-size: 0.8125rem; padding: 0.15rem 0; }
.block { margin-top: 0.8rem; }
.block-head { display: flex; gap: 0.5rem; justify-content: space-between; align-items: center; min-height: 1.6rem; margin-bottom: 0.3rem; }
.pages pre { margin: 0; padding: 0.7rem 0.8rem; border-radius: 8px; background: var(--ground); white-space: pre-wrap; line-height: 1.5; max-height: 20rem; overflow: auto; unicode-bidi: plaintext; }
.request-line { margin-bottom: 0.6rem; overflow-wrap: anywhere; }
table.headers { width: 100%; border-collapse: collapse; font-family: ui-monospace, "SF Mono", Menlo, "Liberation Mono", monospace; font-size: 0.8125rem; }
table.headers caption { text-align: left; color: var(--quiet); font: 600 0.8125rem/1.5 system-ui, sans-serif; padding-bottom: 0.3rem; }
table.headers th, table.headers td { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0; border-top: 1px solid var(--line); }
table.headers, .base { word-break: break-all; }
table.headers th { font-weight: 500; color: var(--quiet); width: 10rem; }
@media (max-width: 40rem) { table.headers th, table.headers td { display: block; width: auto; } tr.part td { padding-left: 0.75rem; } table.headers td { border-top: 0; padding-top: 0; } }
.problems ul { list-style: disc; padding-left: 1.2rem; }
dialog { font-size: 0.875rem; border: 1px solid var(--line); border-radius: 14px; background: var(--card); color: var(--text); padding: 1.4rem; max-width: min(34rem, 92vw); gap: 0.9rem; }
dialog:popover-open { display: grid; }
dialog::backdrop { background: rgb(10 12 20 / 50%); }
@media (forced-colors: active) { .pages :is(.button, .button.primary) { color: LinkText; background: Canvas; border-color: LinkText; } .pages :is(button, button.primary) { color: ButtonText; background: ButtonFace; border-color: ButtonText; } .tabs a[aria-current], .chips a[aria-current] { border-color: Highlight; } .connection::before, .chain li::before { forced-color-adjust: none; } }
.step-line { display: flex; flex-wrap: wrap; gap: 0.2rem 1.1rem; margin-bottom: 0.2rem !important; }
.step-line .bad { font-weight: 650; }
.pages details + details { margin-top: 0.4rem; }
#fresh[hidden] { display: none; }
#fresh { position: fixed; top: 0.75rem; left: 50%; transform: translateX(-50%); z-index: 2; border-radius: 99px; box-shadow: var(--shadow); }
`;
