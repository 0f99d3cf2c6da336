/** Checks a whole request: every field by its schema, and the rules between fields. */

import * as z from "zod/mini";
import { isKnownCurrency } from "./currency.ts";
import type { Problem } from "./errors.ts";
import { isJsonObject, type JsonObject, memberOf } from "./json.ts";
import { type Amount, compareAmounts, decimalsProblem, formatAmount, signOf } from "./money.ts";
import { paymentLinkRequest, type PaymentLinkRequest, VARIABLE_MODE, VERIFICATION } from "./payment-link.ts";
import { problemsOf, validPart } from "./schema.ts";
import { isExposed, parseWebAddress } from "./web-address.ts";
import { formatRelative } from "./when.ts";

export interface CheckedRequest {
  /** The checked value itself, ready to send; null if there are problems. */
  readonly request: PaymentLinkRequest | null;
  /** Each at the path of its field: `amount`, `linkOptions.minAmount`. */
  readonly problems: readonly Problem[];
  /** What the service may accept, but the user probably did not mean. */
  readonly warnings: readonly Problem[];
}

/** The valid part of a request, without missing and invalid fields. A valid request does not need it. */
const partialRequest = z.lazy(() => z.partial(paymentLinkRequest));
type PartialRequest = z.infer<typeof partialRequest>;
type Rule = (request: PartialRequest, now: Date) => readonly Problem[];

const NONE: readonly Problem[] = [];

/**
 * Checks a request by every rule of the specification and returns all problems at once. A rule between fields applies
 * if its fields are valid.
 */
export function checkRequest(request: unknown, now: Date): CheckedRequest {
  if (!isJsonObject(request)) {
    return { request: null, problems: [{ at: "", message: "must be a JSON object" }], warnings: [] };
  }
  const parsed = paymentLinkRequest.safeParse(request);
  const issues = parsed.error?.issues ?? [];
  const valid = parsed.data ?? partialRequest.safeParse(validPart(request, issues)).data ?? {};
  const problems = [...problemsOf(issues), ...missingExpiry(request)];
  for (const rule of PROBLEMS) problems.push(...rule(valid, now));
  const invalid = new Set(problems.map(({ at }) => at));
  const warnings = WARNINGS.flatMap((rule) => rule(valid, now)).filter(({ at }) => !invalid.has(at));
  return {
    request: problems.length === 0 && conforms(request, parsed.success) ? request : null,
    problems,
    warnings,
  };
}

/** The schema transforms nothing, so a value that passed it is a request itself. */
function conforms(_request: object, passed: boolean): _request is PaymentLinkRequest {
  return passed;
}

/** Required unless the link is multi-use (Payment link request; Endpoints rule 4). */
function missingExpiry(request: JsonObject): readonly Problem[] {
  if (memberOf(request, "linkOptions") !== undefined) return NONE;
  if (memberOf(request, "expirationDate") !== undefined) return NONE;
  return [{ at: "expirationDate", message: "is required for a one-time link" }];
}

export function pastExpiry(
  { expirationDate }: Pick<PartialRequest, "expirationDate">,
  now: Date,
): readonly Problem[] {
  if (expirationDate === undefined || Date.parse(expirationDate) > now.getTime()) return NONE;
  const ago = formatRelative(new Date(expirationDate), now);
  return [{ at: "expirationDate", message: `must be in the future (it is ${ago})` }];
}

function tooManyDecimals({ amount, currency, linkOptions }: PartialRequest): readonly Problem[] {
  if (currency === undefined) return NONE;
  const problem = (at: string, value: Amount | undefined): readonly Problem[] => {
    const message = value === undefined ? undefined : decimalsProblem(value, currency);
    return message === undefined ? NONE : [{ at, message }];
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
  if (linkOptions === undefined || ignoresBounds(request)) return NONE;
  const { minAmount: min, maxAmount: max } = linkOptions;
  const problems: Problem[] = [];
  const shown = (bound: Amount) => formatAmount(bound, currency).trim();
  if (min !== undefined && max !== undefined && compareAmounts(min, max) > 0) {
    problems.push({
      at: "linkOptions.minAmount",
      message: `must not be more than maxAmount (${shown(max)})`,
    });
  }
  if (amount === undefined || signOf(amount) === 0) return problems;
  if (min !== undefined && compareAmounts(amount, min) < 0) {
    problems.push({ at: "amount", message: `must be 0, or at least minAmount (${shown(min)})` });
  }
  if (max !== undefined && compareAmounts(amount, max) > 0) {
    problems.push({ at: "amount", message: `must not be more than maxAmount (${shown(max)})` });
  }
  return problems;
}

function ignoresBounds({ linkOptions }: PartialRequest): boolean {
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

/** Only verifications and multi-use links have amount 0 (Payment link request, amount). */
function nothingToPay({ amount, transactionType, linkOptions }: PartialRequest): readonly Problem[] {
  if (amount === undefined || signOf(amount) !== 0) return NONE;
  if (linkOptions !== undefined || transactionType === VERIFICATION) return NONE;
  const message =
    "is 0, so the customer has nothing to pay: only verifications and reusable links have amount 0";
  return [{ at: "amount", message }];
}

const PROBLEMS: readonly Rule[] = [pastExpiry, tooManyDecimals, brokenBounds];
const WARNINGS: readonly Rule[] = [
  doubtfulCurrency,
  boundsWithoutEffect,
  plainHttpCallbacks,
  incompletePeriodic,
  nothingToPay,
];
