/** The style sheet of the checkout, its receipts and its messages. */

export const CHECKOUT_STYLE = `
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
@media (min-width: 60rem) { .checkout main { padding-top: 4rem; } .checkout .card { padding: 2rem; } }
`;
