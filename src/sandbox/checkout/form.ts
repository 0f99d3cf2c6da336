/** The form of the checkout: what the link leaves open, the card and the customer's details. */
import { html } from "hono/html";
import { exponentOf, formatAmount, groupedAmount, signOf } from "../../domain/money.ts";
import { VARIABLE_MODE } from "../../domain/payment-link.ts";
import {
  CUSTOMER_FIELD_NAMES,
  CUSTOMER_FIELDS,
  customerFacts,
  givenDetails,
  LONGEST_DETAIL,
  LONGEST_NAME,
  type CustomerField,
} from "../customer.ts";
import { createForm, type Field, type Refused } from "../form.ts";
import type { Link } from "../store/rows.ts";
import { isReusable } from "../links.ts";
import { facts, type Page } from "../page.ts";
import { hasFixedReference, LONGEST_REFERENCE } from "../payments.ts";

/** A refused form keeps every entry but the security code. */
export function checkoutForm(link: Link, refused: Refused | undefined): Page {
  const given = givenDetails(link.request);
  const openFields = [
    ...(isReusable(link) ? [amountField(link)] : []),
    ...(hasFixedReference(link) ? [] : [referenceField(link)]),
  ];
  const customerFields = CUSTOMER_FIELD_NAMES.filter((name) => given[name] === undefined).map(customerField);
  const entered = new URLSearchParams(refused?.entered);
  entered.delete("cvc");
  const form = createForm([...openFields, ...CARD_FIELDS, ...customerFields], { ...refused, entered });
  const isOpen = customerFields.length === CUSTOMER_FIELD_NAMES.length;
  return html`${refused === undefined ? "" : form.summary(`Nothing was paid. Please correct ${refused.problem.errors.length === 1 ? "this" : "these"}:`)}
    ${openFields.map(form.field)}
    <fieldset>
      <legend>Card</legend>
      ${CARD_FIELDS.map(form.field)}
    </fieldset>
    <fieldset>
      <legend>Your details</legend>
      ${isOpen ? "" : facts(customerFacts(given))}
      ${
        customerFields.length === 0
          ? ""
          : html`<details ${customerFields.some(form.isInUse) ? "open" : ""}>
              <summary>
                ${isOpen ? "Add your address and e-mail" : "Add more details"}
                <span class="hint">(optional)</span>
              </summary>
              <div class="fields">${customerFields.map(form.field)}</div>
            </details>`
      }
    </fieldset>`;
}

/** Endpoints rule 7. */
function amountField(link: Link): Field {
  const { amount, currency } = link.request;
  return {
    name: "amount",
    label: `Amount in ${currency.toUpperCase()}`,
    subject: "amount",
    inputmode: exponentOf(currency) === 0 ? "numeric" : "decimal",
    prefix: currency.toUpperCase(),
    value: signOf(amount) > 0 ? formatAmount(amount, currency).replace(/^\S+ /, "") : "",
    hint: boundsText(link),
  };
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

const referenceField = ({ request }: Link): Field => ({
  name: "reference",
  label: "Payment reference",
  maxlength: LONGEST_REFERENCE,
  value: request.invoiceId,
});

const CARD_FIELDS: readonly Field[] = [
  { name: "number", label: "Card number", autocomplete: "cc-number", inputmode: "numeric" },
  {
    name: "expiry",
    label: "Expiry (MM/YY)",
    subject: "expiry date",
    autocomplete: "cc-exp",
    inputmode: "numeric",
    short: true,
  },
  { name: "cvc", label: "Security code", autocomplete: "cc-csc", inputmode: "numeric", short: true },
  { name: "name", label: "Name on the card", autocomplete: "cc-name", maxlength: LONGEST_NAME },
];

const customerField = (name: CustomerField): Field => ({
  name,
  ...CUSTOMER_FIELDS[name],
  maxlength: LONGEST_DETAIL,
});
