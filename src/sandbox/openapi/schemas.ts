/** The schemas of the document. Those of links and transactions come from the schemas and tables that check them. */
import { SCOPE, TRANSACTION_TYPES } from "../../domain/known-services.ts";
import { CURRENCY_CODE, DECIMAL } from "../../domain/money.ts";
import type { Outcome } from "../../domain/outcome.ts";
import {
  fieldsOf,
  type FieldType,
  LINK_FIELDS,
  type LinkFieldPath,
  meaningOf,
} from "../../domain/payment-link-fields.ts";
import { LARGEST_PAGE, LINK_STATUSES } from "../../domain/payment-link-reply.ts";
import { TRANSACTION_FIELDS } from "../../domain/transaction-fields.ts";
import { isForbidden, isRequired } from "../../domain/transaction.ts";
import { TOKEN_ERRORS } from "../access.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

export const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const text = (description: string, more: JsonSchema = {}): JsonSchema => ({
  type: "string",
  ...more,
  description,
});
const integer = (description: string, more: JsonSchema = {}): JsonSchema => ({
  type: "integer",
  ...more,
  description,
});
const only = (value: string, description: string): JsonSchema => ({ const: value, description });

/** An object that has every member but the optional ones. */
const object = (properties: JsonSchema, optional: readonly string[] = []): JsonSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
});

const DATE_TIME = { type: "string", format: "date-time" };
const EVENT_DATE = { type: ["string", "null"], format: "date-time" };
const WEB_ADDRESS = { format: "uri", pattern: "^https?://[^/]" };
const BOUND = { type: ["number", "string"], minimum: 0, pattern: DECIMAL.source };

const TEXT = { type: "string" };

/** The rules of the fields of links, as JSON Schema. */
const TYPES: Readonly<Record<FieldType, JsonSchema>> = {
  amount: { type: "number", minimum: 0 },
  bound: BOUND,
  currency: { ...TEXT, pattern: CURRENCY_CODE.source, examples: ["GBP"] },
  text: TEXT,
  name: { ...TEXT, pattern: "\\S" },
  email: { ...TEXT, pattern: "^[^\\s@]+@[^\\s@]+$" },
  webAddress: { ...TEXT, ...WEB_ADDRESS },
  date: DATE_TIME,
  dateOrNull: EVENT_DATE,
  ucof: { const: "ucof" },
  initial: { const: "initial" },
  object: { type: "object" },
};

/** What else holds for single fields. */
const MORE: Readonly<Record<string, JsonSchema>> = {
  id: { examples: ["69lXLdv9w"] },
  url: WEB_ADDRESS,
  status: { enum: LINK_STATUSES },
  transactionType: { examples: TRANSACTION_TYPES },
  expirationDate: { pattern: "T.*(Z|\\+00:00)$" },
  "linkOptions.mode": { examples: ["REUSABLE_VARIABLE"] },
};

/** The members of a link below a path, with their rules and meanings. */
function linkSchema(side: "request" | "reply", prefix = ""): JsonSchema {
  const members = fieldsOf(side).filter(
    ([path]) => path.startsWith(prefix) && !path.slice(prefix.length).includes("."),
  );
  const required = members.filter(([, field]) => field[side] === "required");
  return {
    type: "object",
    properties: Object.fromEntries(
      members.map(([path, { type }]) => {
        const inner = type === "object" ? linkSchema(side, `${path}.`) : TYPES[type];
        return [path.slice(prefix.length), { ...inner, ...MORE[path], description: meaningOf(path) }];
      }),
    ),
    ...(required.length === 0 ? {} : { required: required.map(([path]) => path) }),
  };
}

const member = (path: LinkFieldPath): JsonSchema => ({
  ...TYPES[LINK_FIELDS[path].type],
  ...MORE[path],
  description: meaningOf(path),
});

/** The parameters of a list. */
export const LIST_PARAMETERS = [
  parameter("terminalId", "The terminal of the links.", { type: "string" }),
  parameter("from", "Links created at this time or later, at most 365 days ago.", DATE_TIME),
  parameter("to", "Links created at this time or earlier.", DATE_TIME),
  parameter("page", "The page, counted from 1.", { type: "integer", minimum: 1, default: 1 }, false),
  parameter(
    "size",
    "The number of links on a page.",
    { type: "integer", minimum: 1, maximum: LARGEST_PAGE, default: 20 },
    false,
  ),
  parameter("status", "Only links with this status.", { type: "string", enum: LINK_STATUSES }, false),
];

function parameter(name: string, description: string, schema: JsonSchema, required = true): JsonSchema {
  return { name, in: "query", required, description, schema };
}

/** A record with the fields of one outcome, which its two flags name. */
function transaction(outcome: Outcome, description: string): JsonSchema {
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

const TRANSACTION = {
  description: "A transaction with the merchantCustomData of its link.",
  allOf: [
    { oneOf: ["ApprovedTransaction", "DeclinedTransaction", "CancelledTransaction"].map(schemaRef) },
    { type: "object", properties: { merchantCustomData: member("merchantCustomData") } },
  ],
};

const TOKEN_REQUEST = {
  grant_type: only("client_credentials", "The only grant of the service."),
  scope: only(SCOPE, "The only scope of the service."),
  client_id: text("The id of the client."),
  client_secret: text("The secret of the client.", { format: "password" }),
};

const TOKEN = {
  access_token: text("The token that the other operations need."),
  token_type: only("Bearer", "How the token is sent."),
  expires_in: integer("The lifetime in seconds.", { minimum: 1 }),
  scope: only(SCOPE, "The scope of the token."),
  refresh_token: text("Reserved."),
};

const PROBLEM = {
  type: "object",
  description:
    "An error. The service documents code and message; the sandbox has them in problem details (RFC 9457).",
  properties: {
    code: integer("The service's code, such as 275 for an unknown payment link."),
    message: text("What is wrong."),
    type: text("about:blank: the status says what kind of problem it is."),
    title: text("The name of the status."),
    status: integer("The status of the reply."),
    detail: text("The same as message."),
    errors: {
      type: "array",
      description: "Each invalid field.",
      items: object({
        pointer: text("The field, as a JSON Pointer in its URI fragment form.", { pattern: "^#" }),
        detail: text("What is wrong with it."),
      }),
    },
  },
};

const KEY_SET = {
  description: "A JWK Set (RFC 7517): the current key first, then those that were replaced within a day.",
  ...object({
    keys: {
      type: "array",
      description: "The public keys.",
      items: object({
        kty: only("RSA", "The type of the key."),
        kid: text("The keyid of the signatures."),
        n: text("The modulus."),
        e: text("The exponent."),
      }),
    },
  }),
};

/** Last, since it is made of everything above. */
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
    ...object({ description: member("description"), expirationDate: member("expirationDate") }, [
      "description",
    ]),
    additionalProperties: false,
  },
  PaymentLink: { ...linkSchema("reply"), description: "A payment link." },
  PaymentLinks: {
    description: "One page of a list.",
    ...object({
      totalCount: integer("The number of links on all pages.", { minimum: 0 }),
      records: { type: "array", items: schemaRef("PaymentLink"), description: "The newest links first." },
    }),
  },
  ApprovedTransaction: transaction("APPROVED", "The record of an approved payment."),
  DeclinedTransaction: transaction("DECLINED", "The record of a declined payment."),
  CancelledTransaction: transaction("CANCELLED", "The record of an attempt that the customer cancelled."),
  TokenRequest: {
    description: "OAuth 2.0 client credentials (RFC 6749 4.4).",
    ...object(TOKEN_REQUEST),
  },
  Token: object(TOKEN, ["refresh_token"]),
  TokenError: {
    description: "An error of the token endpoint (RFC 6749 5.2).",
    ...object(
      {
        error: { enum: TOKEN_ERRORS, description: "The kind of the error." },
        error_description: text("What is wrong."),
      },
      ["error_description"],
    ),
  },
  Transaction: TRANSACTION,
  Problem: PROBLEM,
  KeySet: KEY_SET,
};
