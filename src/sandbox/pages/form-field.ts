/** One field of the checkout's form with its problem, and the summary of all problems. */
import { html } from "hono/html";
import type { Problem } from "../../domain/errors.ts";
import { CUSTOMER_FIELDS, CUSTOMER_LABELS, type CustomerField } from "../customer.ts";
import type { Link } from "../ledger.ts";
import type { Page } from "./page-frame.ts";

export interface FormParts {
  readonly link: Link;
  /** A refused form, shown again with its problems. */
  readonly entered?: URLSearchParams | undefined;
  readonly problems?: readonly Problem[];
}

interface Field {
  readonly name: string;
  readonly label: string;
  readonly autocomplete: string;
  readonly value?: string | undefined;
  readonly hint?: string | undefined;
  readonly inputmode?: "text" | "numeric" | "decimal" | "email";
  readonly maxlength?: number;
  /** Shown before the input. */
  readonly prefix?: string;
  readonly short?: boolean;
}

export function field(parts: FormParts, given: Field): Page {
  const { name, label, autocomplete, hint, inputmode = "text", maxlength, prefix, short } = given;
  const problem = parts.problems?.find(({ at }) => at === name);
  const isFirst = problem !== undefined && problem === shownProblems(parts)[0];
  const described = [...(hint === undefined ? [] : [`${name}-hint`]), ...(problem ? [`${name}-error`] : [])];
  const input = html`<input
    id="${name}"
    name="${name}"
    inputmode="${inputmode}"
    autocomplete="${autocomplete}"
    dir="auto"
    spellcheck="false"
    ${maxlength === undefined ? "" : html`maxlength="${maxlength}"`}
    ${described.length === 0 ? "" : html`aria-describedby="${described.join(" ")}"`}
    ${problem === undefined ? "" : html`aria-invalid="true"`}
    ${isFirst ? html`autofocus` : ""}
    value="${parts.entered?.get(name) ?? given.value ?? ""}"
  />`;
  return html`<div class="field ${short ? "short" : ""}">
    <label for="${name}">${label}</label>
    ${prefix === undefined ? input : html`<div class="prefixed"><span aria-hidden="true">${prefix}</span>${input}</div>`}
    ${hint === undefined ? "" : html`<p class="hint" id="${name}-hint">${hint}</p>`}
    ${problem === undefined ? "" : html`<p class="error" id="${name}-error">${sentence(problem)}</p>`}
  </div>`;
}

/** How a sentence about a field begins. */
const SUBJECTS: Readonly<Record<string, string>> = {
  number: "card number",
  expiry: "expiry date",
  cvc: "security code",
  name: "name on the card",
  email: "e-mail",
  reference: "payment reference",
};

const isCustomerField = (name: string): name is CustomerField =>
  CUSTOMER_FIELDS.some((known) => known === name);

function sentence({ at, message }: Problem): string {
  const subject = SUBJECTS[at] ?? (isCustomerField(at) ? CUSTOMER_LABELS[at].toLowerCase() : at);
  return `The ${subject} ${message}.`;
}

/** In the order of the form. */
const FORM_ORDER = ["amount", "reference", "number", "expiry", "cvc", "name", ...CUSTOMER_FIELDS];

function shownProblems({ problems = [] }: FormParts): Problem[] {
  const place = ({ at }: Problem): number => FORM_ORDER.indexOf(at);
  return problems.toSorted((one, other) => place(one) - place(other));
}

/** Links to each field with a problem. */
export function problemSummary(parts: FormParts): Page | "" {
  const problems = shownProblems(parts);
  if (problems.length === 0) return "";
  return html`<div class="problems" role="alert">
    <h2>Nothing was paid. Please correct ${problems.length === 1 ? "this" : "these"}:</h2>
    <ul>
      ${problems.map((problem) => html`<li><a href="#${problem.at}">${sentence(problem)}</a></li>`)}
    </ul>
  </div>`;
}
