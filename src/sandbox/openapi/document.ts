/** The OpenAPI 3.1 document of the service, made from the table of operations. The sandbox serves it, and `help files openapi` prints it. */
import { stringifyJson } from "../../values/json.ts";
import { SERVICES } from "../../domain/known-services.ts";
import { OPERATION_NAMES, type OperationName, OPERATIONS } from "../../domain/operations.ts";
import {
  type Described,
  DESCRIPTIONS,
  PATH_PARAMETERS,
  type Payload,
  REFUSALS,
  responseRef,
} from "./operations.ts";
import { type JsonSchema, schemaRef, SCHEMAS } from "./schemas.ts";
import { WEBHOOKS } from "./webhooks.ts";

export const openApiDocument = (): string =>
  stringifyJson({
    openapi: "3.1.1",
    info: {
      title: "Payment links",
      version: "1",
      description:
        "Written by paylink from the public documentation of the service; not an official document, and not tested against the live service.",
    },
    servers: serversOf("baseUrl"),
    security: [{ bearer: [] }],
    paths: { ...operationPaths(), "/.well-known/jwks.json": { get: KEY_SET } },
    webhooks: WEBHOOKS,
    components: {
      schemas: SCHEMAS,
      responses: {
        ...refusals(),
        Unavailable: {
          description: "Maintenance, or too many requests at once.",
          headers: { "Retry-After": { description: "Seconds to wait.", schema: { type: "string" } } },
        },
        Other: {
          description:
            "Any other error. The reply has no body if the request was refused before it was read.",
          content: { "application/problem+json": PROBLEM_MEDIA, "application/json": PROBLEM_MEDIA },
        },
      },
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An access token: see createAccessToken." },
      },
    },
  });

/** The sandbox first, so that no client reaches the live service by accident. */
const serversOf = (setting: "baseUrl" | "tokenUrl") => [
  { url: "/", description: "The sandbox that serves this document" },
  ...[SERVICES["dna-test"], SERVICES.dna].map(({ title, settings }) => ({
    url: new URL(settings[setting]).origin,
    description: title,
  })),
];

const PROBLEM_MEDIA = { schema: schemaRef("Problem") };

const refusals = (): JsonSchema =>
  Object.fromEntries(
    Object.entries(REFUSALS).map(([status, { name, description, message }]) => {
      const example = { code: Number(status), message };
      const content = {
        "application/problem+json": { ...PROBLEM_MEDIA, example },
        "application/json": PROBLEM_MEDIA,
      };
      return [name, { description, content }];
    }),
  );

const ALWAYS = { "503": responseRef("Unavailable"), default: responseRef("Other") };

const KEY_SET: JsonSchema = {
  operationId: "getKeySet",
  summary: "Get the public keys that verify the signatures of webhooks (the sandbox only)",
  security: [],
  responses: {
    "200": { description: "The keys.", content: { "application/json": { schema: schemaRef("KeySet") } } },
    ...ALWAYS,
  },
};

function operationPaths(): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const name of OPERATION_NAMES) {
    const { method, path } = OPERATIONS[name];
    paths[path] = {
      ...(DESCRIPTIONS[name].givesToken === true ? { servers: serversOf("tokenUrl") } : {}),
      ...pathParameters(path),
      ...paths[path],
      [method.toLowerCase()]: operation(name),
    };
  }
  return paths;
}

function pathParameters(path: string): JsonSchema {
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
  const parameters = names.map((name) => ({
    name,
    in: "path",
    required: true,
    description: PATH_PARAMETERS[name],
    schema: { type: "string" },
  }));
  return names.length === 0 ? {} : { parameters };
}

function operation(name: OperationName): JsonSchema {
  const { id, summary, description, query, request, requestTypes, reply, givesToken } = DESCRIPTIONS[name];
  return {
    operationId: id,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(givesToken === true ? { security: [] } : {}),
    ...(query === undefined ? {} : { parameters: queryParameters(query) }),
    ...(request === undefined
      ? {}
      : { requestBody: { required: true, content: mediaOf(request, requestTypes) } }),
    responses: {
      "200": { description: reply.description, content: mediaOf(reply) },
      ...DESCRIPTIONS[name].refusals,
      ...ALWAYS,
    },
  };
}

const queryParameters = (query: NonNullable<Described["query"]>): readonly JsonSchema[] =>
  Object.entries(query).map(([name, parameter]) => ({ name, in: "query", required: false, ...parameter }));

function mediaOf({ schema, examples }: Payload, types: readonly string[] = ["application/json"]): JsonSchema {
  const values = Object.entries(examples).map(([name, value]) => [name, { value }] as const);
  const [[, only] = []] = values;
  const shown = values.length === 1 ? { example: only?.value } : { examples: Object.fromEntries(values) };
  return Object.fromEntries(types.map((type) => [type, { schema: schemaRef(schema), ...shown }]));
}
