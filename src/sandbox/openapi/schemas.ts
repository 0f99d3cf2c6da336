/** The schemas of the document. Those of links and transactions are made from the schemas and the table that check them. */
import * as z from "zod/mini";
import { joinPath } from "../../domain/json.ts";
import { linksQuery, paymentLink } from "../../domain/payment-link-reply.ts";
import { paymentLinkRequest, paymentLinkUpdate } from "../../domain/payment-link.ts";
import { TRANSACTION_FIELDS } from "../../domain/transaction-fields.ts";
import type { Outcome } from "../../domain/outcome.ts";
import { isForbidden, isRequired } from "../../domain/transaction.ts";
import type { Edition } from "./editions.ts";
import {
  type FieldNotes,
  type JsonSchema,
  LINK_NOTES,
  QUERY_NOTES,
  REQUEST_NOTES,
  UPDATE_NOTES,
} from "./field-notes.ts";
import { KEY_SET, PROBLEM, SERVICE_ERROR, TOKEN, TOKEN_ERROR, tokenRequest } from "./protocol-schemas.ts";

export const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

export const schemas = (edition: Edition): JsonSchema => ({
  PaymentLinkRequest: jsonSchemaOf(paymentLinkRequest, REQUEST_NOTES),
  PaymentLinkUpdate: jsonSchemaOf(paymentLinkUpdate, UPDATE_NOTES),
  PaymentLink: jsonSchemaOf(paymentLink, LINK_NOTES),
  PaymentLinks: PAYMENT_LINKS,
  ApprovedTransaction: transaction("APPROVED", "The record of an approved payment."),
  DeclinedTransaction: transaction("DECLINED", "The record of a declined payment."),
  CancelledTransaction: transaction("CANCELLED", "The record of an attempt that the customer cancelled."),
  TokenRequest: tokenRequest(edition),
  Token: TOKEN,
  TokenError: TOKEN_ERROR,
  ...(edition.sandbox
    ? { Transaction: TRANSACTION, Problem: PROBLEM, KeySet: KEY_SET }
    : { Error: SERVICE_ERROR }),
});

/** The parameters of a list. One with a default may be left out. */
export function queryParameters(): readonly JsonSchema[] {
  const { properties = {}, required = [] } = generated(linksQuery);
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = annotated(schema, QUERY_NOTES, name);
    return {
      name,
      in: "query",
      required: required.includes(name) && !("default" in rest),
      description,
      schema: rest,
    };
  });
}

const jsonSchemaOf = (schema: z.core.$ZodType, notes: FieldNotes): JsonSchema =>
  annotated(generated(schema), notes, "");

/** Fields that code checks have no type here; the notes add it. */
function generated(schema: z.core.$ZodType): z.core.JSONSchema.BaseSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      // Unknown members stay allowed without it, but with it generated clients would accept misspelled ones.
      if (jsonSchema.additionalProperties !== false) delete jsonSchema.additionalProperties;
    },
  });
  return json;
}

function annotated(schema: z.core.JSONSchema._JSONSchema, notes: FieldNotes, path: string): JsonSchema {
  if (typeof schema === "boolean") return schema ? {} : { not: {} };
  const { properties } = schema;
  const noted = { ...schema, ...notes[path] };
  if (properties === undefined) return noted;
  const members = Object.entries(properties).map(([name, member]) => [
    name,
    annotated(member, notes, joinPath(path, name)),
  ]);
  return { ...noted, properties: Object.fromEntries(members) };
}

/** A record with the fields of one outcome, which its two flags name. */
function transaction(outcome: Outcome, description: string): JsonSchema {
  const flags: FieldNotes = {
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

const TRANSACTION = {
  description: "A transaction with the merchantCustomData of its link.",
  allOf: [
    { oneOf: ["ApprovedTransaction", "DeclinedTransaction", "CancelledTransaction"].map(schemaRef) },
    {
      type: "object",
      properties: { merchantCustomData: { type: "string", ...REQUEST_NOTES["merchantCustomData"] } },
    },
  ],
};

const PAYMENT_LINKS = {
  type: "object",
  description: "One page of a list.",
  properties: {
    totalCount: { type: "integer", minimum: 0, description: "The number of links on all pages." },
    records: { type: "array", items: schemaRef("PaymentLink"), description: "The newest links first." },
  },
  required: ["totalCount", "records"],
};
