/** The webhooks in the OpenAPI document: what the service posts to the callback addresses of a link. */
import { RECORDS } from "./examples.ts";
import { type JsonSchema, schemaRef } from "./schemas.ts";

const header = (name: string, description: string, pattern: string, example: string): JsonSchema => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string", pattern, examples: [example] },
});

const SIGNATURE_HEADERS = [
  header(
    "Content-Digest",
    "The digest of the body (RFC 9530), with SHA-256.",
    "^sha-256=:[A-Za-z0-9+/]{43}=:$",
    "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:",
  ),
  header(
    "Signature-Input",
    "What the signature sig1 covers (RFC 9421 4.1).",
    "(^|, *)sig1=\\(",
    'sig1=("content-digest" "content-length" "content-type")',
  ),
  header(
    "Signature",
    "The signature sig1 (RFC 9421 4.2).",
    "(^|, *)sig1=:[A-Za-z0-9+/]+={0,2}:",
    "sig1=:LAH8BjcfcOcLojiuOBFWn0P5keD3xAOuJRGziCLuD8r5MW9S0RoXXLzLSRfGY/3SF8kVIkHjE13SEFdTo4Af/w==:",
  ),
];

const webhook = (operationId: string, summary: string, callback: string, body: JsonSchema): JsonSchema => ({
  post: {
    operationId,
    summary,
    description: `Posted to paymentSettings.${callback} of the link, if it has one, with an RFC 9421 signature over header fields. A link that can be paid many times has one webhook for each payment.`,
    security: [],
    parameters: SIGNATURE_HEADERS,
    requestBody: { required: true, content: { "application/json": body } },
    responses: { "2XX": { description: "The webhook was accepted." } },
  },
});

export const WEBHOOKS: JsonSchema = {
  paymentApproved: webhook("paymentApproved", "A payment was approved", "callbackUrl", {
    schema: schemaRef("ApprovedTransaction"),
    example: RECORDS.approved,
  }),
  paymentFailed: webhook("paymentFailed", "A payment was declined or cancelled", "failureCallbackUrl", {
    schema: { oneOf: [schemaRef("DeclinedTransaction"), schemaRef("CancelledTransaction")] },
    examples: { declined: { value: RECORDS.declined }, cancelled: { value: RECORDS.cancelled } },
  }),
};
