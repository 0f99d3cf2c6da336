/** The rules of a request as a whole: the shape of every field, and what the fields must be to one another. */

import * as z from "zod/mini";
import { isKnownCurrency } from "./currency.ts";
import type { Problem } from "./errors.ts";
import { isJsonObject, type JsonObject, memberOf } from "./json.ts";
import { type Amount, compareAmounts, decimalsProblem, formatAmount, signOf } from "./money.ts";
import { paymentLinkRequest, type PaymentLinkRequest, VARIABLE_MODE, VERIFICATION } from "./payment-link.ts";
import { problemsOf, soundPart } from "./shape.ts";
import { isExposed, parseWebAddress } from "./web-address.ts";
import { formatRelative } from "./when.ts";

export interface CheckedRequest {
  /** The very value that was checked, fit to be sent; null where there are problems. */
  readonly request: PaymentLinkRequest | null;
  /** Everything that is wrong, each at its field's path: `amount`, `linkOptions.minAmount`. */
  readonly problems: readonly Problem[];
  /** What the service may well take, but hardly as it was meant. */
  readonly warnings: readonly Problem[];
}

/** The request as far as it is sound: what is missing or wrong is left out. Few runs meet one that is not whole. */
const partialRequest = z.lazy(() => z.partial(paymentLinkRequest));
type Sound = z.infer<typeof partialRequest>;
type Rule = (request: Sound, now: Date) => readonly Problem[];

const NONE: readonly Problem[] = [];

/**
 * Checks a request to create a link by every rule of the specification, and names every problem at once: those between
 * fields too, as far as the fields they speak of are sound.
 */
export function checkRequest(request: unknown, now: Date): CheckedRequest {
  if (!isJsonObject(request)) {
    return { request: null, problems: [{ at: "", message: "must be a JSON object" }], warnings: [] };
  }
  const shape = paymentLinkRequest.safeParse(request);
  const issues = shape.error?.issues ?? [];
  const sound = shape.data ?? partialRequest.safeParse(soundPart(request, issues)).data ?? {};
  const problems = [...problemsOf(issues), ...missingExpiry(request)];
  for (const rule of PROBLEMS) problems.push(...rule(sound, now));
  const ill = new Set(problems.map(({ at }) => at));
  const warnings = WARNINGS.flatMap((rule) => rule(sound, now)).filter(({ at }) => !ill.has(at));
  return {
    request: problems.length === 0 && conforms(request, shape.success) ? request : null,
    problems,
    warnings,
  };
}

/** The schema transforms nothing, so what has passed it is itself a request. */
function conforms(_request: object, passed: boolean): _request is PaymentLinkRequest {
  return passed;
}

/** Required, but for a multi-use link (Payment link request; Endpoints rule 4). */
function missingExpiry(request: JsonObject): readonly Problem[] {
  if (memberOf(request, "linkOptions") !== undefined) return NONE;
  if (memberOf(request, "expirationDate") !== undefined) return NONE;
  return [{ at: "expirationDate", message: "is required for a one-time link" }];
}

function pastExpiry({ expirationDate }: Sound, now: Date): readonly Problem[] {
  if (expirationDate === undefined || Date.parse(expirationDate) > now.getTime()) return NONE;
  const ago = formatRelative(new Date(expirationDate), now);
  return [{ at: "expirationDate", message: `must be in the future (it is ${ago})` }];
}

function tooManyDecimals({ amount, currency, linkOptions }: Sound): readonly Problem[] {
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

/** Only bounds that are in force can contradict each other or the amount (Endpoints rules 7 and 9). */
function brokenBounds(request: Sound): readonly Problem[] {
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

function ignoresBounds({ linkOptions }: Sound): boolean {
  return linkOptions?.mode !== undefined && linkOptions.mode !== VARIABLE_MODE;
}

function boundsWithoutEffect(request: Sound): readonly Problem[] {
  const { linkOptions } = request;
  if (linkOptions === undefined || !ignoresBounds(request)) return NONE;
  const message = `is ignored by the service unless mode is ${VARIABLE_MODE}`;
  return (["minAmount", "maxAmount"] as const)
    .filter((name) => linkOptions[name] !== undefined)
    .map((name) => ({ at: `linkOptions.${name}`, message }));
}

function oddCurrency({ currency }: Sound): readonly Problem[] {
  if (currency === undefined) return NONE;
  const code = currency.toUpperCase();
  const problems: Problem[] = [];
  if (!isKnownCurrency(code))
    problems.push({ at: "currency", message: `is not a currency of ISO 4217 (${code})` });
  if (currency !== code)
    problems.push({ at: "currency", message: `is sent in lower case; ISO 4217 writes ${code}` });
  return problems;
}

function exposedCallbacks({ paymentSettings }: Sound): readonly Problem[] {
  if (paymentSettings === undefined) return NONE;
  const message = "should be https: the specification posts to an HTTPS address";
  return (["callbackUrl", "failureCallbackUrl"] as const)
    .filter((name) => {
      const url = parseWebAddress(paymentSettings[name] ?? "");
      return url !== undefined && isExposed(url);
    })
    .map((name) => ({ at: `paymentSettings.${name}`, message }));
}

/** Endpoints rule 8: it takes both members to start an arrangement. */
function halfPeriodic({ periodic }: Sound): readonly Problem[] {
  if (periodic === undefined) return NONE;
  const message = "is missing, so the link starts no recurring arrangement";
  return (["periodicType", "sequenceType"] as const)
    .filter((name) => periodic[name] === undefined)
    .map((name) => ({ at: `periodic.${name}`, message }));
}

/** 0 is for verifications and multi-use links (Payment link request, amount). */
function nothingToPay({ amount, transactionType, linkOptions }: Sound): readonly Problem[] {
  if (amount === undefined || signOf(amount) !== 0) return NONE;
  if (linkOptions !== undefined || transactionType === VERIFICATION) return NONE;
  const message = "is 0 on a one-time link that is no verification: there is nothing to pay";
  return [{ at: "amount", message }];
}

const PROBLEMS: readonly Rule[] = [pastExpiry, tooManyDecimals, brokenBounds];
const WARNINGS: readonly Rule[] = [
  oddCurrency,
  boundsWithoutEffect,
  exposedCallbacks,
  halfPeriodic,
  nothingToPay,
];
