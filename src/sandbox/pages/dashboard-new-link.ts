/** The page that creates a link. A refused form keeps what was entered, and names each problem at its field. */
import { html } from "hono/html";
import type { Problem } from "../../domain/errors.ts";
import { LISTENER_URL } from "../../domain/addresses.ts";
import { dashboardPage } from "./dashboard-frame.ts";
import { actionForm, address, type View } from "./dashboard-parts.ts";
import type { Page } from "./page-frame.ts";

interface NewLinkParts {
  readonly terminalId: string;
  /** A refused form. */
  readonly refused?: {
    readonly entered: URLSearchParams;
    readonly reason: string;
    readonly problems: readonly Problem[];
  };
}

interface Field {
  /** The request's own name, with dots: the form is checked by the rules of every request. */
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  readonly inputmode?: string;
}

const fieldsFor = (terminalId: string): readonly Field[] => [
  { name: "amount", label: "Amount", value: "10.00", inputmode: "decimal" },
  { name: "currency", label: "Currency", value: "EUR" },
  { name: "description", label: "Description", value: "" },
  { name: "invoiceId", label: "Invoice id", value: "", hint: "Becomes the payment's reference" },
  { name: "customerName", label: "Customer name", value: "Sandbox Customer" },
  {
    name: "expirationDate",
    label: "Expires",
    value: "7d",
    hint: "A date and time, or a duration such as 36h or 7d",
  },
  { name: "terminalId", label: "Terminal", value: terminalId },
  {
    name: "paymentSettings.callbackUrl",
    label: "Callback address",
    value: LISTENER_URL,
    hint: "Receives a webhook for each approved payment",
  },
  {
    name: "paymentSettings.failureCallbackUrl",
    label: "Failure callback address",
    value: LISTENER_URL,
    hint: "Receives a webhook for each declined or cancelled payment",
  },
];

const KINDS = [
  ["", "One-time: a single payment"],
  ["REUSABLE_VARIABLE", "Reusable: many payments"],
] as const;
const KIND = "linkOptions.mode";

export function newLinkPage(view: View, { terminalId, refused }: NewLinkParts): Page {
  const { entered, problems = [] } = refused ?? {};
  const fields = fieldsFor(terminalId);
  const labels = new Map([...fields.map(({ name, label }) => [name, label] as const), [KIND, "Kind"]]);
  return dashboardPage(view, {
    title: "New link",
    invalid: refused !== undefined,
    tab: "links",
    content: html`<h1>New link</h1>
      ${refused === undefined ? "" : summary(refused.reason, problems, labels)}
      ${actionForm(
        view,
        "/sandbox/links",
        html`<div class="panel new-link">
          ${fields.map((field) => input(field, entered, problems))} ${kindField(entered)}
          <div class="actions whole">
            <button class="primary">Create link</button>
            <a class="button" href="${address(view, "/links")}">Back to links</a>
          </div>
        </div>`,
        "/links",
      )}`,
  });
}

/** Every problem, including those of fields that the form does not have. */
const summary = (reason: string, problems: readonly Problem[], labels: ReadonlyMap<string, string>): Page =>
  html`<section
    class="panel problems"
    role="alert"
    aria-labelledby="problems-title"
    id="problems"
    tabindex="-1"
    autofocus
  >
    <h2 id="problems-title">The link was not created: ${reason}</h2>
    <ul>
      ${problems.map(({ at, message }) => {
        const label = labels.get(at);
        return html`<li>
          ${label === undefined ? html`<code>${at}</code>` : html`<a href="#${fieldId(at)}">${label}</a>`}
          ${message}
        </li>`;
      })}
    </ul>
  </section>`;

const fieldId = (name: string): string => `field-${name.replaceAll(".", "-")}`;

function input(
  { name, label, value, hint, inputmode }: Field,
  entered: URLSearchParams | undefined,
  problems: readonly Problem[],
): Page {
  const id = fieldId(name);
  const problem = problems
    .filter(({ at }) => at === name)
    .map(({ message }) => message)
    .join("; ");
  const described = [
    ...(hint === undefined ? [] : [`${id}-hint`]),
    ...(problem === "" ? [] : [`${id}-error`]),
  ];
  return html`<div>
    <label for="${id}">${label}</label>
    <input
      id="${id}"
      name="${name}"
      value="${entered === undefined ? value : (entered.get(name) ?? "")}"
      autocomplete="off"
      dir="auto"
      ${inputmode === undefined ? "" : html`inputmode="${inputmode}"`}
      ${problem === "" ? "" : html`aria-invalid="true"`}
      ${described.length === 0 ? "" : html`aria-describedby="${described.join(" ")}"`}
    />
    ${hint === undefined ? "" : html`<p class="hint" id="${id}-hint">${hint}</p>`}
    ${problem === "" ? "" : html`<p class="error" id="${id}-error">${label} ${problem}</p>`}
  </div>`;
}

const kindField = (entered: URLSearchParams | undefined): Page =>
  html`<div>
    <label for="${fieldId(KIND)}">Kind</label>
    <select id="${fieldId(KIND)}" name="${KIND}">
      ${KINDS.map(
        ([value, label]) =>
          html`<option value="${value}" ${value === (entered?.get(KIND) ?? "") ? "selected" : ""}>
            ${label}
          </option>`,
      )}
    </select>
  </div>`;
