/** The schemas of what surrounds links and transactions: access tokens, errors and keys. */
import { SCOPE, TOKEN_ERRORS } from "../access.ts";
import type { Edition } from "./editions.ts";
import type { JsonSchema } from "./field-notes.ts";

export const tokenRequest = ({ sandbox }: Edition): JsonSchema => ({
  type: "object",
  description: "OAuth 2.0 client credentials (RFC 6749 4.4).",
  properties: {
    grant_type: { const: "client_credentials", description: "The only grant of the service." },
    scope: { const: SCOPE, description: "The only scope of the service." },
    client_id: { type: "string", description: "The id of the client." },
    client_secret: { type: "string", format: "password", description: "The secret of the client." },
  },
  required: sandbox ? ["grant_type"] : ["grant_type", "scope", "client_id", "client_secret"],
});

export const TOKEN = {
  type: "object",
  properties: {
    access_token: { type: "string", description: "The token that the other operations need." },
    token_type: { const: "Bearer", description: "How the token is sent." },
    expires_in: { type: "integer", minimum: 1, description: "The lifetime in seconds." },
    scope: { const: SCOPE, description: "The scope of the token." },
    refresh_token: { type: "string", description: "Reserved." },
  },
  required: ["access_token", "token_type", "expires_in", "scope"],
};

export const TOKEN_ERROR = {
  type: "object",
  description: "An error of the token endpoint (RFC 6749 5.2).",
  properties: {
    error: { enum: TOKEN_ERRORS, description: "The kind of the error." },
    error_description: { type: "string", description: "What is wrong." },
  },
  required: ["error"],
};

const CODE = { type: "integer", description: "The service's code, such as 275 for an unknown payment link." };
const MESSAGE = { type: "string", description: "What is wrong." };

export const SERVICE_ERROR = { type: "object", properties: { code: CODE, message: MESSAGE } };

export const PROBLEM = {
  type: "object",
  description: "Problem details (RFC 9457) with the code and the message of the service.",
  properties: {
    type: { const: "about:blank", description: "The status says what kind of problem it is." },
    title: { type: "string", description: "The name of the status." },
    status: { type: "integer", description: "The status of the reply." },
    detail: { type: "string", description: "The same as message." },
    code: CODE,
    message: MESSAGE,
    errors: {
      type: "array",
      description: "Each invalid field.",
      items: {
        type: "object",
        properties: {
          pointer: {
            type: "string",
            pattern: "^#",
            description: "The field, as a JSON Pointer in its URI fragment form.",
          },
          detail: { type: "string", description: "What is wrong with it." },
        },
        required: ["pointer", "detail"],
      },
    },
  },
  required: ["type", "title", "status", "detail", "code", "message"],
};

export const KEY_SET = {
  type: "object",
  description: "A JWK Set (RFC 7517): the current key first, then those that were replaced within a day.",
  properties: {
    keys: {
      type: "array",
      description: "The public keys.",
      items: {
        type: "object",
        properties: {
          kty: { const: "RSA", description: "The type of the key." },
          kid: { type: "string", description: "The keyid of the signatures." },
          n: { type: "string", description: "The modulus." },
          e: { type: "string", description: "The exponent." },
        },
        required: ["kty", "kid", "n", "e"],
      },
    },
  },
  required: ["keys"],
};
