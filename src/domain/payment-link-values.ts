/** What the fields of links may hold: the types for the compiler, the rule of each for values, and a value from text. */
import { isWebAddress } from "./addresses.ts";
import type { Problem } from "./errors.ts";
import { isJsonNumber, isJsonObject, type Json, type JsonNumber, type JsonObject, memberOf } from "./json.ts";
import { TRANSACTION_TYPES } from "./known-services.ts";
import { type Amount, CURRENCY_CODE, isDecimal, parseAmount, parseCurrency, signOf } from "./money.ts";
import { accepted, type Parsed } from "./parse-result.ts";
import { fieldsOf, type FieldType, type LinkFieldPath, type LinkFields } from "./payment-link-fields.ts";
import { formatInstant, isUtcDateTime, parseExpiry } from "./time.ts";

/** Types of the compiler for the values of each kind of field: as they are sent, and as a service writes them. */
interface Sent {
  readonly amount: JsonNumber;
  /** The field list types bounds as strings, the example writes numbers: both are accepted and kept. */
  readonly bound: Amount;
  readonly currency: string;
  readonly text: string;
  readonly name: string;
  readonly email: string;
  readonly webAddress: string;
  readonly date: string;
  readonly dateOrNull: string | null;
  readonly ucof: "ucof";
  readonly initial: "initial";
}
/** What can be shown of a link as it came: amounts as text too, dates as any text or number. */
interface Shown extends Omit<Sent, "amount" | "date" | "dateOrNull"> {
  readonly amount: Amount;
  readonly date: string | JsonNumber | null;
  readonly dateOrNull: string | JsonNumber | null;
}

type Side = "request" | "reply";

/** The last step of a path that is directly below the prefix. */
type NameBelow<Path extends string, Prefix extends string> = Path extends `${Prefix}${infer Name}`
  ? Name extends `${string}.${string}`
    ? never
    : Name
  : never;

/** Whether a side has the field: a request has each field that its table does not exclude. */
type Presence<Path extends LinkFieldPath, From extends Side> = LinkFields[Path] extends {
  readonly [S in From]: infer Stated;
}
  ? Stated
  : From extends "request"
    ? "optional"
    : "never";

/** The members below a prefix that are required, or optional, on a side; with `Loose` each may be missing. */
type Members<Prefix extends string, From extends Side, Types extends Shown | Sent, Loose extends boolean> = {
  readonly [
    Path in LinkFieldPath as Loose extends true
      ? never
      : Presence<Path, From> extends "required"
        ? NameBelow<Path, Prefix>
        : never
  ]: Value<Path, From, Types, Loose>;
} & {
  readonly [
    Path in LinkFieldPath as Presence<Path, From> extends (
      Loose extends true ? "required" | "optional" : "optional"
    )
      ? NameBelow<Path, Prefix>
      : never
  ]?: Value<Path, From, Types, Loose> | undefined;
};

type Value<
  Path extends LinkFieldPath,
  From extends Side,
  Types extends Shown | Sent,
  Loose extends boolean,
> = LinkFields[Path]["type"] extends keyof Types
  ? Types[LinkFields[Path]["type"]]
  : Members<`${Path}.`, From, Types, Loose>;

/** The request as it is sent: amounts in major units, numbers in their spelling, unknown members included. */
export type PaymentLinkRequest = Members<"", "request", Sent, false>;
/** The valid part of a request, without missing and invalid fields. */
export type PartialRequest = Members<"", "request", Sent, true>;
/** A link with every required field, as a service builds it. */
export type WellFormedLink = Members<"", "reply", Sent, false>;
/** A link as received: without fields of a wrong type, with unknown members. */
export type PaymentLink = Members<"", "reply", Shown, true>;

/** What is wrong with a value; undefined if nothing is. */
type Rule = (value: Json) => string | undefined;

const text =
  (rule: string, isRight: (value: string) => boolean = () => true): Rule =>
  (value) =>
    typeof value === "string" && isRight(value) ? undefined : rule;

const isNumberOf =
  (rule: string, isRight: (value: JsonNumber) => boolean): Rule =>
  (value) =>
    isJsonNumber(value) && isRight(value) ? undefined : rule;

const boundOf =
  (rule: string, isRight: (value: JsonNumber) => boolean): Rule =>
  (value) =>
    isJsonNumber(value) ? isNumberOf(rule, isRight)(value) : text(rule, isDecimal)(value);

const object: Rule = (value) => (isJsonObject(value) ? undefined : "must be an object");

const isPositive = (value: JsonNumber): boolean => signOf(value) >= 0;
const CURRENCY = "must be a three-letter currency code";

/** Whatever a person, a file or a client sends: each rule has an example. */
const REQUEST_RULES: Readonly<Record<FieldType, Rule>> = {
  amount: isNumberOf("must be a number of 0 or more, such as 10.00", isPositive),
  bound: boundOf("must be a decimal of 0 or more, such as 5.00", isPositive),
  currency: text(`${CURRENCY}, such as EUR`, (value) => CURRENCY_CODE.test(value)),
  text: text("must be text"),
  name: (value) => text("must be text")(value) ?? text("must not be empty", (name) => /\S/.test(name))(value),
  email: text("must be an e-mail address, such as ada@shop.example", (value) =>
    /^[^\s@]+@[^\s@]+$/.test(value),
  ),
  webAddress: text("must be an absolute http or https URL, such as https://shop.example/paid", isWebAddress),
  date: text("must be an ISO 8601 date-time in UTC, such as 2030-01-31T12:00:00Z", isUtcDateTime),
  dateOrNull: () => undefined,
  ucof: text("must be ucof", (value) => value === "ucof"),
  initial: text("must be initial", (value) => value === "initial"),
  object,
};

const EVENT_DATE = "must be an ISO 8601 date-time or null";

/** What a service answers. Its dates and URL have rules of their own, since those are shown in any form. */
const REPLY_RULES: Readonly<Record<FieldType, Rule>> = {
  ...REQUEST_RULES,
  amount: isNumberOf("must be a number", () => true),
  bound: boundOf("must be a decimal", () => true),
  currency: text(CURRENCY, (value) => CURRENCY_CODE.test(value)),
  name: text("must be text"),
  date: text("must be text"),
  dateOrNull: (value) => (value === null ? undefined : text(EVENT_DATE)(value)),
};

const anyDate: Rule = (value) => (value === null || isJsonNumber(value) ? undefined : text("")(value));

/** What can be shown of a reply. */
const SHOWN_RULES: Readonly<Record<FieldType, Rule>> = {
  ...REPLY_RULES,
  amount: REPLY_RULES.bound,
  date: anyDate,
  dateOrNull: anyDate,
};

/** Every missing and every wrong field of a request, each at its path. */
export const problemsOfRequest = (request: JsonObject): Problem[] =>
  problemsOf(request, MEMBERS.request, REQUEST_RULES, "is required");

export const problemsOfReply = (reply: JsonObject): Problem[] =>
  problemsOf(reply, MEMBERS.reply, REPLY_RULES, "is missing");

interface Member {
  readonly path: LinkFieldPath;
  readonly name: string;
  readonly type: FieldType;
  readonly isRequired: boolean;
  /** Those of an object. */
  readonly members: readonly Member[];
}

const membersOf = (side: Side, parent = ""): readonly Member[] =>
  fieldsOf(side).flatMap(([path, field]) => {
    const name = path.slice(parent.length);
    if (!path.startsWith(parent) || name.includes(".")) return [];
    const isRequired = field[side] === "required";
    return [{ path, name, type: field.type, isRequired, members: membersOf(side, `${path}.`) }];
  });

/** The fields as a tree: the table would be searched for each row of a list, and each link that it gets (bulk bench). */
const MEMBERS = { request: membersOf("request"), reply: membersOf("reply") };

function problemsOf(
  link: JsonObject,
  members: readonly Member[],
  rules: Readonly<Record<FieldType, Rule>>,
  missing: string | undefined,
): Problem[] {
  const problems: Problem[] = [];
  for (const { path, name, type, isRequired, members: inner } of members) {
    const value = memberOf(link, name);
    const message = value !== undefined ? rules[type](value) : isRequired ? missing : undefined;
    if (message !== undefined) problems.push({ at: path, message });
    if (isJsonObject(value) && inner.length > 0) problems.push(...problemsOf(value, inner, rules, missing));
  }
  return problems;
}

/** The request without the fields that have problems, so that rules between fields still apply to the others. */
export const validPart = (request: JsonObject, problems: readonly Problem[]): PartialRequest =>
  withoutFieldsOf(problems, request);

/** What can be shown of a reply: without the fields of a type that nothing can show. */
export const shownPart = (reply: JsonObject): PaymentLink =>
  withoutFieldsOf(problemsOf(reply, MEMBERS.reply, SHOWN_RULES, undefined), reply);

function withoutFieldsOf(problems: readonly Problem[], link: JsonObject): PartialRequest & PaymentLink {
  const rest = problems.reduce((left, { at }) => without(left, at.split(".")), link);
  return isSound(rest) ? rest : {};
}

/** The rules have passed for every member that is left, so the types are right. */
function isSound(_link: object): _link is PartialRequest & PaymentLink {
  return true;
}

function without(object: JsonObject, [name = "", ...deeper]: readonly string[]): JsonObject {
  const { [name]: member, ...others } = object;
  return deeper.length > 0 && isJsonObject(member) ? { ...others, [name]: without(member, deeper) } : others;
}

/** Reads an amount in the spelling of its list. */
export type AmountParser = (text: string) => Parsed<JsonNumber>;

/**
 * The value to send for a field: the amount as a number in its spelling, bounds as text, the currency and a known
 * transaction type in upper case, an expiry (ISO 8601, a date, or a duration from `now`) as ISO 8601 UTC, any other text
 * unchanged. `checkRequest` applies the rules of the field afterwards.
 */
export function fieldFromText(
  field: string,
  typed: string,
  now: Date,
  amountFrom: AmountParser = parseAmount,
): Parsed<Json> {
  switch (field) {
    case "amount":
      return amountFrom(typed);
    case "linkOptions.minAmount":
    case "linkOptions.maxAmount": {
      const bound = amountFrom(typed);
      return bound.ok ? accepted(bound.value.value) : bound;
    }
    case "currency": {
      const code = parseCurrency(typed.trim());
      // The rule of the field reports a text that is not a code.
      return code.ok ? code : accepted(typed);
    }
    case "transactionType":
      return accepted(TRANSACTION_TYPES.find((type) => type === typed.trim().toUpperCase()) ?? typed);
    case "expirationDate": {
      const date = parseExpiry(typed, now);
      return date.ok ? accepted(formatInstant(date.value)) : date;
    }
    default:
      return accepted(typed);
  }
}

/**
 * What kind of link a request asks for, or a service shows, in the words of the questions. Few services say of a link without
 * an amount whether it starts a subscription.
 */
export function linkKind(link: {
  readonly amount?: Amount | undefined;
  readonly linkOptions?: unknown;
  readonly periodic?: unknown;
}): "one-time" | "reusable" | "subscription" | "verification" {
  if (isJsonObject(link.linkOptions)) return "reusable";
  if (isJsonObject(link.periodic)) return "subscription";
  return link.amount !== undefined && signOf(link.amount) === 0 ? "verification" : "one-time";
}
