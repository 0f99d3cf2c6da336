/** Links as values: what is wrong with one by the table of fields, and the part of it that is right. */
import type { Problem } from "./errors.ts";
import { isJsonObject, type Json, type JsonObject, memberAt, memberOf } from "../values/json.ts";
import { type Amount, signOf } from "./money.ts";
import { accepted, type Parsed } from "../values/parse-result.ts";
import { LINK_FIELDS, type LinkFieldPath } from "./payment-link-fields.ts";
import type { PartialRequest, PaymentLink, PaymentLinkRequest, RepeatedPart } from "./payment-link-shapes.ts";
import { linkFieldsOf, isLinkField } from "./payment-link-field-lookup.ts";
import { type AmountParser, type FieldType, typeNamed } from "./payment-link-types.ts";

type Side = "request" | "reply";

type Rules = (type: FieldType) => (value: Json) => string | undefined;

const requestRules: Rules = (type) => typeNamed(type).rule;
const replyRules: Rules = (type) => typeNamed(type).replyRule ?? requestRules(type);
const shownRules: Rules = (type) => typeNamed(type).shownRule ?? replyRules(type);

/** Every missing and every wrong field of a request, each at its path. */
export const problemsOfRequest = (request: JsonObject): Problem[] =>
  memberProblems(request, LINK_MEMBERS.request, requestRules, "is required");

export const problemsOfReply = (reply: JsonObject): Problem[] =>
  memberProblems(reply, LINK_MEMBERS.reply, replyRules, "is missing");

export interface FieldNode {
  readonly path: LinkFieldPath;
  readonly name: string;
  readonly type: FieldType;
  readonly isRequired: boolean;
  /** Those of an object. */
  readonly members: readonly FieldNode[];
}

const membersOf = (side: Side, parent = ""): readonly FieldNode[] =>
  linkFieldsOf(side).flatMap(([path, field]) => {
    const name = path.slice(parent.length);
    if (!path.startsWith(parent) || name.includes(".")) return [];
    const isRequired = field[side] === "required";
    return [{ path, name, type: field.type, isRequired, members: membersOf(side, `${path}.`) }];
  });

/** The fields as a tree: the table would be searched for each row of a list, and each link that it gets (bulk bench). */
export const LINK_MEMBERS = { request: membersOf("request"), reply: membersOf("reply") };

function memberProblems(
  link: JsonObject,
  members: readonly FieldNode[],
  rules: Rules,
  missing: string | undefined,
): Problem[] {
  const problems: Problem[] = [];
  for (const { path, name, type, isRequired, members: inner } of members) {
    const value = memberOf(link, name);
    const message = value !== undefined ? rules(type)(value) : isRequired ? missing : undefined;
    if (message !== undefined) problems.push({ at: path, message });
    if (isJsonObject(value) && inner.length > 0)
      problems.push(...memberProblems(value, inner, rules, missing));
  }
  return problems;
}

/** The request without the fields that have problems, so that rules between fields still apply to the others. */
export function validPart(request: JsonObject, problems: readonly Problem[]): PartialRequest {
  const rest = withoutFieldsOf(problems, request);
  return isWithout<PartialRequest>(problems, rest) ? rest : {};
}

/** What can be shown of a reply: without the fields of a type that nothing can show. */
export function shownPart(reply: JsonObject): PaymentLink {
  const problems = memberProblems(reply, LINK_MEMBERS.reply, shownRules, undefined);
  const rest = withoutFieldsOf(problems, reply);
  return isWithout<PaymentLink>(problems, rest) ? rest : {};
}

const withoutFieldsOf = (problems: readonly Problem[], link: JsonObject): JsonObject =>
  problems.reduce((left, { at }) => withoutMember(left, at.split(".")), link);

/** Whether nothing is left of what broke the rules: every other member has the type of its field. */
export const isWithout = <Link extends object>(
  problems: readonly Problem[],
  rest: JsonObject,
): rest is JsonObject & Link => problems.every(({ at }) => memberAt(rest, at) === undefined);

function withoutMember(object: JsonObject, [name = "", ...deeper]: readonly string[]): JsonObject {
  const { [name]: member, ...others } = object;
  return deeper.length > 0 && isJsonObject(member)
    ? { ...others, [name]: withoutMember(member, deeper) }
    : others;
}

/** The value to send for the text of a field, by its type. `checkRequest` applies the rules of the field afterwards. */
export function fieldFromText(
  field: string,
  typed: string,
  now: Date,
  amountFrom?: AmountParser,
): Parsed<Json> {
  const type = isLinkField(field) ? typeNamed(LINK_FIELDS[field].type) : undefined;
  return type?.fromText?.(typed, { now, amountFrom }) ?? accepted(typed);
}

/** A reply without the nulls that say the same as no value: of optional fields whose type does not have null. */
export const withoutNulls = (reply: JsonObject): JsonObject => withoutNullsOf(LINK_MEMBERS.reply, reply);

function withoutNullsOf(members: readonly FieldNode[], reply: JsonObject): JsonObject {
  const given = Object.entries(reply).flatMap(([name, value]): [string, Json][] => {
    const member = members.find((one) => one.name === name);
    if (member === undefined) return [[name, value]];
    if (value === null && !member.isRequired && replyRules(member.type)(null) !== undefined) return [];
    return [[name, isJsonObject(value) ? withoutNullsOf(member.members, value) : value]];
  });
  return Object.fromEntries(given);
}

/** The part of a request that a reply has too. */
export function repeatedPart(request: PaymentLinkRequest): RepeatedPart {
  const { amount, currency, invoiceId, terminalId, customerName, description } = request;
  const { mode, minAmount, maxAmount } = request.linkOptions ?? {};
  const linkOptions = request.linkOptions && { mode, minAmount, maxAmount };
  const part = { amount, currency, invoiceId, terminalId, customerName, description, linkOptions };
  return part satisfies Readonly<Record<keyof RepeatedPart, unknown>>;
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
