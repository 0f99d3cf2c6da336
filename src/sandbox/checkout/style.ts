/** The style sheet of the checkout, its receipts and its messages: one column, and two from 768 pixels. */

export const CHECKOUT_STYLE = `
.checkout main { margin: 0 auto; padding: 2rem 1.25rem 4rem; overflow-wrap: anywhere; }
.card { background: var(--card); border-radius: 16px; box-shadow: var(--shadow); padding: 1.5rem; border: 1px solid transparent; }
h2, legend { font-size: 1rem; font-weight: 650; }

.pay { display: grid; gap: 2rem; max-width: 30rem; }
.merchant { display: flex; gap: 0.75rem; align-items: center; margin-bottom: 1.25rem; }
.initial { flex: none; width: 2.5rem; height: 2.5rem; border-radius: 10px; display: grid; place-items: center; background: var(--accent); color: var(--on-accent); font-weight: 700; font-size: 1.125rem; }
.summary h1 { font-size: 1rem; font-weight: 500; line-height: 1.35; color: var(--quiet); }
.summary h1 bdi { color: var(--text); font-weight: 650; }
.amount { font-size: clamp(1.75rem, 6vw, 2.5rem); line-height: 1.15; font-weight: 650; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; }
.amount.long { font-size: 1.25rem; letter-spacing: -0.01em; }
.amount.words { font-size: 1.625rem; letter-spacing: -0.01em; }
.amount + .hint { margin-top: 0.5rem; }
.description { margin-top: 1rem; }
.excerpt:has(+ [open]) { display: none; }
.whole { margin-top: 0.15rem; }
.whole[open] { display: flex; flex-direction: column; gap: 0.25rem; }
.whole summary { display: inline-block; color: var(--accent); font-size: 0.875rem; cursor: pointer; text-decoration: underline; text-underline-offset: 0.15em; padding: 0.15rem 0; }
.facts { display: grid; gap: 0.5rem; font-size: 0.9375rem; }
.facts div { display: grid; grid-template-columns: 7rem minmax(0, 1fr); gap: 0.75rem; }
.facts dt { color: var(--quiet); }
.facts dd { unicode-bidi: plaintext; text-align: left; }
.summary .facts { margin-top: 1.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }

#payment { display: grid; gap: 1.5rem; }
fieldset { display: flex; flex-wrap: wrap; gap: 1rem; }
legend { padding: 0; margin-bottom: 0.75rem; }
.field { flex: 1 1 100%; }
.field.short { flex: 1 1 7rem; min-width: 0; }
.field .hint, .field .error { margin-top: 0.35rem; }
.fields { display: flex; flex-wrap: wrap; gap: 1rem; margin-top: 1rem; }
.affixed { display: flex; border: 1px solid var(--edge); border-radius: 10px; align-items: stretch; }
.affixed input { flex: 1; min-width: 0; padding-right: 0.3rem; border: 0; outline: none; background: transparent; }
.affixed:has([aria-invalid]) { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad); }
.affixed input[aria-invalid] { box-shadow: none; }
.affixed:focus-within { outline: 3px solid var(--accent); outline-offset: 2px; }
.prefix, .suffix { flex: none; display: grid; place-items: center; padding: 0 0.85rem; color: var(--quiet); font-weight: 600; }
.prefix { border-right: 1px solid var(--line); }
.prefix + input { font-size: 1.25rem; font-weight: 650; font-variant-numeric: tabular-nums; min-height: 3.25rem; }
.suffix { padding-left: 0; }
.suffix:empty { display: none; }
.scheme, .suffix { font-size: 0.75rem; font-weight: 700; letter-spacing: 0.02em; }
.scheme::before, .suffix::before { content: ""; display: inline-block; width: 1.35em; height: 0.95em; margin-right: 0.4em; border-radius: 0.2em; background: linear-gradient(transparent 22%, currentColor 22% 44%, transparent 44%); box-shadow: inset 0 0 0 1.5px currentColor; vertical-align: -0.1em; opacity: 0.75; }
.suffix { grid-auto-flow: column; }
#number, #expiry, #cvc { font-variant-numeric: tabular-nums; letter-spacing: 0.02em; }
fieldset details { flex: 1 1 100%; }
fieldset summary { cursor: pointer; font-size: 0.9375rem; padding: 0.35rem 0; }
fieldset .facts { flex: 1 1 100%; }
.actions { display: grid; gap: 0.6rem; }
.actions button, .actions .button { width: 100%; min-height: 3rem; padding-block: 0.65rem; }
.quiet-button { background: transparent; border-color: transparent; color: var(--quiet); font-weight: 500; }

[data-state="working"], [data-state="done"] { position: relative; color: transparent !important; }
[data-state="working"] > *, [data-state="done"] > * { opacity: 0; }
[data-state]::after { position: absolute; inset: 0; margin: auto; width: 1.25rem; height: 1.25rem; color: var(--text); }
.primary[data-state]::after { color: var(--on-accent); }
[data-state="working"]::after { content: ""; border: 2.5px solid currentColor; border-right-color: transparent; border-radius: 50%; animation: turn 0.8s linear infinite; }
[data-state="done"]::after { content: ""; width: 0.6rem; height: 1.1rem; border: solid currentColor; border-width: 0 3px 3px 0; transform: translateY(-15%) rotate(45deg); animation: appear 0.25s ease-out; }
[aria-busy="true"] button { cursor: progress; }
@keyframes turn { to { transform: rotate(1turn); } }
@keyframes appear { from { opacity: 0; transform: translateY(-15%) rotate(45deg) scale(0.3); } }
@media (prefers-reduced-motion: reduce) { [data-state]::after { animation-duration: 3s; } }

.sandbox { display: grid; gap: 1rem; align-content: start; }
.test-cards, .strip { border: 1px dashed var(--edge); border-radius: 16px; padding: 1.25rem; font-size: 0.875rem; }
.test-cards { display: grid; gap: 0.6rem; }
.test-cards ul { list-style: none; display: grid; gap: 0.35rem; }
.test-cards button, .result { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 0.5rem; width: 100%; text-align: left; font-weight: 500; }
.test-cards button { padding: 0.4rem 0.75rem; }
.result { flex-wrap: nowrap; }
.number, .code { font-variant-numeric: tabular-nums; }
.number { white-space: nowrap; }
.scheme, .code { color: var(--quiet); font-weight: 600; }
.outcome { font-weight: 650; }
.outcome.approved { color: var(--good); } .outcome.declined { color: var(--bad); } .outcome.partially-approved { color: var(--warn); }
.strip { display: grid; gap: 0.35rem; padding: 0.9rem 1.25rem; }
.strip .delivered { color: var(--good); } .strip .failed { color: var(--bad); } .strip .waiting, .strip .none { color: var(--quiet); }
.checkout .message + .strip { max-width: 29rem; margin: 1rem auto 0; }
.problems p { margin-top: 0.35rem; }
h1:focus { outline: none; }

.checkout .message { max-width: 29rem; margin: 0 auto; display: grid; gap: 1.25rem; }
.message > :not(.facts, .actions, ul, .hidden) { justify-self: center; text-align: center; }
.message h1 { font-size: 1.375rem; line-height: 1.3; }
.message > [role="status"] + .amount { margin-top: -0.75rem; }
.message ul { padding-left: 1.2rem; }
.advice { color: var(--quiet); }
.message .facts { border-top: 1px solid var(--line); padding-top: 1.25rem; }
.mark { width: 3.5rem; height: 3.5rem; padding: 0.7rem; border-radius: 50%; background: color-mix(in srgb, currentColor 12%, transparent); fill: none; stroke: currentColor; stroke-width: 2.4; stroke-linecap: round; stroke-linejoin: round; }
.mark.approved, .mark.paid { color: var(--good); }
.mark.declined, .mark.refused { color: var(--bad); }
.mark.cancelled, .mark.expired, .mark.unknown { color: var(--warn); }

@media (min-width: 48rem) {
  .checkout main { padding-top: 3.5rem; }
  .card { padding: 2rem; }
  .pay { max-width: 62rem; grid-template: "summary form" auto "sandbox form" 1fr / minmax(0, 1fr) minmax(0, 1.25fr); column-gap: clamp(2rem, 6vw, 5rem); }
  .summary { grid-area: summary; padding-top: 0.75rem; }
  #payment { grid-area: form; align-self: start; }
  .sandbox { grid-area: sandbox; }
}
@media (max-width: 56rem) { .scheme::before, .suffix::before { display: none; } }
@media (max-width: 24rem) {
  .suffix { font-size: 0.625rem; padding-right: 0.5rem; }
  .checkout main { padding-inline: 0.9rem; }
  .card { padding: 1.1rem; }
  label { font-size: 0.8125rem; }
  fieldset, .fields { column-gap: 0.6rem; }
  .facts div { grid-template-columns: minmax(0, 1fr); gap: 0; }
}
@media (forced-colors: active) { .card { border-color: CanvasText; } }
`;
