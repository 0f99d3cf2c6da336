/** The fields of the checkout's form: what the link leaves open, the card and the customer's details. */
import { html } from "hono/html";
import { exponentOf, formatAmount, groupedAmount, signOf } from "../../domain/money.ts";
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
import { facts } from "./checkout-parts.ts";
import { field, type FormParts } from "./form-field.ts";
import type { Page } from "./page-frame.ts";

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
