/** The schemas of links and transactions in the document, from the tables that check them. */
import type { Outcome } from "../../domain/outcome.ts";
import { LINK_FIELDS, type LinkFieldPath } from "../../domain/payment-link-fields.ts";
import { linkFieldsOf, fieldMeaning } from "../../domain/payment-link-field-lookup.ts";
import { FIELD_TYPES } from "../../domain/payment-link-types.ts";
import { LINK_STATUSES } from "../../domain/payment-link-reply.ts";
import { TRANSACTION_FIELDS } from "../../domain/transaction-fields.ts";
import { isForbidden, isRequired } from "../../domain/transaction.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What else holds for single fields. */
const MORE: Readonly<Record<string, JsonSchema>> = {
  id: { examples: ["69lXLdv9w"] },
  url: FIELD_TYPES.webAddress.jsonSchema,
  status: { enum: LINK_STATUSES },
  "linkOptions.mode": { examples: ["REUSABLE_VARIABLE"] },
};

/** The members of a link below a path, with their rules and meanings. */
function linkSchema(side: "request" | "reply", prefix = ""): JsonSchema {
  const members = linkFieldsOf(side).filter(
    ([path]) => path.startsWith(prefix) && !path.slice(prefix.length).includes("."),
  );
  const required = members.filter(([, field]) => field[side] === "required");
  return {
    type: "object",
    properties: Object.fromEntries(
      members.map(([path, { type }]) => {
        const inner = type === "object" ? linkSchema(side, `${path}.`) : FIELD_TYPES[type].jsonSchema;
        return [path.slice(prefix.length), { ...inner, ...MORE[path], description: fieldMeaning(path) }];
      }),
    ),
    ...(required.length === 0 ? {} : { required: required.map(([path]) => path) }),
  };
}

const memberSchema = (path: LinkFieldPath): JsonSchema => ({
  ...FIELD_TYPES[LINK_FIELDS[path].type].jsonSchema,
  ...MORE[path],
  description: fieldMeaning(path),
});

/** A record with the fields of one outcome, which its two flags name. */
function transactionSchema(outcome: Outcome, description: string): JsonSchema {
  const flags: Readonly<Record<string, JsonSchema>> = {
    transApproved: { const: outcome === "APPROVED" },
    transCancelled: { const: outcome === "CANCELLED" },
  };
  const absent = TRANSACTION_FIELDS.filter((field) => isForbidden(field, outcome));
  const present = TRANSACTION_FIELDS.filter((field) => !isForbidden(field, outcome));
  return {
    type: "object",
    description,
    properties: Object.fromEntries(
      present.map(({ name, type, meaning }) => [
        name,
        { ...type.json, ...flags[name], description: meaning },
      ]),
    ),
    required: present.filter((field) => isRequired(field, outcome)).map(({ name }) => name),
    ...(absent.length === 0 ? {} : { not: { anyOf: absent.map(({ name }) => ({ required: [name] })) } }),
  };
}

/** Those that are made of the tables. */
export const SCHEMAS: JsonSchema = {
  PaymentLinkRequest: {
    ...linkSchema("request"),
    description: "A link to create: one-time, or multi-use with linkOptions.",
    if: { not: { required: ["linkOptions"] } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { required: ["expirationDate"] },
  },
  PaymentLinkUpdate: {
    description: "The changes to a link; a field that is left out keeps its value.",
    type: "object",
    properties: { description: memberSchema("description"), expirationDate: memberSchema("expirationDate") },
    required: ["expirationDate"],
    additionalProperties: false,
  },
  PaymentLink: { ...linkSchema("reply"), description: "A payment link." },
  ApprovedTransaction: transactionSchema("APPROVED", "The record of an approved payment."),
  DeclinedTransaction: transactionSchema("DECLINED", "The record of a declined payment."),
  CancelledTransaction: transactionSchema(
    "CANCELLED",
    "The record of an attempt that the customer cancelled.",
  ),
};
