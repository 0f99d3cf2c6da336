/** The checkout page, without a script: what is paid, the form, and the test cards that pay with one click. */
import { html } from "hono/html";
import { groupedAmount, signOf } from "../../domain/money.ts";
import { isReusable } from "../links.ts";
import type { Link } from "../ledger.ts";
import { TEST_CARDS } from "../customer.ts";
import { cardFields, customerFields, openFields } from "./checkout-fields.ts";
import { amountText, excerpt, facts, moment, name } from "./checkout-parts.ts";
import { type FormParts, problemSummary } from "./form-field.ts";
import { page, type Page } from "./page-frame.ts";

interface CheckoutParts extends FormParts {
  readonly merchantName: string;
  /** Identifies this rendering of the form, so that it pays once. */
  readonly token: string;
}

export function checkoutPage(parts: CheckoutParts): Page {
  const { link, merchantName, token, problems = [] } = parts;
  return page({
    kind: "checkout",
    title: `${isVerification(link) ? "Verify your card" : "Pay"} – ${merchantName}`,
    invalid: problems.length > 0,
    content: html`<main class="pay">
      ${summary(link, merchantName)}
      <form class="card" id="payment" method="post" novalidate>
        ${problemSummary(parts)}
        <input type="hidden" name="form" value="${token}" />
        ${openFields(parts)} ${cardFields(parts)} ${customerFields(parts)}
        <div class="actions">
          <button class="primary">${payButton(link)}</button>
          <button class="quiet-button" name="outcome" value="cancelled">
            ${isVerification(link) ? "Cancel" : "Cancel payment"}
          </button>
        </div>
      </form>
      ${testCards(link)}
    </main>`,
  });
}

const isVerification = (link: Link): boolean => !isReusable(link) && signOf(link.request.amount) === 0;

function payButton(link: Link): string {
  if (isReusable(link)) return "Pay";
  const { amount, currency } = link.request;
  return isVerification(link) ? "Verify card" : `Pay ${groupedAmount(amount, currency)}`;
}

function summary(link: Link, merchantName: string): Page {
  const { amount, currency, description, invoiceId, customerName, periodic } = link.request;
  const [initial = ""] = merchantName.trim();
  return html`<section class="summary" aria-label="Summary">
    <div class="merchant">
      <span class="initial" aria-hidden="true">${initial.toUpperCase()}</span>
      <h1>${isVerification(link) ? "Verify your card for" : "Pay"} ${name(merchantName)}</h1>
    </div>
    ${
      isReusable(link)
        ? signOf(amount) > 0
          ? amountText(amount, currency)
          : html`<p class="amount words">You choose the amount</p>`
        : isVerification(link)
          ? html`<p class="amount words">Nothing is charged now</p>`
          : amountText(amount, currency)
    }
    ${periodic === undefined ? "" : html`<p class="hint">${name(merchantName)} may take later payments from this card.</p>`}
    ${description === undefined ? "" : html`<div class="description">${excerpt(description)}</div>`}
    ${facts([
      ["For", customerName],
      ["Invoice", invoiceId],
      ["Expires", moment(new Date(link.expirationDate))],
    ])}
  </section>`;
}

/** After the form: the Enter key presses the first button of the form. */
const testCards = (link: Link): Page =>
  html`<section class="test-cards" aria-labelledby="test-cards">
    <h2 id="test-cards">Test cards</h2>
    <p class="hint">
      ${isVerification(link) ? "Verify" : "Pay"} with one click.
      ${isReusable(link) ? "Only the amount is needed." : "You can leave the form empty."}
    </p>
    ${TEST_CARDS.map(
      ({ number, outcome }) =>
        html`<button form="payment" name="card" value="${number}">
          <span class="number">${number}</span> <span class="outcome ${outcome}">${outcome}</span>
        </button>`,
    )}
  </section>`;
