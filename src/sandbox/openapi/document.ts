/** The OpenAPI 3.1 document. The sandbox serves its own edition; the package contains that of the documented service. */
import { stringifyJson } from "../../domain/json.ts";
import { SCOPE } from "../access.ts";
import { sandboxEdition, SERVICE_EDITION, type Edition } from "./editions.ts";
import { recordExample } from "./examples.ts";
import type { JsonSchema } from "./field-notes.ts";
import { paths } from "./paths.ts";
import { errorResponses } from "./responses.ts";
import { schemaRef, schemas } from "./schemas.ts";

/** As JSON. */
export const sandboxDocument = (origin: string): string =>
  stringifyJson(documentOf(sandboxEdition(origin)), 2);

/** As JSON. */
export const serviceDocument = (): string => stringifyJson(documentOf(SERVICE_EDITION));

const documentOf = (edition: Edition): JsonSchema => ({
  openapi: "3.1.1",
  info: { title: "Payment links", version: "1", description: edition.description },
  servers: edition.servers,
  security: [{ oauth2: [SCOPE] }, { bearer: [] }],
  paths: paths(edition),
  webhooks: {
    paymentApproved: webhook("paymentApproved", "A payment was approved", "callbackUrl", {
      schema: schemaRef("ApprovedTransaction"),
      example: recordExample("approved"),
    }),
    paymentFailed: webhook("paymentFailed", "A payment was declined or cancelled", "failureCallbackUrl", {
      schema: { oneOf: [schemaRef("DeclinedTransaction"), schemaRef("CancelledTransaction")] },
      examples: {
        declined: { value: recordExample("declined") },
        cancelled: { value: recordExample("cancelled") },
      },
    }),
  },
  components: {
    schemas: schemas(edition),
    responses: errorResponses(edition),
    securitySchemes: securitySchemes(edition),
  },
});

function webhook(operationId: string, summary: string, address: string, body: JsonSchema): JsonSchema {
  return {
    post: {
      operationId,
      summary,
      description: `Posted to paymentSettings.${address} of the link, if it has one, with an RFC 9421 signature over header fields. A link that can be paid many times has one webhook for each payment.`,
      security: [],
      parameters: [
        headerParameter("Content-Digest", "The digest of the body (RFC 9530), with SHA-256.", {
          pattern: "^sha-256=:[A-Za-z0-9+/]{43}=:$",
          examples: ["sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"],
        }),
        headerParameter("Signature-Input", "What the signature sig1 covers (RFC 9421 4.1).", {
          pattern: "(^|, *)sig1=\\(",
          examples: ['sig1=("content-digest" "content-length" "content-type")'],
        }),
        headerParameter("Signature", "The signature sig1 (RFC 9421 4.2).", {
          pattern: "(^|, *)sig1=:[A-Za-z0-9+/]+={0,2}:",
          examples: [
            "sig1=:LAH8BjcfcOcLojiuOBFWn0P5keD3xAOuJRGziCLuD8r5MW9S0RoXXLzLSRfGY/3SF8kVIkHjE13SEFdTo4Af/w==:",
          ],
        }),
      ],
      requestBody: { required: true, content: { "application/json": body } },
      responses: { "2XX": { description: "The webhook was accepted." } },
    },
  };
}

const headerParameter = (name: string, description: string, schema: JsonSchema): JsonSchema => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string", ...schema },
});

function securitySchemes({ sandbox, tokenPath, tokenServers: [first] }: Edition): JsonSchema {
  const flow = { tokenUrl: `${first.url}${tokenPath}`, scopes: { [SCOPE]: "Payment links" } };
  return {
    oauth2: {
      type: "oauth2",
      description: "Client credentials (RFC 6749 4.4).",
      flows: { clientCredentials: flow },
    },
    bearer: { type: "http", scheme: "bearer", description: "An access token." },
    ...(sandbox
      ? { client: { type: "http", scheme: "basic", description: "The client id and the client secret." } }
      : {}),
  };
}
