/** What the checkout's pages are made of: amounts, times, texts, facts, and the fields of the form with their problems. */
import { html } from "hono/html";
import { exponentOf, formatAmount, groupedAmount, signOf, type Amount } from "../../domain/money.ts";
import { VARIABLE_MODE } from "../../domain/payment-link.ts";
import {
  CUSTOMER_FIELDS,
  CUSTOMER_LABELS,
  customerFacts,
  givenDetails,
  LONGEST_DETAIL,
  LONGEST_NAME,
  type CustomerField,
} from "../customer.ts";
import { isReusable } from "../links.ts";
import type { Link } from "../ledger.ts";
import { hasFixedReference, LONGEST_REFERENCE } from "../payments.ts";
import type { Page } from "../page.ts";
import type { Problem } from "../../domain/errors.ts";

/** A name inside a sentence: its direction of writing does not change that of the sentence. */
export const name = (text: string): Page => html`<bdi>${text}</bdi>`;

/** The longest amount in large type. */
const LARGE = 16;

export function amountText(amount: Amount, currency: string): Page {
  const text = groupedAmount(amount, currency);
  return html`<p class="amount ${text.length > LARGE ? "long" : ""}">${text}</p>`;
}

const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

/** `31 January 2026 at 12:00 UTC` */
export const moment = (date: Date): Page =>
  html`<time datetime="${date.toISOString()}">${DATE.format(date)} UTC</time>`;

/** Characters of a text that are shown at first. */
const EXCERPT = 160;

/** A text that opens in full on demand, without a script, if it is long. */
export function excerpt(text: string): Page {
  const characters = [...text];
  if (characters.length <= EXCERPT) return html`<p dir="auto">${text}</p>`;
  const start = characters.slice(0, EXCERPT).join("");
  return html`<p dir="auto" class="excerpt">${start.replace(/[\s,;:.]+\S{0,20}$/, "")}…</p>
    <details class="whole">
      <summary>more</summary>
      <p dir="auto">${text}</p>
    </details>`;
}

type Fact = readonly [term: string, value: Page | string | undefined];

/** Facts without a value are left out. */
export const facts = (list: readonly Fact[]): Page =>
  html`<dl class="facts">
    ${list.map(([term, value]) =>
      value === undefined || value === ""
        ? ""
        : html`<div>
            <dt>${term}</dt>
            <dd dir="auto">${value}</dd>
          </div>`,
    )}
  </dl>`;

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

/** What a link leaves to the customer: its amount (Endpoints rule 7) and its reference. */
export function openFields(parts: FormParts): Page {
  return html`${isReusable(parts.link) ? amountField(parts) : ""}
  ${hasFixedReference(parts.link) ? "" : referenceField(parts)}`;
}

function amountField(parts: FormParts): Page {
  const { amount, currency } = parts.link.request;
  return field(parts, {
    name: "amount",
    label: `Amount in ${currency.toUpperCase()}`,
    autocomplete: "off",
    inputmode: exponentOf(currency) === 0 ? "numeric" : "decimal",
    prefix: currency.toUpperCase(),
    value: signOf(amount) > 0 ? formatAmount(amount, currency).replace(/^\S+ /, "") : "",
    hint: boundsText(parts.link),
  });
}

/** Endpoints rule 9: bounds apply in this mode only. */
function boundsText({ request: { currency, linkOptions = {} } }: Link): string | undefined {
  const { mode, minAmount, maxAmount } = linkOptions;
  const least = minAmount === undefined ? "" : groupedAmount(minAmount, currency);
  const most = maxAmount === undefined ? "" : groupedAmount(maxAmount, currency);
  if (mode !== VARIABLE_MODE || `${least}${most}` === "") return undefined;
  if (least === "") return `At most ${most}`;
  return most === "" ? `At least ${least}` : `From ${least} to ${most}`;
}

const referenceField = (parts: FormParts): Page =>
  field(parts, {
    name: "reference",
    label: "Payment reference",
    autocomplete: "off",
    maxlength: LONGEST_REFERENCE,
    value: parts.link.request.invoiceId,
  });

/** A refused form keeps every entry but the security code. */
export const cardFields = ({ entered, ...parts }: FormParts): Page => {
  const kept = new URLSearchParams(entered);
  kept.delete("cvc");
  const form = { ...parts, entered: kept };
  return html`<fieldset>
    <legend>Card</legend>
    ${field(form, {
      name: "number",
      label: "Card number",
      autocomplete: "cc-number",
      inputmode: "numeric",
    })}
    ${field(form, {
      name: "expiry",
      label: "Expiry (MM/YY)",
      autocomplete: "cc-exp",
      inputmode: "numeric",
      short: true,
    })}
    ${field(form, {
      name: "cvc",
      label: "Security code",
      autocomplete: "cc-csc",
      inputmode: "numeric",
      short: true,
    })}
    ${field(form, { name: "name", label: "Name on the card", autocomplete: "cc-name", maxlength: LONGEST_NAME })}
  </fieldset>`;
};

const AUTOCOMPLETE: Readonly<Record<CustomerField, string>> = {
  email: "email",
  firstName: "given-name",
  lastName: "family-name",
  address1: "address-line1",
  address2: "address-line2",
  city: "address-level2",
  postalcode: "postal-code",
  country: "country-name",
};

/** Fields that share a line with another. */
const SHORT: ReadonlySet<CustomerField> = new Set(["firstName", "lastName", "city", "postalcode"]);

/** Shows what the merchant gave, and fields for the rest. */
export function customerFields(parts: FormParts): Page {
  const given = givenDetails(parts.link.request);
  const open = CUSTOMER_FIELDS.filter((name) => given[name] === undefined);
  const isInUse = open.some(
    (name) => parts.entered?.get(name) || parts.problems?.some(({ at }) => at === name),
  );
  return html`<fieldset>
    <legend>Your details</legend>
    ${open.length === CUSTOMER_FIELDS.length ? "" : facts(customerFacts(given))}
    ${
      open.length === 0
        ? ""
        : html`<details ${isInUse ? "open" : ""}>
            <summary>
              ${open.length === CUSTOMER_FIELDS.length ? "Add your address and e-mail" : "Add more details"}
              <span class="hint">(optional)</span>
            </summary>
            <div class="fields">
              ${open.map((name) =>
                field(parts, {
                  name,
                  label: CUSTOMER_LABELS[name],
                  autocomplete: AUTOCOMPLETE[name],
                  inputmode: name === "email" ? "email" : "text",
                  maxlength: LONGEST_DETAIL,
                  short: SHORT.has(name),
                }),
              )}
            </div>
          </details>`
    }
  </fieldset>`;
}
