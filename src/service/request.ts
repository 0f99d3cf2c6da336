/** Builds the request from flags, a base request and settings, and names every problem by its flag. */
import {
  checkRequest,
  SUBSCRIPTION_START,
  VARIABLE_MODE,
  VERIFICATION,
  type CheckedRequest,
} from "../domain/payment-link.ts";
import { isWebAddress } from "../values/addresses.ts";
import type { Problem } from "../domain/errors.ts";
import {
  isJsonNumber,
  isJsonObject,
  JsonNumber,
  memberAt,
  memberOf,
  setAt,
  setDefaultAt,
  type Json,
  type JsonObject,
} from "../values/json.ts";
import type { LinkFieldPath } from "../domain/payment-link-fields.ts";
import {
  FIELD_OF_FLAG,
  FIELD_SETTINGS,
  type FieldSetting,
  flagName,
  type ValueFlag,
  VALUE_FLAGS,
} from "../domain/payment-link-field-lookup.ts";
import type { AmountParser } from "../domain/payment-link-types.ts";
import type { PaymentLinkRequest } from "../domain/payment-link-shapes.ts";
import { fieldFromText } from "../domain/payment-link-values.ts";
import { accepted } from "../values/parse-result.ts";
import type { ResolvedSettings, SettingSource } from "../settings/resolved-settings.ts";

export interface BuiltRequest {
  /** Ready to send; null if there are problems. */
  readonly request: PaymentLinkRequest | null;
  readonly problems: readonly Problem[];
  /** The problems that are missing values: an account can supply some of them. */
  readonly missing: readonly Problem[];
  readonly warnings: () => readonly Problem[];
  /** The request as built, valid or not. */
  readonly draft: JsonObject;
}

interface RequestSources {
  readonly flags: RequestFlags;
  /** The JSON of `--from`; undefined without it. */
  readonly base: Json | undefined;
  readonly settings: ResolvedSettings;
  /** Reads the amounts in `given`. */
  readonly amountFrom?: AmountParser | undefined;
}

/**
 * Builds a request at a point in time. `given` has the fields of one row of a list: they override the flags, and their
 * text is parsed like a flag's.
 */
export type RequestBuilder = (now: Date, given?: ReadonlyMap<string, Json>) => BuiltRequest;

/** Prepares what all requests of a run have in common. */
export function requestBuilder({ flags, base = {}, settings, amountFrom }: RequestSources): RequestBuilder {
  if (!isJsonObject(base)) return () => unusableRequest({ at: "--from", message: "must hold a JSON object" });
  const typed = VALUE_FLAGS.flatMap((flag): [ValueFlag, string][] => {
    const text = flags[flag];
    return text === undefined ? [] : [[flag, text]];
  });
  const defaults = defaultsOf(settings);
  return (now, given = NO_CELLS) => {
    const problems: Problem[] = [];
    const request = copyJson(base);
    for (const [field, value] of given) {
      const read = typeof value === "string" ? fieldFromText(field, value, now, amountFrom) : accepted(value);
      if (read.ok) setAt(request, field, read.value);
      else problems.push(fieldProblem(field, read.message, value));
    }
    for (const [flag, text] of typed) {
      if (given.has(FIELD_OF_FLAG[flag])) continue;
      const value = fieldFromText(FIELD_OF_FLAG[flag], text, now);
      if (value.ok) setAt(request, FIELD_OF_FLAG[flag], value.value);
      else problems.push({ at: flagName(flag), message: `${value.message}${got(text)}`, value: text });
    }
    if (flags.reusable === true || hasLinkOptions(given))
      setDefaultAt(request, "linkOptions.mode", VARIABLE_MODE);
    const isReusable = memberOf(request, "linkOptions") !== undefined;
    const hasCallback = memberAt(request, CALLBACK) !== undefined;
    for (const { path, setting, text, source } of defaults) {
      // The service sets the expiry of a reusable link.
      if (source === "default" && isReusable) continue;
      // The settings' address for failed payments belongs to their own callback.
      if (path === FAILURE_CALLBACK && hasCallback) continue;
      if (memberAt(request, path) !== undefined) continue;
      const value = fieldFromText(path, text, now);
      if (value.ok) setAt(request, path, value.value);
      else problems.push({ at: setting, message: `${value.message} (from the ${source})` });
    }
    if (flags.subscription === true) {
      setDefaultAt(request, "periodic", { ...SUBSCRIPTION_START });
      setDefaultAt(request, "transactionType", VERIFICATION);
    }
    if ((isReusable || flags.subscription === true) && flags.amount === undefined)
      setDefaultAt(request, "amount", new JsonNumber("0"));
    const callback = memberAt(request, CALLBACK);
    // Failed payments are posted to the same address; a base request is sent as it is spelled.
    if (typeof callback === "string" && isWebAddress(callback) && callback !== memberAt(base, CALLBACK))
      setDefaultAt(request, FAILURE_CALLBACK, callback);
    return builtRequest(
      request,
      problems,
      (at) => placeOfProblem(at, flags, given),
      checkRequest(request, now, settings.get("service")),
    );
  };
}

const CALLBACK = FIELD_OF_FLAG.callbackUrl;
const FAILURE_CALLBACK = FIELD_OF_FLAG.failureCallbackUrl;

interface FieldDefault {
  readonly path: LinkFieldPath;
  readonly setting: FieldSetting;
  readonly text: string;
  readonly source: SettingSource;
}

/** The fields that have a setting in force. */
const defaultsOf = (settings: ResolvedSettings): readonly FieldDefault[] =>
  FIELD_SETTINGS.flatMap(([path, setting]): FieldDefault[] => {
    const found = settings.find(setting);
    return found === undefined ? [] : [{ path, setting, text: found.value, source: found.source }];
  });

function builtRequest(
  request: JsonObject,
  problems: Problem[],
  nameAt: (path: string) => string,
  found: CheckedRequest,
): BuiltRequest {
  const refused = new Set(problems.map(({ at }) => at));
  const missing: Problem[] = [];
  for (const { at, message } of found.problems) {
    const value = memberAt(request, at);
    const problem = fieldProblem(nameAt(at), message, value);
    if (refused.has(problem.at)) continue;
    problems.push(problem);
    if (value === undefined) missing.push(problem);
  }
  const warnings = () => found.warnings().map((warning) => ({ ...warning, at: nameAt(warning.at) }));
  const valid = problems.length === 0 ? found.request : null;
  return { request: valid, problems, missing, warnings, draft: request };
}

const fieldProblem = (at: string, kind: string, value: Json | undefined): Problem => ({
  at,
  message: `${kind}${got(value)}`,
  kind,
});

const NO_CELLS: ReadonlyMap<string, Json> = new Map();

const unusableRequest = (problem: Problem): BuiltRequest => ({
  request: null,
  problems: [problem],
  missing: [],
  warnings: () => [],
  draft: {},
});

const hasLinkOptions = (given: ReadonlyMap<string, Json>): boolean =>
  [...given.keys()].some((field) => field.startsWith("linkOptions."));

/** The place of a problem: its flag, or its path if the value is in a file or has no flag. */
function placeOfProblem(path: string, flags: RequestFlags, given: ReadonlyMap<string, Json>): string {
  if (path === "periodic" && flags.subscription === true) return "--subscription";
  const flag = VALUE_FLAGS.find((name) => FIELD_OF_FLAG[name] === path);
  if (flag !== undefined && flags[flag] !== undefined && !given.has(path)) return flagName(flag);
  // In a list the problem is a missing column, not a missing flag.
  if (given !== NO_CELLS) return path;
  if (flag !== undefined && flags.from === undefined) return flagName(flag);
  return flags.from === undefined ? path : `${flags.from === "-" ? "stdin" : flags.from}: ${path}`;
}

/** Echoes an invalid value after the message about it; a whole object or list would be too long. */
function got(value: Json | undefined): string {
  if (typeof value === "string") return ` (got "${value}")`;
  return isJsonNumber(value) ? ` (got ${value.value})` : "";
}

/** A deep copy, also of a member with the name `__proto__`. */
function copyJson(object: JsonObject): JsonObject {
  const members = Object.entries(object);
  return Object.fromEntries(
    members.map(([name, value]) => [name, isJsonObject(value) ? copyJson(value) : value]),
  );
}

/** What the flags of a request hold, as they were typed. */
export type RequestFlags = { readonly [Flag in ValueFlag]?: string | undefined } & {
  readonly subscription?: boolean | undefined;
  readonly reusable?: boolean | undefined;
  /** The file of the base request. */
  readonly from?: string | undefined;
};
