/** The request that creates a payment link: the rules of its fields and between them, and the warnings. */
import {
  compareAmounts,
  decimalsProblem,
  formatAmount,
  isKnownCurrency,
  signOf,
  type Amount,
} from "./money.ts";
import { duration, formatRelative } from "../values/time.ts";
import { isJsonObject, type JsonObject, memberOf } from "../values/json.ts";
import { serviceNamed, TRANSACTION_TYPES } from "./known-services.ts";
import { nearest } from "../values/parse-result.ts";
import { fieldLabel } from "./payment-link-field-lookup.ts";
import type { PartialRequest, PaymentLink, PaymentLinkRequest } from "./payment-link-shapes.ts";
import { isWithout, problemsOfRequest, validPart } from "./payment-link-values.ts";
import { isExposed, parseWebAddress } from "../values/addresses.ts";
import { NO_PROBLEMS, problemWith, type Problem } from "./errors.ts";

/** The mode in which bounds apply (Endpoints rule 9); also the default mode of `linkOptions`. */
export const VARIABLE_MODE = "REUSABLE_VARIABLE";
/** The service's default for `paymentReferenceMode`. */
export const DEFAULT_REFERENCE_MODE = "FIXED";
export const SALE = "SALE";
export const VERIFICATION = "VERIFICATION";
/** The only `periodic` the service supports: it starts a recurring arrangement (Endpoints rule 8). */
export const SUBSCRIPTION_START = { periodicType: "ucof", sequenceType: "initial" } as const;
/** The lifetime of a reusable link without `expirationDate` (Endpoints rule 4). */
export const REUSABLE_LIFETIME = duration(3, "y");

/** What a customer may pay, in words. Bounds are used in one mode only (linkOptions). */
export function boundWords(
  { currency = "", linkOptions = {} }: Pick<PaymentLink, "currency" | "linkOptions">,
  format: (amount: Amount, currency: string) => string,
): string | undefined {
  const { mode, minAmount, maxAmount } = linkOptions;
  if (mode !== VARIABLE_MODE || (minAmount ?? maxAmount) === undefined) return undefined;
  const [least, most] = [minAmount, maxAmount].map((amount) =>
    amount === undefined ? undefined : format(amount, currency).trim(),
  );
  if (most === undefined) return `at least ${least}`;
  return least === undefined ? `at most ${most}` : `${least} to ${most}`;
}

export interface CheckedRequest {
  /** The checked value itself, ready to send; null if there are problems. */
  readonly request: PaymentLinkRequest | null;
  /** Each at the path of its field: `amount`, `linkOptions.minAmount`. */
  readonly problems: readonly Problem[];
  /** What the service may accept, but the user probably did not mean. Most callers need the problems alone. */
  readonly warnings: () => readonly Problem[];
}

/**
 * Checks a request by every rule of the specification and returns all problems at once. A rule between fields applies
 * if its fields are valid. `service` is the name of the built-in service that the request goes to.
 */
export function checkRequest(request: unknown, now: Date, service?: string): CheckedRequest {
  if (!isJsonObject(request)) {
    return {
      request: null,
      problems: [{ at: "", message: "must be a JSON object" }],
      warnings: () => NO_PROBLEMS,
    };
  }
  const wrong = problemsOfRequest(request);
  const valid = validPart(request, wrong);
  const problems = [
    ...wrong,
    ...missingExpiry(request),
    ...pastExpiry(valid, now),
    ...tooManyDecimals(valid),
    ...brokenBounds(valid),
  ];
  return {
    // What has no problem is a request, and is sent as it is spelled.
    request: problems.length === 0 && isWithout<PaymentLinkRequest>(problems, request) ? request : null,
    problems,
    warnings: () => {
      const invalid = new Set(problems.map(({ at }) => at));
      return warningsOf(valid, service).filter(({ at }) => !invalid.has(at));
    },
  };
}

/** Required unless the link is reusable (Payment link request; Endpoints rule 4). */
function missingExpiry(request: JsonObject): readonly Problem[] {
  if (memberOf(request, "linkOptions") !== undefined) return NO_PROBLEMS;
  if (memberOf(request, "expirationDate") !== undefined) return NO_PROBLEMS;
  return [{ at: "expirationDate", message: "is required for a one-time link" }];
}

export function pastExpiry(
  { expirationDate }: Pick<PartialRequest, "expirationDate">,
  now: Date,
): readonly Problem[] {
  if (expirationDate === undefined || Date.parse(expirationDate) > now.getTime()) return NO_PROBLEMS;
  const ago = formatRelative(new Date(expirationDate), now);
  return [{ at: "expirationDate", message: `must be in the future (it is ${ago})` }];
}

function tooManyDecimals({ amount, currency, linkOptions }: PartialRequest): readonly Problem[] {
  if (currency === undefined) return NO_PROBLEMS;
  const problem = (at: string, value: Amount | undefined): readonly Problem[] => {
    const message = value === undefined ? undefined : decimalsProblem(value, currency);
    return message === undefined ? NO_PROBLEMS : [{ at, message }];
  };
  if (linkOptions === undefined) return problem("amount", amount);
  return [
    ...problem("amount", amount),
    ...problem("linkOptions.minAmount", linkOptions.minAmount),
    ...problem("linkOptions.maxAmount", linkOptions.maxAmount),
  ];
}

/** Only bounds that apply can contradict each other or the amount (Endpoints rules 7 and 9). */
function brokenBounds(request: PartialRequest): readonly Problem[] {
  const { amount, currency = "", linkOptions } = request;
  if (linkOptions === undefined || ignoresBounds(request)) return NO_PROBLEMS;
  const { minAmount: min, maxAmount: max } = linkOptions;
  const problems: Problem[] = [];
  const shown = (bound: Amount) => formatAmount(bound, currency).trim();
  if (min !== undefined && max !== undefined && compareAmounts(min, max) > 0) {
    problems.push({
      at: "linkOptions.minAmount",
      message: `must not be more than the ${fieldLabel("linkOptions.maxAmount")} (${shown(max)})`,
    });
  }
  if (amount === undefined || signOf(amount) === 0) return problems;
  if (min !== undefined && compareAmounts(amount, min) < 0) {
    problems.push({
      at: "amount",
      message: `must be 0, or at least the ${fieldLabel("linkOptions.minAmount")} (${shown(min)})`,
    });
  }
  if (max !== undefined && compareAmounts(amount, max) > 0) {
    problems.push({
      at: "amount",
      message: `must not be more than the ${fieldLabel("linkOptions.maxAmount")} (${shown(max)})`,
    });
  }
  return problems;
}

// What the service may accept in a request, though the user probably did not mean it: each warning names the effect.

const warningsOf = (request: PartialRequest, service: string | undefined): Problem[] => [
  ...doubtfulCurrency(request),
  ...beyondService(request, service),
  ...unknownType(request),
  ...boundsWithoutEffect(request),
  ...changeableAmount(request),
  ...plainHttpCallbacks(request),
  ...subscriptionWithAmount(request),
  ...reusableSubscription(request),
  ...nothingToPay(request),
];

/** Bounds are used in one mode only (linkOptions; Endpoints rule 9). */
const ignoresBounds = ({ linkOptions }: PartialRequest): boolean => linkOptions?.mode !== VARIABLE_MODE;

/** The customer may change the amount that is filled in (Endpoints rule 7). */
function changeableAmount(request: PartialRequest): readonly Problem[] {
  const { amount, linkOptions } = request;
  if (amount === undefined || signOf(amount) === 0 || linkOptions === undefined) return NO_PROBLEMS;
  const { minAmount, maxAmount } = ignoresBounds(request) ? {} : linkOptions;
  if (minAmount !== undefined || maxAmount !== undefined) return NO_PROBLEMS;
  const message =
    "is only filled in: the customer can change it to any amount, unless --min-amount and --max-amount limit it";
  return [{ at: "amount", message }];
}

function boundsWithoutEffect(request: PartialRequest): readonly Problem[] {
  const { linkOptions } = request;
  if (linkOptions === undefined || !ignoresBounds(request)) return NO_PROBLEMS;
  const message = `has no effect: the service ignores it unless mode is ${VARIABLE_MODE}`;
  return (["minAmount", "maxAmount"] as const)
    .filter((name) => linkOptions[name] !== undefined)
    .map((name) => ({ at: `linkOptions.${name}`, message }));
}

const doubtfulCurrency = ({ currency = "EUR" }: PartialRequest): readonly Problem[] =>
  isKnownCurrency(currency)
    ? NO_PROBLEMS
    : [problemWith(currency, "currency", "is not an ISO 4217 currency")];

/** What the documentation of a built-in service does not offer. */
function beyondService(
  { currency, linkOptions, invoiceId = "" }: PartialRequest,
  service: string | undefined,
): readonly Problem[] {
  const known = serviceNamed(service);
  if (known === undefined) return NO_PROBLEMS;
  const problems: Problem[] = [];
  if (currency !== undefined && !known.currencies.includes(currency.toUpperCase())) {
    const kind = `is sent as it is: the documentation of ${known.title} names ${known.currencies.join(", ")} only`;
    problems.push(problemWith(currency, "currency", kind));
  }
  if (linkOptions !== undefined && invoiceId.trim() === "") {
    const message = `is not given: ${known.title} asks for the order number that the references of a reusable link begin with`;
    problems.push({ at: "invoiceId", message });
  }
  return problems;
}

/** Another type may work at the service, so it is sent as it is. */
function unknownType({ transactionType: type }: PartialRequest): readonly Problem[] {
  const types: readonly string[] = TRANSACTION_TYPES;
  if (type === undefined || types.includes(type)) return NO_PROBLEMS;
  const near = nearest(type, types);
  const meant = near === undefined ? "" : `; did you mean ${near}?`;
  const kind = `is sent as it is: neither the specification nor the service names this value, only ${types.join(", ")}`;
  return [{ at: "transactionType", message: `${kind} ("${type}"${meant})`, kind }];
}

function plainHttpCallbacks({ paymentSettings }: PartialRequest): readonly Problem[] {
  if (paymentSettings === undefined) return NO_PROBLEMS;
  const message = "should be https: the service posts webhooks to HTTPS addresses";
  return (["callbackUrl", "failureCallbackUrl"] as const)
    .filter((name) => {
      const url = parseWebAddress(paymentSettings[name] ?? "");
      // One address is one warning.
      const isKnown = name !== "callbackUrl" && paymentSettings[name] === paymentSettings.callbackUrl;
      return url !== undefined && !isKnown && isExposed(url);
    })
    .map((name) => ({ at: `paymentSettings.${name}`, message }));
}

/** A start of a subscription is a verification over 0 (Endpoints rule 8). */
function subscriptionWithAmount(request: PartialRequest): readonly Problem[] {
  const { amount, currency = "", transactionType } = request;
  if (!startsSubscription(request) || amount === undefined || signOf(amount) === 0) return NO_PROBLEMS;
  const effect =
    transactionType === VERIFICATION
      ? "but nothing is charged: the service only verifies the card and stores it for later payments"
      : "which the customer pays at once: a subscription usually starts with amount 0 and type VERIFICATION";
  return [{ at: "amount", message: `is ${formatAmount(amount, currency).trim()}, ${effect}` }];
}

function reusableSubscription(request: PartialRequest): readonly Problem[] {
  if (!startsSubscription(request) || request.linkOptions === undefined) return NO_PROBLEMS;
  const message = "makes every payment through this reusable link start another subscription";
  return [{ at: "periodic", message }];
}

const startsSubscription = ({ periodic }: PartialRequest): boolean =>
  periodic?.periodicType !== undefined && periodic.sequenceType !== undefined;

/** Only verifications and reusable links have amount 0 (Payment link request, amount). */
function nothingToPay({ amount, transactionType, linkOptions }: PartialRequest): readonly Problem[] {
  if (amount === undefined || signOf(amount) !== 0) return NO_PROBLEMS;
  if (linkOptions !== undefined || transactionType === VERIFICATION) return NO_PROBLEMS;
  const message =
    "is 0, so the customer has nothing to pay: only verifications and reusable links have amount 0";
  return [{ at: "amount", message }];
}
