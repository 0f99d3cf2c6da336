/** The style of what only the dashboard has: its steps, forms, chain and controls. */

export const DASHBOARD_STYLE = `
.steps { display: grid; gap: 0 1rem; grid-template-columns: repeat(auto-fit, minmax(min(14rem, 100%), 1fr)); counter-reset: step; }
.steps li { counter-increment: step; display: flex; flex-direction: column; gap: 0.6rem; align-items: flex-start; }
.steps h2 { margin: 0; } .steps code { white-space: nowrap; }
.steps h2::before { content: counter(step); display: inline-grid; place-content: center; width: 1.5rem; height: 1.5rem; margin-right: 0.5rem; border-radius: 50%; background: var(--accent); color: var(--on-accent); font-size: 0.8125rem; }
.controls { display: flex; flex-wrap: wrap; gap: 0.4rem 1.25rem; font-size: 0.8125rem; }
.control { display: flex; flex-wrap: wrap; gap: 0.3rem 0.5rem; align-items: center; }
.control-name { color: var(--quiet); }
.control time { font-variant-numeric: tabular-nums; }
.chain li { position: relative; padding: 0 0 0.9rem 1.4rem; }
.chain li::before { content: ""; position: absolute; left: 0.1rem; top: 0.35rem; width: 0.65rem; height: 0.65rem; border-radius: 50%; border: 2px solid var(--quiet); background: var(--card); z-index: 1; }
.chain li::after { content: ""; position: absolute; left: 0.48rem; top: 0.5rem; bottom: -0.4rem; width: 2px; background: var(--line); }
.chain li:last-child::after { display: none; }
.chain li.done::before { background: var(--quiet); }
.chain li.open { color: var(--quiet); }
.chain li.open b { font-weight: 500; }
.chain li.done:is(.approved, .delivered, .paid)::before { background: var(--good); border-color: var(--good); }
.chain li.done:is(.declined, .failed)::before { background: var(--bad); border-color: var(--bad); }
.chain li.done:is(.partially-approved, .cancelled, .expired, .waiting)::before { background: var(--warn); border-color: var(--warn); }
.step { display: flex; gap: 0.5rem; justify-content: space-between; align-items: baseline; font-size: 0.8125rem; }
.step .quiet { font-size: 0.75rem; text-align: right; }
.chain .note { font-size: 0.8125rem; color: var(--quiet); overflow-wrap: anywhere; }
.chain a[aria-current] { color: var(--text); text-decoration: none; }
.steps .qr svg { width: 8rem; margin: 0; }
.qr svg { shape-rendering: crispEdges; display: block; width: 12rem; max-width: 100%; height: auto; margin-top: 0.5rem; border-radius: 8px; }
#pay form { display: flex; flex-wrap: wrap; gap: 0.6rem; align-items: end; }
#pay form p { width: 100%; }
#pay .field { flex: 0 1 12rem; }
.new-link { display: grid; gap: 0.9rem 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); max-width: 60rem; }
.new-link details[open] summary { margin-bottom: 0.6rem; }
.pages .field .error { margin-top: 0.35rem; }
.new-link .whole { grid-column: 1 / -1; }
.pages .problems { background: var(--card); max-width: 60rem; margin-bottom: 1rem; }
`;
