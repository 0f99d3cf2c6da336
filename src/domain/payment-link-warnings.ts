/** What the service may accept in a request, though the user probably did not mean it: each warning names the effect. */

import { isKnownCurrency } from "./currency.ts";
import type { Problem } from "./errors.ts";
import { formatAmount, signOf } from "./money.ts";
import { type PartialRequest, VARIABLE_MODE, VERIFICATION } from "./payment-link.ts";
import { isExposed, parseWebAddress } from "./web-address.ts";

const NONE: readonly Problem[] = [];

/** `listener` is where a running `listen` receives, if there is one. */
export const warningsOf = (request: PartialRequest, listener: string | undefined): Problem[] => [
  ...doubtfulCurrency(request),
  ...boundsWithoutEffect(request),
  ...plainHttpCallbacks(request),
  ...incompletePeriodic(request),
  ...subscriptionWithAmount(request),
  ...reusableSubscription(request),
  ...nothingToPay(request),
  ...unseenPayment(request, listener),
];

export function ignoresBounds({ linkOptions }: PartialRequest): boolean {
  return linkOptions?.mode !== undefined && linkOptions.mode !== VARIABLE_MODE;
}

function boundsWithoutEffect(request: PartialRequest): readonly Problem[] {
  const { linkOptions } = request;
  if (linkOptions === undefined || !ignoresBounds(request)) return NONE;
  const message = `has no effect: the service ignores it unless mode is ${VARIABLE_MODE}`;
  return (["minAmount", "maxAmount"] as const)
    .filter((name) => linkOptions[name] !== undefined)
    .map((name) => ({ at: `linkOptions.${name}`, message }));
}

function doubtfulCurrency({ currency }: PartialRequest): readonly Problem[] {
  if (currency === undefined) return NONE;
  const code = currency.toUpperCase();
  const problems: Problem[] = [];
  if (!isKnownCurrency(code))
    problems.push({ at: "currency", message: `is not an ISO 4217 currency (${code})` });
  if (currency !== code)
    problems.push({ at: "currency", message: `is sent in lower case; ISO 4217 writes ${code}` });
  return problems;
}

function plainHttpCallbacks({ paymentSettings }: PartialRequest): readonly Problem[] {
  if (paymentSettings === undefined) return NONE;
  const message = "should be https: the service posts webhooks to HTTPS addresses";
  return (["callbackUrl", "failureCallbackUrl"] as const)
    .filter((name) => {
      const url = parseWebAddress(paymentSettings[name] ?? "");
      return url !== undefined && isExposed(url);
    })
    .map((name) => ({ at: `paymentSettings.${name}`, message }));
}

/** Endpoints rule 8: an arrangement needs both members. */
function incompletePeriodic({ periodic }: PartialRequest): readonly Problem[] {
  if (periodic === undefined) return NONE;
  const message = "is missing, so the link starts no recurring arrangement";
  return (["periodicType", "sequenceType"] as const)
    .filter((name) => periodic[name] === undefined)
    .map((name) => ({ at: `periodic.${name}`, message }));
}

/** A start of a subscription is a verification over 0 (Endpoints rule 8). */
function subscriptionWithAmount(request: PartialRequest): readonly Problem[] {
  const { amount, currency = "", transactionType } = request;
  if (!startsSubscription(request) || amount === undefined || signOf(amount) === 0) return NONE;
  const effect =
    transactionType === VERIFICATION
      ? "but nothing is charged: the service only verifies the card and stores it for later payments"
      : "which the customer pays at once: a subscription usually starts with amount 0 and type VERIFICATION";
  return [{ at: "amount", message: `is ${formatAmount(amount, currency).trim()}, ${effect}` }];
}

function reusableSubscription(request: PartialRequest): readonly Problem[] {
  if (!startsSubscription(request) || request.linkOptions === undefined) return NONE;
  const message = "makes every payment through this reusable link start another subscription";
  return [{ at: "periodic", message }];
}

const startsSubscription = ({ periodic }: PartialRequest): boolean =>
  periodic?.periodicType !== undefined && periodic.sequenceType !== undefined;

/** Events rule 3: without an address there is no webhook. */
function unseenPayment(
  { paymentSettings }: PartialRequest,
  listener: string | undefined,
): readonly Problem[] {
  if (listener === undefined) return NONE;
  if (paymentSettings?.callbackUrl !== undefined || paymentSettings?.failureCallbackUrl !== undefined)
    return NONE;
  const message = `is not set, so the service sends no webhook: the listen that runs at ${listener} will not see the payment`;
  return [{ at: "paymentSettings.callbackUrl", message }];
}

/** Only verifications and multi-use links have amount 0 (Payment link request, amount). */
function nothingToPay({ amount, transactionType, linkOptions }: PartialRequest): readonly Problem[] {
  if (amount === undefined || signOf(amount) !== 0) return NONE;
  if (linkOptions !== undefined || transactionType === VERIFICATION) return NONE;
  const message =
    "is 0, so the customer has nothing to pay: only verifications and reusable links have amount 0";
  return [{ at: "amount", message }];
}
