/** The checkout page, which works without JavaScript, and the reader of its form. */
import { html } from "hono/html";
import { exponentOf } from "../../domain/currency.ts";
import { formatAmount, signOf } from "../../domain/money.ts";
import { DEFAULT_REFERENCE_MODE, VARIABLE_MODE } from "../../domain/payment-link.ts";
import type { Problem } from "../../domain/errors.ts";
import { isReusable, type Link } from "../links.ts";
import { page, type Page } from "./page-frame.ts";
import { CHOICES, TEST_CARDS, type PaymentInput } from "../payments.ts";
import { ServiceProblem } from "../service-problem.ts";

/** A button or a test card decides the outcome. Throws a 400 problem. */
export function paymentInputFromForm(form: URLSearchParams): PaymentInput {
  const card = TEST_CARDS.find(({ number }) => number === form.get("card"));
  const outcome = CHOICES.find((choice) => choice === form.get("outcome")) ?? card?.outcome;
  if (outcome === undefined) {
    const message = `must be one of ${CHOICES.join(", ")}`;
    throw new ServiceProblem(400, "Bad Request", `outcome ${message}`, [{ at: "outcome", message }]);
  }
  const amount = form.get("amount")?.trim() || undefined;
  const reference = form.get("reference")?.trim() || undefined;
  return {
    outcome,
    ...(amount === undefined ? {} : { amount }),
    ...(reference === undefined ? {} : { reference }),
  };
}

interface CheckoutParts {
  readonly link: Link;
  readonly merchantName: string;
  /** A refused form, shown again with its problems. */
  readonly entered?: URLSearchParams;
  readonly problems?: readonly Problem[];
}

export function checkoutPage(parts: CheckoutParts): Page {
  const { link, merchantName } = parts;
  const { amount, currency, description, invoiceId, periodic } = link.request;
  const reusable = isReusable(link);
  const nothingDue = !reusable && signOf(amount) === 0;
  const payable = formatAmount(amount, currency);
  return page({
    kind: "checkout",
    title: `Pay ${merchantName}`,
    content: html`<main>
      <div class="card">
        <div class="facts">
          <p class="merchant">${merchantName}</p>
          <h1>${description ?? (invoiceId === undefined ? "Payment" : `Payment for ${invoiceId}`)}</h1>
          ${reusable ? "" : html`<p class="amount">${payable}</p>`}
          ${nothingDue ? html`<p class="hint">Nothing is charged now. Your card is only verified.</p>` : ""}
          ${periodic === undefined ? "" : html`<p class="hint">Later payments may be taken from this card.</p>`}
        </div>
        <form method="post" novalidate>
          ${reusable ? amountField(parts) : ""} ${referenceField(parts)} ${cardFields()}
          ${customerFields(link)}
          <div class="actions">
            <button class="primary">
              ${reusable ? "Pay" : nothingDue ? "Verify card" : `Pay ${payable}`}
            </button>
            <button class="quiet-button" name="outcome" value="cancelled">Cancel payment</button>
          </div>
        </form>
      </div>
    </main>`,
  });
}

const problemAt = ({ problems = [] }: CheckoutParts, at: string): string | undefined =>
  problems.find((problem) => problem.at === at)?.message;

/** Endpoints rule 7: prefilled with the link's amount; empty for amount 0. */
function amountField(parts: CheckoutParts): Page {
  const { amount, currency, linkOptions } = parts.link.request;
  const prefilled = signOf(amount) > 0 ? amount.toString() : "";
  const problem = problemAt(parts, "amount");
  const digits = exponentOf(currency) ?? 2;
  const bounds = boundsText(currency, linkOptions);
  return html`<div>
    <label for="amount">Amount</label>
    <div class="money">
      <span aria-hidden="true">${currency.toUpperCase()}</span>
      <input
        id="amount"
        name="amount"
        inputmode="${digits === 0 ? "numeric" : "decimal"}"
        autocomplete="off"
        required
        aria-describedby="amount-hint${problem === undefined ? "" : " amount-error"}"
        ${problem === undefined ? "" : html`aria-invalid="true"`}
        value="${parts.entered?.get("amount") ?? prefilled}"
      />
    </div>
    <p class="hint" id="amount-hint">In ${currency.toUpperCase()}${bounds === "" ? "" : `, ${bounds}`}</p>
    ${problem === undefined ? "" : html`<p class="error" id="amount-error" role="alert">The amount ${problem}.</p>`}
  </div>`;
}

/** Endpoints rule 9: bounds apply in this mode only. */
function boundsText(currency: string, options: Link["request"]["linkOptions"]): string {
  const { mode, minAmount, maxAmount } = options ?? {};
  if (mode !== VARIABLE_MODE) return "";
  const words = [
    ...(minAmount === undefined ? [] : [`at least ${formatAmount(minAmount, currency)}`]),
    ...(maxAmount === undefined ? [] : [`at most ${formatAmount(maxAmount, currency)}`]),
  ];
  return words.join(", ");
}

/** Only if the link's paymentReferenceMode allows the customer to enter one. */
function referenceField(parts: CheckoutParts): Page | string {
  const { linkOptions, invoiceId } = parts.link.request;
  if ((linkOptions?.paymentReferenceMode ?? DEFAULT_REFERENCE_MODE) === DEFAULT_REFERENCE_MODE) return "";
  return html`<div>
    <label for="reference">Payment reference</label>
    <input
      id="reference"
      name="reference"
      autocomplete="off"
      maxlength="64"
      value="${parts.entered?.get("reference") ?? invoiceId ?? ""}"
    />
  </div>`;
}

const cardFields = (): Page =>
  html`<fieldset class="cards">
    <legend>Test card</legend>
    ${TEST_CARDS.map(
      ({ number, outcome }, index) =>
        html`<label
          ><input type="radio" name="card" value="${number}" ${index === 0 ? "checked" : ""} /><span
            ><b>${number}</b><span class="hint">${outcome}</span></span
          ></label
        >`,
    )}
  </fieldset>`;

/** Fields that share a line with another. */
const SHORT: ReadonlySet<string> = new Set(["firstName", "lastName", "city", "postalcode"]);

/** Prefilled from the link's customerDetails, which spell some address fields in two ways. */
function customerFields({ request }: Link): Page {
  const { email, billingAddress: address = {} } = request.customerDetails ?? {};
  const fields: [name: string, label: string, autocomplete: string, value: string | undefined][] = [
    ["email", "E-mail", "email", email],
    ["firstName", "First name", "given-name", address.firstName],
    ["lastName", "Last name", "family-name", address.lastName],
    ["address1", "Address", "address-line1", address.address1 ?? address.addressLine1],
    ["address2", "Address, second line", "address-line2", address.address2],
    ["city", "City", "address-level2", address.city],
    ["postalcode", "Postcode", "postal-code", address.postalcode ?? address.postalCode],
    ["country", "Country", "country-name", address.country],
  ];
  const known = fields.some(([, , , value]) => value !== undefined);
  return html`<details class="customer" ${known ? "open" : ""}>
    <summary>Your details</summary>
    <div class="fields">
      <p class="hint wide">For ${request.customerName}</p>
      ${fields.map(
        ([name, label, autocomplete, value]) =>
          html`<div class="${SHORT.has(name) ? "" : "wide"}">
            <label for="${name}">${label}</label>
            <input id="${name}" name="${name}" autocomplete="${autocomplete}" value="${value ?? ""}" />
          </div>`,
      )}
    </div>
  </details>`;
}
