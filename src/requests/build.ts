/** From flags, a base file and the values in force to the request that is sent, with every problem by its flag. */
import {
  SUBSCRIPTION_START,
  VARIABLE_MODE,
  VERIFICATION,
  type PaymentLinkRequest,
} from "../domain/payment-link.ts";
import type { Problem } from "../domain/errors.ts";
import { isJsonObject, JsonNumber, memberOf, type Json, type JsonObject } from "../domain/json.ts";
import { fieldFromText } from "../domain/payment-link-text.ts";
import { checkRequest } from "../domain/payment-link-rules.ts";
import { accepted } from "../domain/parsed.ts";
import { parseWhen } from "../domain/when.ts";
import type { InForce } from "../store/in-force.ts";
import type { SettingKey } from "../store/profile.ts";
import type { RequestFlags } from "./flags.ts";

/** Where each flag's value goes. */
export const FIELD_OF = {
  amount: "amount",
  currency: "currency",
  terminalId: "terminalId",
  customerName: "customerName",
  expires: "expirationDate",
  invoiceId: "invoiceId",
  description: "description",
  customData: "merchantCustomData",
  type: "transactionType",
  returnUrl: "paymentSettings.returnUrl",
  failureReturnUrl: "paymentSettings.failureReturnUrl",
  callbackUrl: "paymentSettings.callbackUrl",
  failureCallbackUrl: "paymentSettings.failureCallbackUrl",
  email: "customerDetails.email",
  firstName: "customerDetails.billingAddress.firstName",
  lastName: "customerDetails.billingAddress.lastName",
  address1: "customerDetails.billingAddress.address1",
  address2: "customerDetails.billingAddress.address2",
  city: "customerDetails.billingAddress.city",
  postcode: "customerDetails.billingAddress.postalcode",
  country: "customerDetails.billingAddress.country",
  mode: "linkOptions.mode",
  minAmount: "linkOptions.minAmount",
  maxAmount: "linkOptions.maxAmount",
  referenceMode: "linkOptions.paymentReferenceMode",
} as const satisfies Partial<Record<keyof RequestFlags, string>>;
export type ValueFlag = keyof typeof FIELD_OF;
const VALUE_FLAGS = Object.keys(FIELD_OF) as ValueFlag[];

/** Flags that take their default from the settings, each under its own name there. */
const FROM_SETTINGS = [
  "currency",
  "terminalId",
  "customerName",
  "returnUrl",
  "failureReturnUrl",
  "callbackUrl",
  "failureCallbackUrl",
] as const satisfies readonly (ValueFlag & SettingKey)[];

/** The flag as it is typed: `--terminal-id`. */
export const nameOf = (flag: string): string =>
  `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

export interface BuiltRequest {
  /** Fit to be sent; null where there are problems. */
  readonly request: PaymentLinkRequest | null;
  readonly problems: readonly Problem[];
  /** Those of the problems that are values never given: an account can supply some of them. */
  readonly missing: readonly Problem[];
  readonly warnings: readonly Problem[];
}

interface Sources {
  readonly flags: RequestFlags;
  /** The JSON of `--from`; undefined without it. */
  readonly base: Json | undefined;
  /** What one row of a list gives, by field: it wins over the flags, and its text is read as a flag's would be. */
  readonly given?: ReadonlyMap<string, Json>;
  readonly settings: InForce;
  readonly now: Date;
}

export function buildRequest({ flags: typed, base, given = NOTHING, settings, now }: Sources): BuiltRequest {
  const flags = yieldTo(given, typed);
  if (base !== undefined && !isJsonObject(base))
    return unusable({ at: "--from", message: "must hold a JSON object" });
  const problems: Problem[] = [];
  const request = structuredCopy(base ?? {});
  for (const [field, value] of given) {
    const read = typeof value === "string" ? fieldFromText(field, value, now) : accepted(value);
    if (read.ok) setField(request, field, read.value);
    else problems.push({ at: field, message: read.message });
  }
  for (const flag of VALUE_FLAGS) {
    const typed = flags[flag];
    if (typed === undefined) continue;
    const value = fieldFromText(FIELD_OF[flag], typed, now);
    if (value.ok) setField(request, FIELD_OF[flag], value.value);
    else problems.push({ at: nameOf(flag), message: value.message });
  }
  if (wantsReusable(flags) || [...given.keys()].some((field) => field.startsWith("linkOptions.")))
    setDefault(request, "linkOptions.mode", VARIABLE_MODE);
  applyDefaults(request, flags, settings, now, problems);
  const checked = checkRequest(request, now);
  const refused = new Set(problems.map(({ at }) => at));
  const missing: Problem[] = [];
  for (const { at, message } of checked.problems) {
    const problem = { at: placeOf(at, flags, given), message };
    if (refused.has(problem.at)) continue;
    problems.push(problem);
    if (fieldOf(request, at) === undefined) missing.push(problem);
  }
  const warnings = checked.warnings.map(({ at, message }) => ({ at: placeOf(at, flags, given), message }));
  return { request: problems.length === 0 ? checked.request : null, problems, missing, warnings };
}

const NOTHING: ReadonlyMap<string, Json> = new Map();

/** The flags that a row leaves in force. */
function yieldTo(given: ReadonlyMap<string, Json>, flags: RequestFlags): RequestFlags {
  const isGiven = (flag: string): boolean => isValueFlag(flag) && given.has(FIELD_OF[flag]);
  if (!Object.keys(flags).some(isGiven)) return flags;
  return Object.fromEntries(Object.entries(flags).filter(([flag]) => !isGiven(flag)));
}

const isValueFlag = (flag: string): flag is ValueFlag => Object.hasOwn(FIELD_OF, flag);

const unusable = (problem: Problem): BuiltRequest => ({
  request: null,
  problems: [problem],
  missing: [],
  warnings: [],
});

const wantsReusable = ({ reusable, mode, minAmount, maxAmount, referenceMode }: RequestFlags): boolean =>
  reusable === true || [mode, minAmount, maxAmount, referenceMode].some((value) => value !== undefined);

/** What nobody gave: the profile's values, and what each kind of link means. */
function applyDefaults(
  request: JsonObject,
  flags: RequestFlags,
  settings: InForce,
  now: Date,
  problems: Problem[],
): void {
  for (const flag of FROM_SETTINGS) {
    const value = settings.get(flag);
    if (value !== undefined && flags[flag] === undefined) setDefault(request, FIELD_OF[flag], value);
  }
  if (flags.subscription === true) {
    setDefault(request, "periodic", { ...SUBSCRIPTION_START });
    setDefault(request, "transactionType", VERIFICATION);
  }
  const reusable = memberOf(request, "linkOptions") !== undefined;
  if ((reusable || flags.subscription === true) && flags.amount === undefined) {
    setDefault(request, "amount", new JsonNumber("0"));
  }
  const expires = settings.find("expires");
  // A reusable link's expiry is the service's own, unless the user has set one.
  if (expires === undefined || flags.expires !== undefined || (reusable && expires.source === "default"))
    return;
  const when = parseWhen(expires.value, now);
  if (when.ok) setDefault(request, "expirationDate", when.value.toISOString());
  else problems.push({ at: "expires", message: `${when.message} (it comes from the ${expires.source})` });
}

/** A problem is named by its flag, unless the value stands in a file; what has no flag is named by its path. */
function placeOf(path: string, flags: RequestFlags, given: ReadonlyMap<string, Json>): string {
  const flag = VALUE_FLAGS.find((name) => FIELD_OF[name] === path);
  if (flag !== undefined && flags[flag] !== undefined) return nameOf(flag);
  // A row lacks a column, not a flag.
  if (given !== NOTHING) return path;
  if (flag !== undefined && flags.from === undefined) return nameOf(flag);
  return flags.from === undefined ? path : `${flags.from === "-" ? "stdin" : flags.from}: ${path}`;
}

function structuredCopy(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const [name, value] of Object.entries(object))
    copy[name] = isJsonObject(value) ? structuredCopy(value) : value;
  return copy;
}

function fieldOf(object: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object;
  for (const name of path.split(".")) value = isJsonObject(value) ? memberOf(value, name) : undefined;
  return value;
}

function setField(object: JsonObject, path: string, value: Json): void {
  const names = path.split(".");
  const last = names.pop() ?? "";
  let target = object;
  for (const name of names) {
    const inner = memberOf(target, name);
    target = target[name] = isJsonObject(inner) ? inner : {};
  }
  target[last] = value;
}

function setDefault(object: JsonObject, path: string, value: Json): void {
  if (fieldOf(object, path) === undefined) setField(object, path, value);
}
