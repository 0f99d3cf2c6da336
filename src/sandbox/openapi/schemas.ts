/** The schemas of the document: of links and transactions from the tables that check them, and those of what has no table. */
import { SCOPE } from "../../domain/known-services.ts";
import type { Outcome } from "../../domain/outcome.ts";
import { LINK_FIELDS, type LinkFieldPath } from "../../domain/payment-link-fields.ts";
import { fieldMeaning } from "../../domain/payment-link-field-lookup.ts";
import { type FieldNode, LINK_MEMBERS } from "../../domain/payment-link-values.ts";
import { FIELD_TYPES } from "../../domain/payment-link-types.ts";
import { LINK_STATUSES } from "../../domain/payment-link-reply.ts";
import { TRANSACTION_FIELDS } from "../../domain/transaction-fields.ts";
import { isForbidden, isRequired } from "../../domain/transaction.ts";
import { TOKEN_ERRORS } from "../access.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** What else holds for single fields. */
const MORE: Readonly<Record<string, JsonSchema>> = {
  id: { examples: ["69lXLdv9w"] },
  url: FIELD_TYPES.webAddress.jsonSchema,
  status: { enum: LINK_STATUSES },
  "linkOptions.mode": { examples: ["REUSABLE_VARIABLE"] },
};

/** The members of a link, or of an object in one. */
function linkSchema(members: readonly FieldNode[]): JsonSchema {
  const required = members.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(
      members.map(({ path, name, members: inner }) => [name, memberSchema(path, inner)]),
    ),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** Its rules and its meaning. */
const memberSchema = (path: LinkFieldPath, inner: readonly FieldNode[] = []): JsonSchema => ({
  ...(inner.length > 0 ? linkSchema(inner) : FIELD_TYPES[LINK_FIELDS[path].type].jsonSchema),
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

export const schemaRef = (name: SchemaName): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const textSchema = (description: string, more: JsonSchema = {}): JsonSchema => ({
  type: "string",
  ...more,
  description,
});
const listOf = (description: string, items: JsonSchema): JsonSchema => ({
  type: "array",
  items,
  description,
});

/** An object whose members are all there, but for those that are optional. */
function object(
  properties: Readonly<Record<string, JsonSchema>>,
  ...optional: readonly string[]
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, ...(required.length === 0 ? {} : { required }) };
}

const scope = (description: string): JsonSchema => ({ const: SCOPE, description });

const PROBLEM = {
  code: { type: "integer", description: "The service's code, such as 275 for an unknown payment link." },
  message: textSchema("What is wrong."),
  type: textSchema("about:blank: the status says what kind of problem it is."),
  title: textSchema("The name of the status."),
  status: { type: "integer", description: "The status of the reply." },
  detail: textSchema("The same as message."),
  errors: listOf(
    "Each invalid field.",
    object({
      pointer: textSchema("The field, as a JSON Pointer in its URI fragment form.", { pattern: "^#" }),
      detail: textSchema("What is wrong with it."),
    }),
  ),
};

export const SCHEMAS = {
  PaymentLinkRequest: {
    ...linkSchema(LINK_MEMBERS.request),
    description: "A link to create: one-time, or reusable with linkOptions.",
    if: { not: { required: ["linkOptions"] } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { required: ["expirationDate"] },
  },
  PaymentLinkUpdate: {
    description: "The changes to a link; a field that is left out keeps its value.",
    ...object(
      { description: memberSchema("description"), expirationDate: memberSchema("expirationDate") },
      "description",
    ),
    additionalProperties: false,
  },
  PaymentLink: { ...linkSchema(LINK_MEMBERS.reply), description: "A payment link." },
  PaymentLinks: {
    description: "One page of a list.",
    ...object({
      totalCount: { type: "integer", minimum: 0, description: "The number of links on all pages." },
      records: listOf("The newest links first.", { $ref: "#/components/schemas/PaymentLink" }),
    }),
  },
  TokenRequest: {
    description: "OAuth 2.0 client credentials (RFC 6749 4.4).",
    ...object({
      grant_type: { const: "client_credentials", description: "The only grant of the service." },
      scope: scope("The only scope of the service."),
      client_id: textSchema("The id of the client."),
      client_secret: textSchema("The secret of the client.", { format: "password" }),
    }),
  },
  Token: object(
    {
      access_token: textSchema("The token that the other operations need."),
      token_type: { const: "Bearer", description: "How the token is sent." },
      expires_in: { type: "integer", minimum: 1, description: "The lifetime in seconds." },
      scope: scope("The scope of the token."),
      refresh_token: textSchema("Reserved."),
    },
    "refresh_token",
  ),
  TokenError: {
    description: "An error of the token endpoint (RFC 6749 5.2).",
    ...object(
      {
        error: { enum: TOKEN_ERRORS, description: "The kind of the error." },
        error_description: textSchema("What is wrong."),
      },
      "error_description",
    ),
  },
  ApprovedTransaction: transactionSchema("APPROVED", "The record of an approved payment."),
  DeclinedTransaction: transactionSchema("DECLINED", "The record of a declined payment."),
  CancelledTransaction: transactionSchema(
    "CANCELLED",
    "The record of an attempt that the customer cancelled.",
  ),
  Transaction: {
    description: "A transaction with the merchantCustomData of its link.",
    allOf: [
      {
        oneOf: ["Approved", "Declined", "Cancelled"].map((outcome) => ({
          $ref: `#/components/schemas/${outcome}Transaction`,
        })),
      },
      object({ merchantCustomData: memberSchema("merchantCustomData") }, "merchantCustomData"),
    ],
  },
  Problem: {
    description:
      "An error. The service documents code and message; the sandbox has them in problem details (RFC 9457).",
    ...object(PROBLEM, ...Object.keys(PROBLEM)),
  },
  KeySet: {
    description: "A JWK Set (RFC 7517): the current key first, then those that were replaced within a day.",
    ...object({
      keys: listOf(
        "The public keys.",
        object({
          kty: { const: "RSA", description: "The type of the key." },
          kid: textSchema("The keyid of the signatures."),
          n: textSchema("The modulus."),
          e: textSchema("The exponent."),
        }),
      ),
    }),
  },
} satisfies Readonly<Record<string, JsonSchema>>;

export type SchemaName = keyof typeof SCHEMAS;
