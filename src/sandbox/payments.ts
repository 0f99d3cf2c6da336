/** Payments through a link: checks what the customer entered, makes the transaction record, and queues its webhook. */
import type { Problem } from "../domain/errors.ts";
import { JsonNumber } from "../values/json.ts";
import {
  compareAmounts,
  groupedAmount,
  halfOf,
  isDecimal,
  parseAmount,
  decimalsProblem,
  exponentOf,
  restOf,
  signOf,
} from "../domain/money.ts";
import { accepted, refused, type Parsed } from "../values/parse-result.ts";
import { DEFAULT_REFERENCE_MODE, SALE, VARIABLE_MODE } from "../domain/payment-link.ts";
import { makeReference, suffixFrom } from "../domain/reference.ts";
import { SAMPLE_OUTCOMES } from "../domain/outcome.ts";
import { sampleRecord } from "../sender/sample-record.ts";
import { cardFor, TEST_CARDS, testCard, type TestCard } from "../sender/test-cards.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";
import { CARD_FIELDS, cardProblems, textProblem, type TypedCard } from "./customer.ts";
import type { Ledger } from "./store/ledger.ts";
import type { Link, PaymentRow } from "./store/ledger-rows.ts";
import { findLink, isOpenLink, isReusable, linkStatusAt } from "./links.ts";
import type { SandboxSetup } from "./setup.ts";
import { ServiceProblem } from "./replies.ts";
import type { SandboxRuntime } from "./runtime.ts";

/** What the customer enters on the checkout page. */
export interface PaymentInput {
  /** Undefined if the customer cancels. */
  readonly card: TestCard | undefined;
  /** The fields of a typed card, which are checked. A click on a test card and `paylink pay` type nothing. */
  readonly typed?: TypedCard;
  /** Only for a reusable link (Endpoints rule 7). */
  readonly amount?: string | undefined;
  /** Only if the link's paymentReferenceMode is not FIXED. */
  readonly reference?: string | undefined;
}

/** Throws a 400 problem for a form without a card and an outcome. */
export const paymentInputFromForm = (form: URLSearchParams): PaymentInput => ({
  ...paidWith(form),
  amount: entered(form, "amount") || undefined,
  reference: entered(form, "reference") || undefined,
});

const entered = (form: URLSearchParams, name: string): string => form.get(name)?.trim() ?? "";

const typedCard = (form: URLSearchParams): TypedCard =>
  Object.fromEntries(Object.keys(CARD_FIELDS).map((name) => [name, entered(form, name)]));

/** By the outcome or the card of the pressed button, or by the fields of a typed card. */
function paidWith(form: URLSearchParams): Pick<PaymentInput, "card" | "typed"> {
  const outcome = SAMPLE_OUTCOMES.find((choice) => choice === form.get("outcome"));
  if (outcome !== undefined) return { card: cardFor(outcome) };
  const card = testCard(form.get("card") ?? "");
  if (card !== undefined) return { card };
  // Any other card is refused, so it does not matter which one is named.
  if (form.has("number"))
    return { card: testCard(entered(form, "number")) ?? TEST_CARDS[0], typed: typedCard(form) };
  const [at, choices] = form.has("card")
    ? ["card", TEST_CARDS.map(({ name }) => name)]
    : ["outcome", SAMPLE_OUTCOMES];
  const message = `must be one of ${choices.join(", ")}`;
  throw new ServiceProblem(400, `${at} ${message}`, [{ at, message }]);
}

/** What is left to pay of a one-time link, of which parts may be paid. */
export function leftToPay(link: Link, ledger: Ledger): JsonNumber {
  const parts = isReusable(link) ? [] : ledger.partialPayments(link.id);
  return parts.reduce((left, record) => {
    const paid = record["amountTrans"];
    return paid instanceof JsonNumber ? restOf(left, paid) : left;
  }, link.request.amount);
}

/** The amount and the reference of the record. Throws a 409 problem if the link is not open, a 422 problem with every invalid field. */
export function checkPayment(link: Link, input: PaymentInput, ledger: Ledger, now: Date) {
  const status = linkStatusAt(link, now);
  if (!isOpenLink(status)) throw new ServiceProblem(409, `the link is ${status}`);
  const { card, typed } = input;
  const left = leftToPay(link, ledger);
  const amount = checkAmount(link, left, input.amount);
  const base = checkReference(link, input.reference);
  const problems = [
    ...(amount.ok ? [] : [{ at: "amount", message: amount.message }]),
    ...(base.ok ? [] : [{ at: "reference", message: base.message }]),
    ...(typed === undefined ? [] : cardProblems(typed, now)),
  ];
  // A cancelled payment keeps the entered values only if they are valid.
  if (problems.length > 0 && card !== undefined) throw unprocessable(problems);
  return {
    amount: amount.ok ? amount.value : left,
    base: base.ok ? base.value : baseReference(link),
  };
}

/** Updates the link's dates. */
function takePayment(link: Link, input: PaymentInput, setup: SandboxSetup): WellFormedRecord {
  const { merchant, newId, ledger } = setup;
  const now = setup.clock.now();
  const { amount, base } = checkPayment(link, input, ledger, now);
  const { card } = input;
  link.viewedDate ??= now;
  link.attemptedDate = now;
  // A part of the amount leaves the link open for the rest.
  if (card?.outcome === "approved") link.paidDate = now;
  // The payments of a reusable link have references of their own (Endpoints rule 6).
  const reference = isReusable(link) ? makeReference(base, suffixFrom(newId())) : base;
  const { currency, terminalId, transactionType = SALE } = link.request;
  return sampleRecord(
    {
      card,
      transType: transactionType,
      amount: card?.outcome === "partially-approved" ? halfOf(amount, currency) : amount,
      currency: currency.toUpperCase(),
      reference,
      terminalId,
      merchant,
      softwareVersion: "sandbox",
      number: String(ledger.paymentCount() + 1).padStart(6, "0"),
    },
    { newId, now },
  );
}

function checkAmount(link: Link, left: JsonNumber, entered: string | undefined): Parsed<JsonNumber> {
  const { amount, currency, linkOptions } = link.request;
  if (linkOptions === undefined) {
    const isSame = entered === undefined || (isDecimal(entered) && compareAmounts(entered, left) === 0);
    if (isSame) return accepted(left);
    return refused(
      left === amount
        ? "is fixed by the link"
        : `is ${groupedAmount(left, currency)} now, because a part was paid in the meantime`,
    );
  }
  if (entered === undefined)
    return signOf(amount) > 0
      ? checkBounds(amount, link)
      : refused("is required: the link has no fixed amount");
  const parsed = parseAmount(entered, entered.includes(",") ? "," : ".");
  if (!parsed.ok || signOf(parsed.value) === 0)
    return refused(`must be a number above 0, such as ${exponentOf(currency) === 0 ? "10" : "10.50"}`);
  const problem = decimalsProblem(parsed.value, currency);
  return problem === undefined ? checkBounds(parsed.value, link) : refused(problem);
}

/** Endpoints rule 9: bounds apply in this mode only. */
function checkBounds(amount: JsonNumber, { request }: Link): Parsed<JsonNumber> {
  const { mode, minAmount, maxAmount } = request.linkOptions ?? {};
  if (mode !== VARIABLE_MODE) return accepted(amount);
  if (minAmount !== undefined && compareAmounts(amount, minAmount) < 0)
    return refused(`must be at least ${groupedAmount(minAmount, request.currency)}`);
  if (maxAmount !== undefined && compareAmounts(amount, maxAmount) > 0)
    return refused(`must be at most ${groupedAmount(maxAmount, request.currency)}`);
  return accepted(amount);
}

const baseReference = ({ id, request }: Link): string => request.invoiceId ?? id;

/** Whether the customer may enter a reference. */
export const hasFixedReference = ({ request }: Link): boolean =>
  (request.linkOptions?.paymentReferenceMode ?? DEFAULT_REFERENCE_MODE) === DEFAULT_REFERENCE_MODE;

/** The longest reference that a customer may enter, in characters. */
export const LONGEST_REFERENCE = 64;

function checkReference(link: Link, entered: string | undefined): Parsed<string> {
  if (entered === undefined) return accepted(baseReference(link));
  if (hasFixedReference(link)) return refused("is fixed by the link");
  const problem = textProblem(entered, LONGEST_REFERENCE);
  return problem === undefined ? accepted(entered) : refused(problem);
}

const unprocessable = (problems: readonly Problem[]): ServiceProblem =>
  new ServiceProblem(422, problems.map(({ at, message }) => `${at} ${message}`).join("; "), problems);

/**
 * Accepts a payment and queues its webhook in one commit: of two simultaneous payments, the second finds the link paid. A
 * rendered form pays once: a second submission gets the payment of the first.
 */
export function acceptPayment(
  runtime: SandboxRuntime,
  linkId: string,
  input: PaymentInput,
  form: string | null = null,
): PaymentRow {
  const { ledger, deliveries } = runtime;
  const earlier = form === null ? undefined : ledger.findPaymentByForm(linkId, form);
  if (earlier !== undefined) return earlier;
  const link = findLink(ledger, linkId);
  const record = takePayment(link, input, runtime);
  const url = callbackFor(link, record);
  const payment = { uti: record.uti, linkId, record, form };
  ledger.write(() => {
    if (url !== undefined) deliveries.queue(link, record, url);
    ledger.saveLink(link);
    ledger.addPayment(payment);
  });
  runtime.observe({ type: "payment", link, record });
  deliveries.wake();
  return payment;
}

/** Events: a webhook goes to the address for its outcome, and only if the link has one. */
function callbackFor(link: Link, record: WellFormedRecord): string | undefined {
  const { callbackUrl, failureCallbackUrl } = link.request.paymentSettings ?? {};
  return record.transApproved ? callbackUrl : failureCallbackUrl;
}
