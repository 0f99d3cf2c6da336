/** The style sheet of the dashboard. */

export const DASHBOARD_STYLE = `
.columns-left { display: grid; gap: 1.5rem; align-content: start; }
.dashboard main { max-width: 84rem; margin: 0 auto; padding: 1.25rem 1rem 4rem; display: grid; gap: 1.5rem; }
.dashboard h1 { font-size: 1.5rem; letter-spacing: -0.01em; }
.dashboard h2 { font-size: 1.0625rem; margin-bottom: 0.75rem; }
.dashboard h3 { font-size: 0.875rem; margin: 0.9rem 0 0.3rem; }
.top { display: flex; flex-wrap: wrap; gap: 0.75rem 1.25rem; align-items: baseline; justify-content: space-between; }
.panel { background: var(--card); border-radius: 16px; box-shadow: var(--shadow); padding: 1.1rem; min-width: 0; }
.columns { display: grid; gap: 1.5rem; }
@media (min-width: 60rem) { .columns { grid-template-columns: 1fr 1fr; } }
.row { border-top: 1px solid var(--line); padding: 0.7rem 0; }
.row:first-of-type { border-top: 0; }
.line { display: flex; flex-wrap: wrap; gap: 0.3rem 0.8rem; align-items: center; justify-content: space-between; }
.line b { font-variant-numeric: tabular-nums; }
.state { font-size: 0.75rem; font-weight: 700; text-transform: uppercase; letter-spacing: 0.04em; padding: 0.1rem 0.5rem; border-radius: 99px; background: var(--soft); }
.state.approved, .state.delivered, .state.paid { color: var(--good); } .state.declined, .state.failed { color: var(--bad); } .state.cancelled, .state.waiting, .state.expired { color: var(--warn); } .state.active { color: var(--accent); }
.dashboard summary { cursor: pointer; }
.dashboard pre { margin: 0; padding: 0.7rem; border-radius: 10px; background: var(--ground); overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; font: 0.8125rem/1.45 ui-monospace, Menlo, "Liberation Mono", monospace; }
.columns > .panel { align-self: start; }
.grid { display: grid; gap: 0.8rem; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); align-items: end; }
.dashboard button, .dashboard .button { min-height: 2.25rem; padding: 0.3rem 0.8rem; font-size: 0.875rem; }
.dashboard input, .dashboard select { min-height: 2.5rem; }
.inline { display: inline; }
.notice { border-left: 4px solid var(--accent); }
.empty { color: var(--quiet); padding: 0.4rem 0; }
`;
