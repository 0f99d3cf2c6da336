/** The OpenAPI 3.1 document. The sandbox serves its own edition; the package contains that of the documented service. */
import { stringifyJson } from "../../domain/json.ts";
import { LINKS_PATH, SERVICES, TRANSACTION_PATH } from "../../domain/known-services.ts";
import { SCOPE } from "../access.ts";
import { ServiceProblem, unknownLink } from "../replies.ts";
import { LINK_EXAMPLES, LINKS_EXAMPLE, recordExample, REQUEST_EXAMPLES, UPDATE_EXAMPLE } from "./examples.ts";
import { LIST_PARAMETERS, schemaRef, schemas, type JsonSchema } from "./schemas.ts";

interface Server {
  readonly url: string;
  readonly description: string;
}

interface Edition {
  /** The sandbox has operations of its own, more ways to send credentials, and problem details for errors. */
  readonly sandbox: boolean;
  readonly description: string;
  readonly servers: readonly Server[];
  /** The addresses of the token endpoint, which has one path at all of them. */
  readonly tokenUrls: readonly [Server, ...Server[]];
}

/** As JSON. */
export function sandboxDocument(origin: string): string {
  const server = { url: origin, description: "The sandbox" };
  const document = documentOf({
    sandbox: true,
    description: "The payment-link service as `paylink sandbox` simulates it on this machine.",
    servers: [server],
    tokenUrls: [{ ...server, url: `${origin}/oauth/token` }],
  });
  return stringifyJson(document, 2);
}

/** As JSON. */
export function serviceDocument(): string {
  const { dna, "dna-test": test } = SERVICES;
  const document = documentOf({
    sandbox: false,
    description:
      "Written by paylink from the public documentation of the service; not an official document, and not tested against the live service.",
    servers: [dna, test].map(({ title, settings }) => ({ url: settings.baseUrl, description: title })),
    tokenUrls: [
      { url: dna.settings.tokenUrl, description: dna.title },
      { url: test.settings.tokenUrl, description: test.title },
    ],
  });
  return stringifyJson(document);
}

const LINKS = LINKS_PATH;

const documentOf = (edition: Edition): JsonSchema => ({
  openapi: "3.1.1",
  info: { title: "Payment links", version: "1", description: edition.description },
  servers: edition.servers,
  security: [{ oauth2: [SCOPE] }, { bearer: [] }],
  paths: {
    [new URL(edition.tokenUrls[0].url).pathname]: tokenPath(edition),
    ...LINK_PATHS,
    ...(edition.sandbox ? SANDBOX_PATHS : {}),
  },
  webhooks: WEBHOOKS,
  components: {
    schemas: schemas(edition.sandbox),
    responses: errorResponses(edition.sandbox),
    securitySchemes: securitySchemes(edition),
  },
});

/** When an operation answers each error, and the sandbox's reply. */
const ERRORS = {
  BadRequest: [
    "The request is malformed or breaks a rule of a field.",
    new ServiceProblem(400, "the request breaks the specification", [
      { at: "expirationDate", message: "is required for a one-time link" },
    ]),
  ],
  Unauthorized: [
    "The access token is missing, unknown or expired.",
    new ServiceProblem(401, "the access token is unknown or expired"),
  ],
  Forbidden: [
    "Not permitted, for example because the terminal is not the client's.",
    new ServiceProblem(403, "the terminal is not assigned to these credentials"),
  ],
  NotFound: ["The id is unknown.", unknownLink()],
  Unprocessable: [
    "The status of the link does not allow it.",
    new ServiceProblem(422, "only a link that is active or viewed can be updated, and this link is paid"),
  ],
} as const;

const responseRef = (name: string): JsonSchema => ({ $ref: `#/components/responses/${name}` });

/** The errors of an operation: its own, and those of every operation. */
const errors = (...names: readonly (keyof typeof ERRORS)[]): JsonSchema => ({
  ...Object.fromEntries(names.map((name) => [ERRORS[name][1].status, responseRef(name)])),
  503: responseRef("Unavailable"),
  default: responseRef("Other"),
});

const header = (description: string, required = true): JsonSchema => ({
  description,
  required,
  schema: { type: "string" },
});
const AUTHENTICATE = { "WWW-Authenticate": header("How to authenticate.") };

function errorResponses(sandbox: boolean): JsonSchema {
  const body = (example: JsonSchema): JsonSchema =>
    sandbox
      ? { "application/problem+json": { schema: schemaRef("Problem"), ...example } }
      : { "application/json": { schema: schemaRef("Error") } };
  const own = Object.entries(ERRORS).map(([name, [description, problem]]) => [
    name,
    {
      description,
      ...(problem.status === 401 ? { headers: sandbox ? AUTHENTICATE : {} } : {}),
      content: body({ example: problem.details() }),
    },
  ]);
  return {
    ...Object.fromEntries(own),
    Unavailable: {
      description: sandbox ? "Too many requests at once; without a body." : "Maintenance.",
      headers: { "Retry-After": header("Seconds to wait.", false) },
    },
    Other: {
      description: "Any other error. The reply has no body if the request was refused before it was read.",
      content: body({}),
    },
  };
}

const json = (schema: string, examples: JsonSchema = {}): JsonSchema => ({
  "application/json": { schema: schemaRef(schema), ...examples },
});
const body = (content: JsonSchema): JsonSchema => ({ requestBody: { required: true, content } });
const pathParameter = (name: string, description: string): JsonSchema => ({
  parameters: [{ name, in: "path", required: true, description, schema: { type: "string" } }],
});

/** `rest` is what it takes: its parameters or its body. */
const operation = (
  operationId: string,
  summary: string,
  responses: JsonSchema,
  rest: JsonSchema = {},
): JsonSchema => ({ operationId, summary, ...rest, responses });

const LINK_ID = pathParameter("id", "The id of the link.");
const LINK = {
  200: { description: "The link.", content: json("PaymentLink", { examples: LINK_EXAMPLES }) },
};

const LINK_PATHS = {
  [LINKS]: {
    get: operation(
      "listPaymentLinks",
      "List payment links by the time of their creation",
      {
        200: {
          description: "One page of the links.",
          content: json("PaymentLinks", { example: LINKS_EXAMPLE }),
        },
        ...errors("BadRequest", "Unauthorized", "Forbidden"),
      },
      { parameters: LIST_PARAMETERS },
    ),
    post: operation(
      "createPaymentLink",
      "Create a payment link",
      { ...LINK, ...errors("BadRequest", "Unauthorized", "Forbidden") },
      body(json("PaymentLinkRequest", { examples: REQUEST_EXAMPLES })),
    ),
  },
  [`${LINKS}/{id}`]: {
    ...LINK_ID,
    get: operation("getPaymentLink", "Get the details of a payment link", {
      ...LINK,
      ...errors("Unauthorized", "Forbidden", "NotFound"),
    }),
    patch: operation(
      "updatePaymentLink",
      "Update a payment link that is active or viewed",
      { ...LINK, ...errors("BadRequest", "Unauthorized", "Forbidden", "NotFound", "Unprocessable") },
      body(json("PaymentLinkUpdate", { example: UPDATE_EXAMPLE })),
    ),
  },
  [`${LINKS}/{id}/cancel`]: {
    ...LINK_ID,
    post: operation("cancelPaymentLink", "Cancel a payment link that is active, viewed or attempted", {
      ...LINK,
      ...errors("Unauthorized", "Forbidden", "NotFound", "Unprocessable"),
    }),
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
const TOKEN_EXAMPLE = {
  access_token: "sandbox_2f1c",
  token_type: "Bearer",
  expires_in: 3600,
  scope: SCOPE,
  refresh_token: "",
};
const TOKEN_ERROR = json("TokenError");

const tokenPath = ({ sandbox, tokenUrls }: Edition): JsonSchema => ({
  servers: tokenUrls.map(({ url, description }) => ({ url: new URL(url).origin, description })),
  post: {
    operationId: "createAccessToken",
    summary: "Get an access token with the client's credentials",
    description: sandbox
      ? "The credentials are form fields, multipart form data, or HTTP Basic with the other fields in the form."
      : "All fields are mandatory.",
    security: sandbox ? [{}, { client: [] }] : [],
    ...body({ "application/x-www-form-urlencoded": TOKEN_FORM, "multipart/form-data": TOKEN_FORM }),
    responses: {
      200: {
        description: "The access token.",
        content: json("Token", { example: TOKEN_EXAMPLE }),
      },
      400: { description: "The grant, the scope or the body is invalid.", content: TOKEN_ERROR },
      401: {
        description: "The client id or the client secret is wrong.",
        content: TOKEN_ERROR,
        headers: sandbox ? AUTHENTICATE : {},
      },
      ...errors(),
    },
  },
});

const SANDBOX_PATHS = {
  [TRANSACTION_PATH]: {
    ...pathParameter("uti", "The id of the transaction."),
    get: operation(
      "getTransaction",
      "Get a transaction: the record of its webhook, with the merchantCustomData of its link",
      {
        200: {
          description: "The transaction.",
          content: json("Transaction", { example: recordExample("approved") }),
        },
        ...errors("Unauthorized", "NotFound"),
      },
    ),
  },
  "/.well-known/jwks.json": {
    get: operation(
      "getKeySet",
      "Get the public keys that verify the signatures of webhooks",
      { 200: { description: "The keys.", content: json("KeySet") }, ...errors() },
      { security: [] },
    ),
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
  post: operation(
    operationId,
    summary,
    { "2XX": { description: "The webhook was accepted." } },
    {
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
    },
  ),
});

const WEBHOOKS = {
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
};

function securitySchemes({ sandbox, tokenUrls: [first] }: Edition): JsonSchema {
  const flow = { tokenUrl: first.url, scopes: { [SCOPE]: "Payment links" } };
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
