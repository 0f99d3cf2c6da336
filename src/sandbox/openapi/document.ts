/** The OpenAPI 3.1 document of the service: the sandbox serves it, and the package contains it. */
import { stringifyJson } from "../../domain/json.ts";
import { LINKS_PATH, SCOPE, SERVICES, TRANSACTION_PATH } from "../../domain/known-services.ts";
import { APPROVED, CANCELLED, DECLINED, LINK, REQUEST, REUSABLE_LINK, REUSABLE_REQUEST } from "./examples.ts";
import { LIST_PARAMETERS, schemaRef, SCHEMAS, type JsonSchema } from "./schemas.ts";

/** As JSON. */
export const openApiDocument = (): string => stringifyJson(DOCUMENT, 2);

const responseRef = (name: string): JsonSchema => ({ $ref: `#/components/responses/${name}` });

/** When an operation answers each error, with the sandbox's reply as an example. */
const ERRORS = {
  400: ["BadRequest", "The request is malformed or breaks a rule of a field.", "expirationDate is required"],
  401: ["Unauthorized", "The access token is missing, unknown or expired.", "the access token is expired"],
  403: ["Forbidden", "Not permitted: the terminal is not the client's.", "the terminal is not assigned"],
  404: ["NotFound", "The id is unknown.", "Invalid payment link ID"],
  422: ["Unprocessable", "The status of the link does not allow it.", "this link is paid"],
} as const;

const PROBLEM = { schema: schemaRef("Problem") };

const errorResponses: JsonSchema = Object.fromEntries([
  ...Object.entries(ERRORS).map(([status, [name, description, message]]) => {
    const example = { code: Number(status), message };
    return [
      name,
      {
        description,
        content: { "application/problem+json": { ...PROBLEM, example }, "application/json": PROBLEM },
      },
    ];
  }),
  [
    "Unavailable",
    {
      description: "Maintenance, or too many requests at once.",
      headers: { "Retry-After": { description: "Seconds to wait.", schema: { type: "string" } } },
    },
  ],
  [
    "Other",
    {
      description: "Any other error. The reply has no body if the request was refused before it was read.",
      content: { "application/problem+json": PROBLEM, "application/json": PROBLEM },
    },
  ],
]);

/** The errors of an operation: its own, and those of every operation. */
const errors = (...statuses: readonly (keyof typeof ERRORS)[]): JsonSchema => ({
  ...Object.fromEntries(statuses.map((status) => [status, responseRef(ERRORS[status][0])])),
  503: responseRef("Unavailable"),
  default: responseRef("Other"),
});

const json = (schema: string, example?: unknown): JsonSchema => ({
  "application/json": { schema: schemaRef(schema), ...(example === undefined ? {} : { example }) },
});
const body = (content: JsonSchema): JsonSchema => ({ requestBody: { required: true, content } });
const ok = (description: string, content: JsonSchema): JsonSchema => ({ 200: { description, content } });
const pathParameter = (name: string, description: string): JsonSchema => ({
  parameters: [{ name, in: "path", required: true, description, schema: { type: "string" } }],
});

const examples = (values: Readonly<Record<string, unknown>>): JsonSchema => ({
  examples: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }])),
});

const LINK_ID = pathParameter("id", "The id of the link.");
const LINK_REPLY = ok("The link.", {
  "application/json": {
    schema: schemaRef("PaymentLink"),
    ...examples({ oneTime: LINK, reusable: REUSABLE_LINK }),
  },
});

const LINK_PATHS = {
  [LINKS_PATH]: {
    get: {
      operationId: "listPaymentLinks",
      summary: "List payment links by the time of their creation",
      parameters: LIST_PARAMETERS,
      responses: {
        ...ok("One page of the links.", json("PaymentLinks", { totalCount: 1, records: [LINK] })),
        ...errors(400, 401, 403),
      },
    },
    post: {
      operationId: "createPaymentLink",
      summary: "Create a payment link",
      ...body({
        "application/json": {
          schema: schemaRef("PaymentLinkRequest"),
          ...examples({ oneTime: REQUEST, reusable: REUSABLE_REQUEST }),
        },
      }),
      responses: { ...LINK_REPLY, ...errors(400, 401, 403) },
    },
  },
  [`${LINKS_PATH}/{id}`]: {
    ...LINK_ID,
    get: {
      operationId: "getPaymentLink",
      summary: "Get the details of a payment link",
      responses: { ...LINK_REPLY, ...errors(401, 403, 404) },
    },
    patch: {
      operationId: "updatePaymentLink",
      summary: "Update a payment link that is active or viewed",
      ...body(
        json("PaymentLinkUpdate", { description: "Three coffees", expirationDate: "2030-02-28T12:00:00Z" }),
      ),
      responses: { ...LINK_REPLY, ...errors(400, 401, 403, 404, 422) },
    },
  },
  [`${LINKS_PATH}/{id}/cancel`]: {
    ...LINK_ID,
    post: {
      operationId: "cancelPaymentLink",
      summary: "Cancel a payment link that is active, viewed or attempted",
      responses: { ...LINK_REPLY, ...errors(401, 403, 404, 422) },
    },
  },
};

const TOKEN_FORM = {
  schema: schemaRef("TokenRequest"),
  example: {
    grant_type: "client_credentials",
    scope: SCOPE,
    client_id: "shop",
    client_secret: "the client's secret",
  },
};

const { dna, "dna-test": test } = SERVICES;
const serversFor = (addressOf: (service: typeof dna | typeof test) => string): readonly JsonSchema[] => [
  { url: "/", description: "The sandbox that serves this document" },
  ...[test, dna].map((service) => ({ url: addressOf(service), description: service.title })),
];

const TOKEN_PATH = {
  "/oauth2/token": {
    servers: serversFor(({ settings }) => new URL(settings.tokenUrl).origin),
    post: {
      operationId: "createAccessToken",
      summary: "Get an access token with the client's credentials",
      description: "All fields are mandatory.",
      security: [],
      ...body({ "application/x-www-form-urlencoded": TOKEN_FORM, "multipart/form-data": TOKEN_FORM }),
      responses: {
        ...ok(
          "The access token.",
          json("Token", {
            access_token: "sandbox_2f1c",
            token_type: "Bearer",
            expires_in: 3600,
            scope: SCOPE,
            refresh_token: "",
          }),
        ),
        400: { description: "The grant, the scope or the body is invalid.", content: json("TokenError") },
        401: { description: "The client id or the client secret is wrong.", content: json("TokenError") },
        ...errors(),
      },
    },
  },
};

const SANDBOX_PATHS = {
  [TRANSACTION_PATH]: {
    ...pathParameter("uti", "The id of the transaction."),
    get: {
      operationId: "getTransaction",
      summary: "Get the record of a payment with the merchantCustomData of its link (the sandbox only)",
      responses: { ...ok("The transaction.", json("Transaction", APPROVED)), ...errors(401, 404) },
    },
  },
  "/.well-known/jwks.json": {
    get: {
      operationId: "getKeySet",
      summary: "Get the public keys that verify the signatures of webhooks (the sandbox only)",
      security: [],
      responses: { ...ok("The keys.", json("KeySet")), ...errors() },
    },
  },
};

/** Each header of a signed webhook: what it says, its pattern and an example. */
const SIGNATURE_HEADERS = {
  "Content-Digest": [
    "The digest of the body (RFC 9530), with SHA-256.",
    "^sha-256=:[A-Za-z0-9+/]{43}=:$",
    "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:",
  ],
  "Signature-Input": [
    "What the signature sig1 covers (RFC 9421 4.1).",
    "(^|, *)sig1=\\(",
    'sig1=("content-digest" "content-length" "content-type")',
  ],
  Signature: [
    "The signature sig1 (RFC 9421 4.2).",
    "(^|, *)sig1=:[A-Za-z0-9+/]+={0,2}:",
    "sig1=:LAH8BjcfcOcLojiuOBFWn0P5keD3xAOuJRGziCLuD8r5MW9S0RoXXLzLSRfGY/3SF8kVIkHjE13SEFdTo4Af/w==:",
  ],
} as const;

const webhook = (operationId: string, summary: string, address: string, content: JsonSchema) => ({
  post: {
    operationId,
    summary,
    description: `Posted to paymentSettings.${address} of the link, if it has one, with an RFC 9421 signature over header fields. A link that can be paid many times has one webhook for each payment.`,
    security: [],
    parameters: Object.entries(SIGNATURE_HEADERS).map(([name, [description, pattern, example]]) => ({
      name,
      in: "header",
      required: true,
      description,
      schema: { type: "string", pattern, examples: [example] },
    })),
    ...body({ "application/json": content }),
    responses: { "2XX": { description: "The webhook was accepted." } },
  },
});

const DOCUMENT = {
  openapi: "3.1.1",
  info: {
    title: "Payment links",
    version: "1",
    description:
      "Written by paylink from the public documentation of the service; not an official document, and not tested against the live service.",
  },
  servers: serversFor(({ settings }) => settings.baseUrl),
  security: [{ bearer: [] }],
  paths: { ...TOKEN_PATH, ...LINK_PATHS, ...SANDBOX_PATHS },
  webhooks: {
    paymentApproved: webhook("paymentApproved", "A payment was approved", "callbackUrl", {
      schema: schemaRef("ApprovedTransaction"),
      example: APPROVED,
    }),
    paymentFailed: webhook("paymentFailed", "A payment was declined or cancelled", "failureCallbackUrl", {
      schema: { oneOf: [schemaRef("DeclinedTransaction"), schemaRef("CancelledTransaction")] },
      ...examples({ declined: DECLINED, cancelled: CANCELLED }),
    }),
  },
  components: {
    schemas: SCHEMAS,
    responses: errorResponses,
    securitySchemes: {
      bearer: { type: "http", scheme: "bearer", description: "An access token: see createAccessToken." },
    },
  },
};
