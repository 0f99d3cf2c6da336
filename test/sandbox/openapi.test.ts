/** The OpenAPI document: valid, complete, served by the sandbox, and shipped in the package. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { SERVICES } from "../../src/domain/known-services.ts";
import { sandboxDocument, serviceDocument } from "../../src/sandbox/openapi/document.ts";
import { checksOf, operationsOf, parseOpenApi, type Described, type OpenApi } from "../support/openapi.ts";
import { openTestSandbox, ORIGIN } from "../support/sandbox.ts";

const DOCUMENT = parseOpenApi(sandboxDocument(ORIGIN));
const EDITIONS = { sandbox: DOCUMENT, service: parseOpenApi(serviceDocument()) };

describe.each(Object.entries(EDITIONS))("the document of the %s", (_, document) => {
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

describe("the sandbox", () => {
  it("serves its document with its own address, without a token", async () => {
    const service = openTestSandbox();
    const answer = await service.request("GET", "/openapi.json");
    expect(answer.status).toBe(200);
    expect(answer.header("content-type")).toBe("application/json");
    expect(answer.json()).toEqual(DOCUMENT);
    const other = await service.request("GET", "/openapi.json", { authority: "localhost:5000" });
    expect(other.json()).toEqual(parseOpenApi(sandboxDocument("http://localhost:5000")));
  });
});

describe("the package", () => {
  const shipped = parseOpenApi(readFileSync(resolve(import.meta.dirname, "../../dist/openapi.json"), "utf8"));

  it("contains the document of the documented service", () => {
    expect(shipped).toEqual(EDITIONS.service);
    expect(shipped.servers.map(({ url }) => url)).toEqual(
      Object.values(SERVICES).map(({ settings }) => settings.baseUrl),
    );
  });

  it("describes only what the service documents", () => {
    expect(Object.keys(shipped.paths)).toEqual([
      "/oauth2/token",
      "/v1/payment-links",
      "/v1/payment-links/{id}",
      "/v1/payment-links/{id}/cancel",
    ]);
    expect(Object.keys(shipped.webhooks)).toEqual(["paymentApproved", "paymentFailed"]);
  });
});
