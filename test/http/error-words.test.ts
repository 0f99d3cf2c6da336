/** What services, gateways and frameworks answer as an error: its words, its fields, and an error in a 200. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { serviceWords } from "../../src/http/error-words.ts";
import { apiAt, tokensAt } from "../support/api.ts";
import { failure } from "../support/failure.ts";
import { ANSWER, REQUEST } from "../support/link-request.ts";
import { rawServer, reply } from "../support/raw-server.ts";

const wordsOf = (body: object) => serviceWords({ body: new TextEncoder().encode(JSON.stringify(body)) });

describe("the fields that an error names", () => {
  it.each<[string, object, readonly (readonly [string, string])[]]>([
    [
      "problem details",
      { errors: [{ detail: "must be positive", pointer: "#/amount" }] },
      [["amount", "must be positive"]],
    ],
    [
      "ASP.NET and Laravel: by field",
      {
        title: "One or more validation errors occurred.",
        errors: { amount: ["must be positive", "is too small"], Currency: ["is required"] },
      },
      [
        ["amount", "must be positive"],
        ["amount", "is too small"],
        ["Currency", "is required"],
      ],
    ],
    ["by field, as text", { errors: { amount: "must be positive" } }, [["amount", "must be positive"]]],
    [
      "Spring",
      { errors: [{ objectName: "link", field: "amount", defaultMessage: "must be positive" }] },
      [["amount", "must be positive"]],
    ],
    [
      "Spring: fieldErrors",
      { fieldErrors: [{ field: "amount", message: "must be positive" }] },
      [["amount", "must be positive"]],
    ],
    [
      "PayPal",
      {
        name: "UNPROCESSABLE_ENTITY",
        details: [{ field: "/purchase_units/0/amount", issue: "INVALID", description: "must be positive" }],
      },
      [["purchase_units.0.amount", "must be positive"]],
    ],
    ["PayPal: an issue alone", { details: [{ field: "amount", issue: "INVALID" }] }, [["amount", "INVALID"]]],
    [
      "FastAPI",
      { detail: [{ loc: ["body", "amount"], msg: "must be positive", type: "x" }] },
      [["body.amount", "must be positive"]],
    ],
    [
      "Jakarta",
      { violations: [{ propertyPath: "link.amount", message: "must be positive" }] },
      [["link.amount", "must be positive"]],
    ],
    [
      "RFC 7807",
      { "invalid-params": [{ name: "amount", reason: "must be positive" }] },
      [["amount", "must be positive"]],
    ],
    [
      "JSON:API",
      { errors: [{ source: { pointer: "/data/amount" }, detail: "must be positive" }] },
      [["data.amount", "must be positive"]],
    ],
    [
      "express-validator",
      { errors: [{ type: "field", path: "amount", msg: "must be positive" }] },
      [["amount", "must be positive"]],
    ],
    [
      "Zod",
      { issues: [{ path: ["items", 0, "amount"], message: "must be positive" }] },
      [["items.0.amount", "must be positive"]],
    ],
    [
      "NestJS",
      { message: ["amount must be positive", "currency is required"] },
      [
        ["", "amount must be positive"],
        ["", "currency is required"],
      ],
    ],
    ["texts alone", { errors: ["must be positive"] }, [["", "must be positive"]]],
    [
      "inside `error`",
      { error: { code: 400, message: "bad", errors: [{ field: "amount", message: "must be positive" }] } },
      [["amount", "must be positive"]],
    ],
    ["in capitals", { Errors: { Amount: ["must be positive"] } }, [["Amount", "must be positive"]]],
    [
      "a JSON path",
      { errors: [{ path: "$.amount", message: "must be positive" }] },
      [["amount", "must be positive"]],
    ],
    [
      "each once",
      { errors: [{ field: "a", message: "b" }], details: [{ field: "a", message: "b" }] },
      [["a", "b"]],
    ],
    [
      "a list of any name, of texts beside places",
      {
        code: 3,
        message: "bad",
        felder: [{ field: "amount", message: "must be positive" }, { field: "a" }, "b"],
      },
      [["amount", "must be positive"]],
    ],
    ["Spring, without fields", { status: 400, error: "Bad Request", message: "bad", path: "/v1/x" }, []],
    ["nothing", { errors: [], details: null, violations: {}, trace: ["at x"] }, []],
  ])("are read: %s", (_, body, problems) => {
    expect(wordsOf(body).problems).toEqual(problems.map(([at, message]) => ({ at, message })));
  });

  it.each<[object, string, string | undefined]>([
    [{ error: { code: "E1", message: "no terminal" } }, "no terminal", "E1"],
    [{ errorCode: "E1", errorMessage: "no terminal" }, "no terminal", "E1"],
    [{ error_code: 12, error_message: "no terminal" }, "no terminal", "12"],
    [{ Message: "no terminal" }, "no terminal", undefined],
    [{ fault: { faultstring: "x", reason: "no terminal" } }, "no terminal", undefined],
  ])("are shown beside its message and code: %j", (body, text, code) => {
    expect(wordsOf(body)).toMatchObject({ text, code });
  });

  it("are bounded, whatever the service sends", () => {
    const errors = Array.from({ length: 1000 }, (_, at) => ({
      field: `f${at}`,
      message: "x".repeat(10_000),
    }));
    const { problems } = wordsOf({ errors });
    expect(problems).toHaveLength(50);
    expect(Math.max(...problems.map(({ message }) => message.length))).toBeLessThan(600);
  });

  it("are shown of a refusal that is compressed", async () => {
    const body = gzipSync('{"message":"Validation failed","errors":{"amount":["must be positive"]}}');
    const server = await rawServer((socket) => {
      socket.write(`HTTP/1.1 422 X\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`);
      socket.write(body);
    });
    expect(await failure(apiAt(server.url).api.createLink(REQUEST))).toMatchObject({
      code: "refused",
      message: "The service answered 422: Validation failed.",
      problems: [{ at: "amount", message: "must be positive" }],
    });
  });
});

it("binary data never reaches the message", () => {
  for (const bytes of [
    [1, 2, 3, 0],
    [0x50, 0x4b, 3, 0xff],
  ]) {
    const words = serviceWords({ body: Uint8Array.from(bytes) });
    expect(words.text).toBe("a body of 4 bytes that is not text");
  }
  const shown = serviceWords({ body: new TextEncoder().encode("the terminal \u0007 is closed\u001b[0m") });
  expect(shown.text).toBe("the terminal \u0007 is closed\u001b[0m");
  const undecoded = serviceWords({ body: Uint8Array.of(255), undecoded: "gzip: incorrect data check" });
  expect(undecoded.text).toBe("a body that cannot be decoded (gzip: incorrect data check)");
});

describe("an error in a 200", () => {
  it.each([
    '{"success":false,"message":"no terminal"}',
    '{"success":"false"}',
    '{"Success":false,"Errors":["no terminal"]}',
    '{"status":"error","message":"no terminal"}',
    '{"status":"failed"}',
    '{"status":false}',
    '{"status":422,"title":"Unprocessable"}',
    '{"statusCode":"400","message":"no terminal"}',
    '{"ok":false}',
    '{"errors":[{"message":"no terminal"}]}',
    '{"errors":{"terminalId":["is unknown"]}}',
    '{"errorCode":"E12"}',
    '{"error_code":12}',
    '{"error":{"message":"no terminal"}}',
    '{"error":"no terminal"}',
    '{"status":"error","id":"req-1","message":"no terminal"}',
    '{"error":"no terminal","url":"https://docs.example/errors/12"}',
  ])("is a refusal, and no link: %s", async (body) => {
    const server = await rawServer(reply(200, body));
    const { api } = apiAt(server.url);
    expect(await failure(api.createLink(REQUEST))).toMatchObject({
      code: "refused",
      details: { status: 200 },
    });
    expect(await failure(api.showLink("L1"))).toMatchObject({ code: "refused" });
    expect(await failure(api.cancelLink("L1"))).toMatchObject({ code: "refused" });
  });

  it.each([
    ["create", '{"status":504,"error":"Gateway Timeout"}', "outcome_unknown"],
    ["create", '{"statusCode":408,"message":"timeout"}', "outcome_unknown"],
    ["create", '{"status":401,"error":"Unauthorized"}', "unauthorized"],
    ["create", '{"success":false,"message":"Upstream request timed out"}', "outcome_unknown"],
    ["create", '{"status":"error","error":{"message":"Internal Server Error"}}', "outcome_unknown"],
  ])("is judged by the status that it names, or else by its words: %s with %s", async (_, body, code) => {
    const server = await rawServer(reply(200, body));
    expect(await failure(apiAt(server.url).api.createLink(REQUEST))).toMatchObject({ code });
  });

  it.each([
    '{"errors":[],',
    '{"error":null,',
    '{"success":true,',
    '{"errorCode":0,',
    '{"errorCode":"none",',
    '{"errors":["late"],',
  ])("is not one beside an id and a URL: %s", async (start) => {
    const server = await rawServer(reply(200, ANSWER.replace("{", start)));
    expect(await apiAt(server.url).api.createLink(REQUEST)).toMatchObject({ link: { id: "L1" } });
  });

  it.each(['{"success":false,"records":[]}', '{"records":null,"totalCount":0,"errorCode":"E1"}'])(
    "is not an empty list: %s",
    async (body) => {
      const server = await rawServer(reply(200, body));
      const query = { terminalId: "1", from: new Date(0), to: new Date(1) };
      expect(await failure(apiAt(server.url).api.listLinks(query))).toMatchObject({ code: "refused" });
    },
  );
});

describe("a request that was cut short", () => {
  const CHANGES = { description: "x", expirationDate: "2026-12-01T10:00:00Z" };

  it.each([408, 425, 460, 499])("may have had its effect: %d", async (status) => {
    const server = await rawServer(reply(status, "<html><title>Timeout</title></html>"));
    const { api } = apiAt(server.url);
    expect(await failure(api.createLink(REQUEST))).toMatchObject({ code: "outcome_unknown", exit: 6 });
    expect(await failure(api.updateLink("L1", CHANGES))).toMatchObject({ code: "outcome_unknown" });
    expect(await failure(api.cancelLink("L1"))).toMatchObject({ code: "outcome_unknown" });
    expect(await failure(api.showLink("L1"))).toMatchObject({ code: "not_reached", exit: 5 });
    expect(server.requests).toHaveLength(4);
  });

  it.each([408, 425])("does not blame the credentials: %d from the token endpoint", async (status) => {
    const server = await rawServer(reply(status, "{}"));
    expect(await failure(tokensAt(server.url).current("details"))).toMatchObject({ code: "not_reached" });
  });
});

describe("a redirect", () => {
  it.each([
    [301, "/v1/payment-links/", 1],
    [302, "/login", 1],
    [303, "/v1/payment-links/", 1],
    [308, "/v1/payment-links/", 2],
    [307, "/v1/payment-links/", 2],
    [308, "https://elsewhere.example/v1/payment-links/", 1],
    [308, "/v2/payment-links/", 1],
    [308, "/v1/payment-links/?next=1", 1],
    [308, "/v1/payment-links//", 1],
  ])("is named, and followed for a slash alone: %d to %s", async (status, location, requests) => {
    const server = await rawServer(reply(status, "", { Location: location }));
    const error = await failure(apiAt(server.url).api.createLink(REQUEST));
    expect(error).toMatchObject({ code: "redirected", exit: 4, details: { location } });
    expect(error.message).toContain(`a redirect to ${location}`);
    expect(server.requests).toHaveLength(requests);
  });
});

describe("a page instead of an answer", () => {
  it("refuses nobody's credentials: 403 of the token endpoint", async () => {
    const page = "<?xml version='1.0'?>\n<html><title>Request Rejected</title></html>";
    const server = await rawServer(reply(403, page, { Server: "BigIP" }));
    const error = await failure(tokensAt(server.url).current("create"));
    expect(error).toMatchObject({ code: "unauthorized", exit: 3, isOfAnother: true });
    expect(error.message).toContain(
      'something in between answered 403: an HTML page with the title "Request Rejected", from the server "BigIP".',
    );
    expect(JSON.stringify(error.hints)).not.toMatch(/client secret|login/);
  });
});

describe("the token endpoint", () => {
  const refusedWith = async (status: number, body: object) => {
    const server = await rawServer(reply(status, JSON.stringify(body)));
    return failure(tokensAt(server.url).current("details"));
  };
  const advice = (error: { hints: unknown }): string => JSON.stringify(error.hints);

  it("shows the fields that it names, and does not blame the secret for them", async () => {
    const error = await refusedWith(400, { errors: { grant_type: ["is not allowed"] } });
    expect(error).toMatchObject({
      code: "unauthorized",
      problems: [{ at: "grant_type", message: "is not allowed" }],
    });
    expect(advice(error)).not.toContain("client secret");
  });

  it("blames the credentials where it names them, and the scope where that is it", async () => {
    expect(advice(await refusedWith(400, { errors: { client_secret: ["is wrong"] } }))).toContain(
      "client secret",
    );
    expect(
      advice(await refusedWith(400, { fieldErrors: [{ field: "scope", message: "is unknown" }] })),
    ).toContain("tokenScope");
  });
});
