/** The OpenAPI document: valid, complete, and served by the sandbox. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { SERVICES } from "../../src/domain/known-services.ts";
import { openApiDocument } from "../../src/sandbox/openapi/document.ts";
import { checksOf, operationsOf, parseOpenApi, type Described, type OpenApi } from "../support/openapi.ts";
import { openTestSandbox } from "../support/sandbox.ts";

const document = parseOpenApi(openApiDocument());

describe("the document", () => {
  it("is OpenAPI 3.1", async () => {
    const validator = new Validator();
    expect(await validator.validate({ ...document })).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  it("describes every field, each with a type", () => {
    const fields = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      fieldsOf(name, schema),
    );
    expect(fields.length).toBeGreaterThan(150);
    const incomplete = fields.filter(
      ([, field]) =>
        field["$ref"] === undefined &&
        (field["description"] === undefined ||
          ["type", "const", "enum"].every((keyword) => field[keyword] === undefined)),
    );
    expect(incomplete.map(([path]) => path)).toEqual([]);
  });

  it("has examples that are valid by its own schemas", () => {
    const checks = checksOf(document);
    const examples = mediaTypesOf(document).flatMap(({ schema = {}, example, examples = {} }) =>
      [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)].map(
        (value) => ({ schema, value }),
      ),
    );
    expect(examples.length).toBeGreaterThan(15);
    for (const { schema, value } of examples) checks.value(schema, value);
  });
});

type Field = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Field => typeof value === "object" && value !== null;

function fieldsOf(path: string, schema: unknown): [path: string, field: Field][] {
  if (!isObject(schema)) return [];
  const { properties, items } = schema;
  const members = isObject(properties) ? Object.entries(properties) : [];
  return [
    ...members.flatMap(([name, field]): [string, Field][] => [
      ...(isObject(field) ? [[`${path}.${name}`, field] satisfies [string, Field]] : []),
      ...fieldsOf(`${path}.${name}`, field),
    ]),
    ...fieldsOf(`${path}[]`, items),
  ];
}

/** Every media type of requests, replies and webhooks. */
function mediaTypesOf(document: OpenApi): Described[] {
  const operations = [...operationsOf(document), ...Object.values(document.webhooks).map(({ post }) => post)];
  const bodies = operations.flatMap(({ requestBody, responses = {} }) => [
    ...(requestBody === undefined ? [] : [requestBody]),
    ...Object.values(responses),
  ]);
  return [...bodies, ...Object.values(document.components.responses)].flatMap(({ content = {} }) =>
    Object.values(content),
  );
}

it("is served by the sandbox without a token", async () => {
  const answer = await openTestSandbox().request("GET", "/openapi.json");
  expect([answer.status, answer.header("content-type")]).toEqual([200, "application/json"]);
  expect(answer.json()).toEqual(document);
});

it("names the sandbox first, so that no client reaches the live service by accident", () => {
  const { dna, "dna-test": test } = SERVICES;
  expect(document.servers.map(({ url }) => url)).toEqual(["/", test.settings.baseUrl, dna.settings.baseUrl]);
});
