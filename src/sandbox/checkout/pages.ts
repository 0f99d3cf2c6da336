/** The pages of the checkout, without a script: the summary and the form, the receipt, and pages with one message. */
import { html } from "hono/html";
import { exponentOf, formatAmount, groupedAmount, signOf, type Amount } from "../../domain/money.ts";
import { capitalized, titleOf } from "../../domain/payment-link-fields.ts";
import type { LinkStatus } from "../../domain/payment-link-reply.ts";
import { VARIABLE_MODE } from "../../domain/payment-link.ts";
import { TEST_CARDS } from "../../domain/test-cards.ts";
import { parseInstant } from "../../domain/time.ts";
import { amountIn, outcomeOf, textOf, type TransactionRecord } from "../../domain/transaction.ts";
import {
  CARD_FIELDS,
  CUSTOMER_FIELD_NAMES,
  CUSTOMER_FIELDS,
  customerFacts,
  givenDetails,
} from "../customer.ts";
import { createForm, type Field, type Refused } from "../form.ts";
import { isReusable, type OpenStatus } from "../links.ts";
import { facts, oneLine, page, type Page } from "../page.ts";
import { hasFixedReference, LONGEST_REFERENCE } from "../payments.ts";
import type { ServiceProblem } from "../replies.ts";
import type { Link, Payment } from "../store/rows.ts";

interface CheckoutParts {
  readonly link: Link;
  readonly refused?: Refused;
  readonly merchantName: string;
  /** Identifies this rendering of the form, so that it pays once. */
  readonly token: string;
}

export function checkoutPage({ link, merchantName, token, refused }: CheckoutParts): Page {
  return page({
    kind: "checkout",
    title: `${isVerification(link) ? "Verify your card" : "Pay"} – ${merchantName}`,
    invalid: refused !== undefined,
    content: html`<main class="pay">
      ${summary(link, merchantName)}
      <form class="card" id="payment" method="post" novalidate>
        <input type="hidden" name="form" value="${token}" />
        ${checkoutForm(link, refused)}
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
      [titleOf("invoiceId"), invoiceId],
      [titleOf("expirationDate"), moment(new Date(link.expirationDate))],
    ])}
  </section>`;
}

/** A refused form keeps every entry but the security code. */
function checkoutForm(link: Link, refused: Refused | undefined): Page {
  const given = givenDetails(link.request);
  const openFields = [
    ...(isReusable(link) ? [amountField(link)] : []),
    ...(hasFixedReference(link) ? [] : [referenceField(link)]),
  ];
  const cardFields = Object.entries(CARD_FIELDS).map(([name, field]): Field => ({ name, ...field }));
  const customerFields = CUSTOMER_FIELD_NAMES.filter((name) => given[name] === undefined).map(
    (name): Field => ({ name, ...CUSTOMER_FIELDS[name] }),
  );
  const entered = new URLSearchParams(refused?.entered);
  entered.delete("cvc");
  const form = createForm([...openFields, ...cardFields, ...customerFields], { ...refused, entered });
  const isOpen = customerFields.length === CUSTOMER_FIELD_NAMES.length;
  return html`${refused === undefined ? "" : form.summary(`Nothing was paid. Please correct ${refused.problem.errors.length === 1 ? "this" : "these"}:`)}
    ${openFields.map(form.field)}
    <fieldset>
      <legend>Card</legend>
      ${cardFields.map(form.field)}
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

/** After the form: the Enter key presses the first button of the form. */
const testCards = (link: Link): Page =>
  html`<section class="test-cards" aria-labelledby="test-cards">
    <h2 id="test-cards">Test cards</h2>
    <p class="hint">
      ${isVerification(link) ? "Verify" : "Pay"} with one click.
      ${isReusable(link) ? "Only the amount is needed." : "You can leave the form empty."}
    </p>
    ${TEST_CARDS.map(
      ({ name, number, label, outcome }) =>
        html`<button form="payment" name="card" value="${name}">
          <span class="number">${number}</span> <span class="outcome ${outcome}">${label}</span>
        </button>`,
    )}
  </section>`;

const PAYMENT_RESULTS = {
  APPROVED: ["approved", "Payment approved", ""],
  PARTIALLY_APPROVED: ["unknown", "Payment partially approved", "Only a part of the amount was charged."],
  DECLINED: ["declined", "Payment declined", "Your card was declined, and nothing was charged."],
  CANCELLED: ["cancelled", "Payment cancelled", "Nothing was charged."],
  UNCLEAR: ["unknown", "Payment unclear", "Ask the merchant whether you have paid."],
} as const;

/** For a link with amount 0, which verifies a card and charges nothing. */
const VERIFICATION_RESULTS = {
  APPROVED: ["approved", "Card verified", "Nothing was charged."],
  PARTIALLY_APPROVED: [
    "unknown",
    "Card partially verified",
    "Ask the merchant whether your card was verified.",
  ],
  DECLINED: ["declined", "Card not verified", "Your card was declined. Nothing was charged."],
  CANCELLED: ["cancelled", "Verification cancelled", "Nothing was charged."],
  UNCLEAR: ["unknown", "Verification unclear", "Ask the merchant whether your card was verified."],
} as const;

/** Seconds until the merchant's page opens: WCAG 2.2.1 gives people 20 seconds to turn off a time limit. */
export const RETURN_DELAY = 20;

export interface ReturnLink {
  readonly url: string;
  /** This page without the time limit; undefined if it has none. */
  readonly stay: string | undefined;
}

interface ReceiptParts {
  readonly payment: Payment;
  readonly link: Link;
  readonly merchantName: string;
  /** The link's page, if the link can still be paid. */
  readonly payAgain: string | undefined;
  readonly returnLink: ReturnLink | undefined;
}

export function receiptPage(parts: ReceiptParts): Page {
  const { payment, link, merchantName } = parts;
  const { record, customer } = payment;
  const outcome = outcomeOf(record);
  const amount = amountIn(record, "amountTrans");
  const isPaid = amount !== undefined && signOf(amount) > 0;
  const isVerification = link.request.linkOptions === undefined && !isPaid;
  const [mark, title, advice] = (isVerification ? VERIFICATION_RESULTS : PAYMENT_RESULTS)[outcome];
  const date = parseInstant(textOf(record, "transDateTime") ?? "");
  const { description } = link.request;
  return messagePage(
    mark,
    title,
    html`${isPaid ? amountText(amount, textOf(record, "transCurrencyCode") ?? "") : ""}
    ${advice === "" ? "" : html`<p class="advice">${advice}</p>`}
    ${facts([
      ["Merchant", merchantName],
      ["Description", description === undefined ? undefined : excerpt(description)],
      ["Card", outcome === "CANCELLED" ? undefined : cardText(record)],
      ["Date", date === undefined ? undefined : moment(date)],
      ["Reference", textOf(record, "reference")],
      ...customerFacts(customer),
    ])}
    ${nextSteps(parts, mark)}`,
  );
}

/** `•••• 1111`, as receipts show it. */
const cardText = (record: TransactionRecord): string =>
  textOf(record, "cardPan")?.replace(/^\*+/, "•••• ") ?? "";

function nextSteps({ merchantName, payAgain, returnLink }: ReceiptParts, mark: string): Page | "" {
  const isApproved = mark === "approved";
  const again =
    payAgain === undefined
      ? ""
      : html`<a class="button ${isApproved ? "" : "primary"}" href="${payAgain}"
          >${isApproved ? "Pay again" : "Try again"}</a
        >`;
  const back =
    returnLink === undefined
      ? ""
      : html`<a class="button ${again === "" || isApproved ? "primary" : ""}" href="${returnLink.url}"
          >Return to ${name(merchantName)}</a
        >`;
  if (again === "" && back === "") return "";
  return html`<div class="actions">${isApproved ? [back, again] : [again, back]}</div>
    ${
      returnLink?.stay === undefined
        ? ""
        : html`<p class="hint">
            You will return to ${name(merchantName)} in ${RETURN_DELAY} seconds.
            <a href="${returnLink.stay}">Stay on this page</a>
          </p>`
    }`;
}

/** Drawn as paths, since fonts draw such characters in different sizes. */
const CHECK = "M5 12.5l4.5 4.5L19 7.5";
const CROSS = "M7 7l10 10M17 7L7 17";
const EXCLAMATION = "M12 6v7.5M12 17.5v.01";
const MARKS = {
  approved: CHECK,
  declined: CROSS,
  cancelled: "M6.5 12h11",
  paid: CHECK,
  expired: EXCLAMATION,
  unknown: EXCLAMATION,
  refused: CROSS,
} as const;

export const messagePage = (mark: keyof typeof MARKS, title: string, content: Page): Page =>
  page({
    kind: "checkout",
    title,
    content: html`<main>
      <div class="card message">
        <svg class="mark ${mark}" viewBox="0 0 24 24" aria-hidden="true"><path d="${MARKS[mark]}" /></svg>
        <div role="status"><h1>${title}</h1></div>
        ${content}
      </div>
    </main>`,
  });

const CLOSED = {
  paid: ["paid", "This link has been paid", "No further payment is due."],
  expired: ["expired", "This link has expired", "Ask the merchant for a new link."],
  cancelled: ["cancelled", "This link was cancelled", "The merchant no longer accepts this payment."],
} as const;

export function closedPage(status: Exclude<LinkStatus, OpenStatus>, merchantName: string): Page {
  const [mark, title, advice] = CLOSED[status];
  return messagePage(
    mark,
    title,
    html`<p>${name(merchantName)}</p>
      <p class="advice">${advice}</p>`,
  );
}

export const unknownPage = (): Page =>
  messagePage(
    "unknown",
    "Payment link not found",
    html`<p class="advice">Check that the address is complete, or ask the merchant for a new link.</p>`,
  );

/** The page for browsers; programs get problem details. */
export const problemPage = ({ title, message, errors }: ServiceProblem): Page =>
  messagePage(
    "refused",
    title,
    html`<p>${capitalized(message)}.</p>
      ${
        errors.length === 0
          ? ""
          : html`<ul>
                ${errors.map(({ at, message: detail }) => html`<li><span class="mono">${at}</span> ${detail}</li>`)}
              </ul>
              <p class="hint">Go back to correct it.</p>`
      }
      <a class="button" href="/">Dashboard</a>`,
  );

/** A name inside a sentence: its direction of writing does not change that of the sentence. */
const name = (text: string): Page => html`<bdi>${text}</bdi>`;

/** The longest amount in large type. */
const LARGE = 16;

function amountText(amount: Amount, currency: string): Page {
  const text = groupedAmount(amount, currency);
  return html`<p class="amount ${text.length > LARGE ? "long" : ""}">${text}</p>`;
}

const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

/** `31 January 2026 at 12:00 UTC` */
const moment = (date: Date): Page =>
  html`<time datetime="${date.toISOString()}">${DATE.format(date)} UTC</time>`;

/** Characters of a text that are shown at first. */
const EXCERPT = 160;

/** A text that opens in full on demand, without a script, if it is long. */
function excerpt(description: string): Page {
  const text = oneLine(description);
  const characters = [...text];
  if (characters.length <= EXCERPT) return html`<p dir="auto">${text}</p>`;
  const start = characters.slice(0, EXCERPT).join("");
  return html`<p dir="auto" class="excerpt">${start.replace(/[\s,;:.]+\S{0,20}$/, "")}…</p>
    <details class="whole">
      <summary>more</summary>
      <p dir="auto">${text}</p>
    </details>`;
}
