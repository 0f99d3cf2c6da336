/** Checks a whole request: every field by its schema, and the rules between fields. */

import type { Problem } from "./errors.ts";
import { isJsonObject, type JsonObject, memberOf } from "./json.ts";
import { type Amount, compareAmounts, decimalsProblem, formatAmount, signOf } from "./money.ts";
import {
  partialRequest,
  type PartialRequest,
  paymentLinkRequest,
  type PaymentLinkRequest,
} from "./payment-link.ts";
import { ignoresBounds, warningsOf } from "./payment-link-warnings.ts";
import { problemsOf, validPart } from "./schema.ts";
import { formatRelative } from "./when.ts";

export interface CheckedRequest {
  /** The checked value itself, ready to send; null if there are problems. */
  readonly request: PaymentLinkRequest | null;
  /** Each at the path of its field: `amount`, `linkOptions.minAmount`. */
  readonly problems: readonly Problem[];
  /** What the service may accept, but the user probably did not mean. Most callers need the problems alone. */
  readonly warnings: () => readonly Problem[];
}

type Rule = (request: PartialRequest, now: Date) => readonly Problem[];

const NONE: readonly Problem[] = [];

/**
 * Checks a request by every rule of the specification and returns all problems at once. A rule between fields applies
 * if its fields are valid. `listener` is where a running `listen` receives, if there is one.
 */
export function checkRequest(request: unknown, now: Date, listener?: string): CheckedRequest {
  if (!isJsonObject(request)) {
    return { request: null, problems: [{ at: "", message: "must be a JSON object" }], warnings: () => NONE };
  }
  const parsed = paymentLinkRequest.safeParse(request);
  const issues = parsed.error?.issues ?? [];
  const valid = parsed.data ?? partialRequest.safeParse(validPart(request, issues)).data ?? {};
  const problems = [...problemsOf(issues), ...missingExpiry(request)];
  for (const rule of PROBLEMS) problems.push(...rule(valid, now));
  return {
    request: problems.length === 0 && conforms(request, parsed.success) ? request : null,
    problems,
    warnings: () => {
      const invalid = new Set(problems.map(({ at }) => at));
      return warningsOf(valid, listener).filter(({ at }) => !invalid.has(at));
    },
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

const PROBLEMS: readonly Rule[] = [pastExpiry, tooManyDecimals, brokenBounds];
