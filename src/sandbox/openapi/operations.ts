/** What the OpenAPI document says of each operation of the service, besides what the table of operations has. */
import type { OperationName } from "../../domain/operations.ts";
import { LINK_STATUSES } from "../../domain/payment-link-reply.ts";
import { type Examples, LINKS, PAGE, RECORDS, REQUESTS, TOKEN, TOKEN_REQUEST, UPDATE } from "./examples.ts";
import { type JsonSchema, type SchemaName, schemaRef } from "./schemas.ts";

export interface Payload {
  readonly schema: SchemaName;
  readonly examples: Examples;
}

interface Parameter {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly required?: true;
}

export interface Described {
  /** Its name in clients that are made from the document. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Readonly<Record<string, Parameter>>;
  readonly request?: Payload;
  /** JSON by default. */
  readonly requestTypes?: readonly string[];
  readonly reply: Payload & { readonly description: string };
  /** By status. */
  readonly refusals: Readonly<Record<number, JsonSchema>>;
  /** Whether it gives the token that the others need, at an address of its own. */
  readonly givesToken?: true;
}

/** What a refusal means, and an example of its message. */
export const REFUSALS = {
  400: {
    name: "BadRequest",
    description: "The request is malformed or breaks a rule of a field.",
    message: "expirationDate is required",
  },
  401: {
    name: "Unauthorized",
    description: "The access token is missing, unknown or expired.",
    message: "the access token is expired",
  },
  403: {
    name: "Forbidden",
    description: "Not permitted: the terminal is not the client's.",
    message: "the terminal is not assigned",
  },
  404: { name: "NotFound", description: "The id is unknown.", message: "Invalid payment link ID" },
  422: {
    name: "Unprocessable",
    description: "The status of the link does not allow it.",
    message: "this link is paid",
  },
} as const;

export const responseRef = (name: string): JsonSchema => ({ $ref: `#/components/responses/${name}` });

const refusedWith = (...statuses: readonly (keyof typeof REFUSALS)[]) =>
  Object.fromEntries(statuses.map((status) => [status, responseRef(REFUSALS[status].name)]));

const tokenErrorReply = (description: string): JsonSchema => ({
  description,
  content: { "application/json": { schema: schemaRef("TokenError") } },
});

const LINK = { schema: "PaymentLink", description: "The link.", examples: LINKS } as const;
const time = (description: string): Parameter => ({
  required: true,
  description,
  schema: { type: "string", format: "date-time" },
});

export const DESCRIPTIONS: Readonly<Record<OperationName, Described>> = {
  token: {
    id: "createAccessToken",
    summary: "Get an access token with the client's credentials",
    description: "All fields are mandatory.",
    request: { schema: "TokenRequest", examples: { token: TOKEN_REQUEST } },
    requestTypes: ["application/x-www-form-urlencoded", "multipart/form-data"],
    reply: { schema: "Token", description: "The access token.", examples: { token: TOKEN } },
    refusals: {
      400: tokenErrorReply("The grant, the scope or the body is invalid."),
      401: tokenErrorReply("The client id or the client secret is wrong."),
    },
    givesToken: true,
  },
  list: {
    id: "listPaymentLinks",
    summary: "List payment links by the time of their creation",
    query: {
      terminalId: { required: true, description: "The terminal of the links.", schema: { type: "string" } },
      from: time("Links created at this time or later, at most 365 days ago."),
      to: time("Links created at this time or earlier."),
      page: {
        description: "The page, counted from 1.",
        schema: { type: "integer", minimum: 1, default: 1 },
      },
      size: {
        description: "The number of links on a page.",
        schema: { type: "integer", minimum: 1, maximum: 5000, default: 20 },
      },
      status: {
        description: "Only links with this status.",
        schema: { type: "string", enum: LINK_STATUSES },
      },
    },
    reply: { schema: "PaymentLinks", description: "One page of the links.", examples: { page: PAGE } },
    refusals: refusedWith(400, 401, 403),
  },
  create: {
    id: "createPaymentLink",
    summary: "Create a payment link",
    request: { schema: "PaymentLinkRequest", examples: REQUESTS },
    reply: LINK,
    refusals: refusedWith(400, 401, 403),
  },
  details: {
    id: "getPaymentLink",
    summary: "Get the details of a payment link",
    reply: LINK,
    refusals: refusedWith(401, 403, 404),
  },
  update: {
    id: "updatePaymentLink",
    summary: "Update a payment link that is active or viewed",
    request: { schema: "PaymentLinkUpdate", examples: { update: UPDATE } },
    reply: LINK,
    refusals: refusedWith(400, 401, 403, 404, 422),
  },
  cancel: {
    id: "cancelPaymentLink",
    summary: "Cancel a payment link that is active, viewed or attempted",
    reply: LINK,
    refusals: refusedWith(401, 403, 404, 422),
  },
  transaction: {
    id: "getTransaction",
    summary: "Get the record of a payment with the merchantCustomData of its link (the sandbox only)",
    reply: {
      schema: "Transaction",
      description: "The transaction.",
      examples: { approved: RECORDS.approved },
    },
    refusals: refusedWith(401, 404),
  },
};

/** What the parameters in paths are. */
export const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  id: "The id of the link.",
  uti: "The id of the transaction.",
};
