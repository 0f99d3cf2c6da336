/** The operations of the document: access tokens, payment links and, at the sandbox, transactions and the key set. */
import { SPECIFIED_FORM } from "../../domain/known-services.ts";
import { SCOPE } from "../access.ts";
import type { Edition } from "./editions.ts";
import { LINK_EXAMPLES, LINKS_EXAMPLE, recordExample, REQUEST_EXAMPLES, UPDATE_EXAMPLE } from "./examples.ts";
import type { JsonSchema } from "./field-notes.ts";
import { errors, header } from "./responses.ts";
import { queryParameters, schemaRef } from "./schemas.ts";

const LINKS = SPECIFIED_FORM.linksPath;

export const paths = (edition: Edition): JsonSchema => ({
  [edition.tokenPath]: tokenPath(edition),
  [LINKS]: { get: LIST, post: CREATE },
  [`${LINKS}/{id}`]: { parameters: [pathParameter("id", "The id of the link.")], get: GET, patch: UPDATE },
  [`${LINKS}/{id}/cancel`]: { parameters: [pathParameter("id", "The id of the link.")], post: CANCEL },
  ...(edition.sandbox ? sandboxPaths() : {}),
});

const json = (name: string, examples: JsonSchema): JsonSchema => ({
  "application/json": { schema: schemaRef(name), ...examples },
});

const LINK = { description: "The link.", content: json("PaymentLink", { examples: LINK_EXAMPLES }) };

const CREATE = {
  operationId: "createPaymentLink",
  summary: "Create a payment link",
  requestBody: { required: true, content: json("PaymentLinkRequest", { examples: REQUEST_EXAMPLES }) },
  responses: { 200: LINK, ...errors(400, 401, 403) },
};

const LIST = {
  operationId: "listPaymentLinks",
  summary: "List payment links by the time of their creation",
  parameters: queryParameters(),
  responses: {
    200: { description: "One page of the links.", content: json("PaymentLinks", { example: LINKS_EXAMPLE }) },
    ...errors(400, 401, 403),
  },
};

const GET = {
  operationId: "getPaymentLink",
  summary: "Get the details of a payment link",
  responses: { 200: LINK, ...errors(401, 403, 404) },
};

const UPDATE = {
  operationId: "updatePaymentLink",
  summary: "Update a payment link that is active or viewed",
  requestBody: { required: true, content: json("PaymentLinkUpdate", { example: UPDATE_EXAMPLE }) },
  responses: { 200: LINK, ...errors(400, 401, 403, 404, 422) },
};

const CANCEL = {
  operationId: "cancelPaymentLink",
  summary: "Cancel a payment link that is active, viewed or attempted",
  responses: { 200: LINK, ...errors(401, 403, 404, 422) },
};

function pathParameter(name: string, description: string): JsonSchema {
  return { name, in: "path", required: true, description, schema: { type: "string" } };
}

function tokenPath({ sandbox, tokenServers }: Edition): JsonSchema {
  const schema = schemaRef("TokenRequest");
  const example = {
    grant_type: "client_credentials",
    scope: SCOPE,
    client_id: "shop",
    client_secret: "the client's secret",
  };
  const form = { schema, example };
  const token = {
    access_token: "sandbox_2f1c",
    token_type: "Bearer",
    expires_in: 3600,
    scope: SCOPE,
    refresh_token: "",
  };
  const refusal = (description: string) => ({ description, content: json("TokenError", {}) });
  return {
    servers: tokenServers,
    post: {
      operationId: "createAccessToken",
      summary: "Get an access token with the client's credentials",
      description: sandbox
        ? "The credentials are form fields, multipart form data, or HTTP Basic with the other fields in the form."
        : "All fields are mandatory.",
      security: sandbox ? [{}, { client: [] }] : [],
      requestBody: {
        required: true,
        content: { "application/x-www-form-urlencoded": form, "multipart/form-data": form },
      },
      responses: {
        200: { description: "The access token.", content: json("Token", { example: token }) },
        400: refusal("The grant, the scope or the body is invalid."),
        401: {
          ...refusal("The client id or the client secret is wrong."),
          headers: sandbox ? { "WWW-Authenticate": header("How to authenticate.") } : {},
        },
        ...errors(),
      },
    },
  };
}

const sandboxPaths = (): JsonSchema => ({
  [SPECIFIED_FORM.transactionUrl]: {
    parameters: [pathParameter("uti", "The id of the transaction.")],
    get: {
      operationId: "getTransaction",
      summary: "Get a transaction: the record of its webhook, with the merchantCustomData of its link",
      responses: {
        200: {
          description: "The transaction.",
          content: json("Transaction", { example: recordExample("approved") }),
        },
        ...errors(401, 404),
      },
    },
  },
  "/.well-known/jwks.json": {
    get: {
      operationId: "getKeySet",
      summary: "Get the public keys that verify the signatures of webhooks",
      security: [],
      responses: {
        200: { description: "The keys.", content: json("KeySet", {}) },
        ...errors(),
      },
    },
  },
});
