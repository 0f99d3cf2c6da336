/** The page that a link opens: the summary, the form and the test cards. */
import { wordFor } from "../../values/plural.ts";
import { html } from "hono/html";
import { exponentOf, formatAmount, groupedAmount, signOf } from "../../domain/money.ts";
import type { Problem } from "../../domain/errors.ts";
import type { JsonNumber } from "../../values/json.ts";
import { capitalized } from "../../values/sentence.ts";
import { fieldTitle } from "../../domain/payment-link-field-lookup.ts";
import { boundWords } from "../../domain/payment-link.ts";
import { CARD_SCHEMES, schemeOf, TEST_CARDS } from "../../sender/test-cards.ts";
import { CARD_FIELDS, customerFacts, givenName } from "../customer.ts";
import { createForm, type FormField, type RefusedForm } from "../form.ts";
import { isReusable } from "../links.ts";
import { facts, oneLine } from "../../pages/components.ts";
import type { Page } from "../../pages/page.ts";
import { checkoutFrame } from "../banner.ts";
import { hasFixedReference, LONGEST_REFERENCE } from "../payments.ts";
import type { Link } from "../store/ledger-rows.ts";
import { largeAmount, moment, name, resultPath } from "./components.ts";

interface CheckoutParts {
  readonly link: Link;
  /** What is left to pay: less than the amount once a part was paid. */
  readonly left: JsonNumber;
  readonly merchantName: string;
  /** Identifies this rendering of the form, so that it pays once. */
  readonly token: string;
  readonly refused?: RefusedForm;
  readonly declined?: Declined;
}

/** A payment that the bank has declined: the customer can try another card. */
export interface Declined {
  readonly entered: URLSearchParams;
  readonly uti: string;
  readonly reason: string;
  readonly returnUrl: string | undefined;
  readonly strip: Page;
}

export function checkoutPage(parts: CheckoutParts): Page {
  const { link, left, merchantName, token, refused, declined } = parts;
  return checkoutFrame({
    title: `${isVerification(link) ? "Verify your card" : "Pay"} – ${merchantName}`,
    invalid: refused !== undefined || declined !== undefined,
    content: html`<main
      class="pay"
      ${declined === undefined ? "" : html`data-page="${resultPath(declined.uti)}"`}
    >
      ${linkSummary(parts)}
      <form class="card" id="payment" method="post" novalidate data-schemes="${SCHEMES}">
        <input type="hidden" name="form" value="${token}" />
        ${isReusable(link) ? "" : html`<input type="hidden" name="amount" value="${left.value}" />`}
        ${checkoutForm(parts)}
        <div class="actions">
          <button class="primary">${payButton(link, left)}</button>
          <button class="quiet-button" name="outcome" value="cancelled">
            ${isVerification(link) ? "Cancel" : "Cancel payment"}
          </button>
          ${
            declined?.returnUrl === undefined
              ? ""
              : html`<a class="button quiet-button" href="${declined.returnUrl}"
                  >Return to ${name(merchantName)}</a
                >`
          }
        </div>
        <p class="hidden" id="progress" role="status"></p>
      </form>
      <div class="sandbox">${declined?.strip ?? ""} ${testCards(link)}</div>
    </main>`,
  });
}

/** What the script needs to group a number while it is typed. */
const SCHEMES = JSON.stringify(CARD_SCHEMES.map(({ label, begins, groups }) => ({ label, begins, groups })));

/** The fields that no page repeats: a card number may be another one, and a security code is used once. */
const SECRETS: readonly string[] = ["number", "expiry", "cvc"];

const isVerification = (link: Link): boolean => !isReusable(link) && signOf(link.request.amount) === 0;

function payButton(link: Link, left: JsonNumber): string {
  if (isReusable(link)) return "Pay";
  return isVerification(link) ? "Verify card" : `Pay ${groupedAmount(left, link.request.currency)}`;
}

function linkSummary({ link, left, merchantName }: CheckoutParts): Page {
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
          ? largeAmount(amount, currency)
          : html`<p class="amount words">You choose the amount</p>`
        : isVerification(link)
          ? html`<p class="amount words">Nothing is charged now</p>`
          : html`${largeAmount(left, currency)}
            ${left === amount ? "" : html`<p class="hint">left to pay of ${groupedAmount(amount, currency)}</p>`}`
    }
    ${periodic === undefined ? "" : html`<p class="hint">${name(merchantName)} may charge this card again later.</p>`}
    ${description === undefined ? "" : html`<p class="description" dir="auto">${oneLine(description)}</p>`}
    ${facts([
      ["For", customerName],
      [fieldTitle("invoiceId"), invoiceId],
      [fieldTitle("expirationDate"), moment(new Date(link.expirationDate))],
      ...customerFacts(link.request),
    ])}
  </section>`;
}

/** A refused form keeps every entry but the security code, and a declined one those that are not of the card. */
function checkoutForm({ link, refused, declined }: CheckoutParts): Page {
  const openFields = [
    ...(isReusable(link) ? [amountField(link)] : []),
    ...(hasFixedReference(link) ? [] : [referenceField(link)]),
  ];
  const entered = new URLSearchParams(refused?.entered ?? declined?.entered);
  for (const secret of declined === undefined ? ["cvc"] : SECRETS) entered.delete(secret);
  const cardFields = Object.entries(CARD_FIELDS).map(([name, field]): FormField => ({
    name,
    ...field,
    ...(name === "number" && {
      suffix: schemeOf(entered.get(name) ?? "")?.label ?? "",
      autofocus: declined !== undefined,
    }),
    ...(name === "name" && { value: givenName(link.request) }),
  }));
  const form = createForm([...openFields, ...cardFields], { ...refused, entered });
  return html`${refused === undefined ? "" : form.summary(refusedTitle(link, refused.problem.errors))}
    ${
      declined === undefined
        ? ""
        : html`<div class="problems" role="alert">
            <h2>Your card was declined</h2>
            <p>${declined.reason}. Nothing was charged. You can try another card.</p>
          </div>`
    }
    ${openFields.map(form.field)}
    <fieldset>
      <legend>Card</legend>
      ${cardFields.map(form.field)}
    </fieldset>`;
}

function refusedTitle(link: Link, errors: readonly Problem[]): string {
  // The customer has not entered it.
  if (!isReusable(link) && errors.every(({ at }) => at === "amount"))
    return "Nothing was paid, because the amount has changed:";
  return `Nothing was paid. Please correct ${wordFor(errors.length, "this", "these")}:`;
}

/** Endpoints rule 7. */
function amountField(link: Link): FormField {
  const { amount, currency } = link.request;
  const bounds = boundWords(link.request, groupedAmount);
  return {
    name: "amount",
    label: `Amount in ${currency.toUpperCase()}`,
    subject: "amount",
    inputmode: exponentOf(currency) === 0 ? "numeric" : "decimal",
    prefix: currency.toUpperCase(),
    value: signOf(amount) > 0 ? formatAmount(amount, currency).replace(/^\S+ /, "") : "",
    hint: bounds && capitalized(bounds),
  };
}

const referenceField = ({ request }: Link): FormField => ({
  name: "reference",
  label: "Payment reference",
  maxlength: LONGEST_REFERENCE,
  value: request.invoiceId,
});

/** After the form: the Enter key presses the first button of the form. */
const testCards = (link: Link): Page =>
  html`<section class="test-cards" aria-labelledby="test-cards">
    <h2 id="test-cards">Test cards of the sandbox</h2>
    <p class="hint">
      ${isVerification(link) ? "Verify" : "Pay"} with one click.
      ${isReusable(link) ? "Only the amount is needed." : "You can leave the form empty."} Each card shows its
      response code.
    </p>
    <ul>
      ${TEST_CARDS.map(
        (card) =>
          html`<li>
            <button form="payment" name="card" value="${card.name}">
              <span class="number">${card.number}</span>
              <span class="scheme">${schemeOf(card.number)?.label}</span>
              <span class="result">
                <span class="outcome ${card.outcome}">${card.label}</span>
                <span class="code">${card.responseCode}</span>
              </span>
            </button>
          </li>`,
      )}
    </ul>
  </section>`;
