/** Errors as services send them: their words, their code, and the place of each problem. */
import { describe, expect, it } from "vitest";
import { PaylinkError } from "../../src/domain/errors.ts";
import { SendError } from "../../src/http/exchange.ts";
import { failureOfExchange } from "../../src/service/failures.ts";
import { serviceWords } from "../../src/http/error-words.ts";
import { REQUEST } from "../support/link-request.ts";
import { apiAt } from "../support/api.ts";
import { adviceOf, failure } from "../support/failure.ts";
import { MAINTENANCE, rawServer, reply } from "../support/raw-server.ts";

const problem = { at: "terminalId", message: "is unknown" };

it.each([
  [
    "RFC 9457",
    '{"type":"about:blank","title":"Bad","detail":"no","errors":[{"pointer":"#/terminalId","detail":"is unknown"}]}',
    { text: "no", code: undefined, problems: [problem] },
  ],
  ["code and message", '{"code":275,"message":"no"}', { text: "no", code: "275", problems: [] }],
  [
    "OAuth",
    '{"error":"invalid_scope","error_description":"no"}',
    { text: "no", code: "invalid_scope", problems: [] },
  ],
  ["a sentence as error", '{"error":"not that"}', { text: "not that", code: undefined, problems: [] }],
  ["unknown JSON", '{"what":"no"}', { text: '{"what":"no"}', code: undefined, problems: [] }],
  ["plain text", " no \n", { text: "no", code: undefined, problems: [] }],
  ["nothing", "", { text: "", code: undefined, problems: [] }],
  [
    "a page",
    "<!DOCTYPE html><html><head><title>\n 502 Bad\n Gateway</title></head><body>much more</body></html>",
    { text: 'an HTML page with the title "502 Bad Gateway"', code: undefined, problems: [], isPage: true },
  ],
  [
    "a page without a title",
    "<html><body></body></html>",
    { text: "an HTML page", code: undefined, problems: [], isPage: true },
  ],
])("%s", (_, body, words) => {
  expect(serviceWords({ body: new TextEncoder().encode(body) })).toMatchObject({ isPage: false, ...words });
});

it("long bodies are clipped, and their length is named", () => {
  const { text } = serviceWords({ body: new TextEncoder().encode("x".repeat(100_000)) });
  expect(text).toBe(`${"x".repeat(500)}… (100000 characters)`);
});

it.each([
  ["CERT_HAS_EXPIRED", "Check the date and time of this machine"],
  ["CERT_NOT_YET_VALID", "Check the date and time of this machine"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "set NODE_EXTRA_CA_CERTS"],
])("a certificate that is not accepted, %s, has its own next step", (code, step) => {
  const cause = Object.assign(new Error("certificate"), { code });
  const error = failureOfExchange(new SendError("https://pay.example: certificate", false, cause), "create");
  expect(error).toMatchObject({ code: "not_reached", exit: 5 });
  expect(error instanceof PaylinkError ? adviceOf(error) : "").toContain(step);
});

describe("a refusal", () => {
  const refusal = async (...answer: Parameters<typeof reply>) => {
    const server = await rawServer(reply(...answer));
    return failure(apiAt(server.url).api.createLink(REQUEST));
  };

  it("has the service's code in its details", async () => {
    const error = await refusal(422, '{"code":275,"message":"Invalid payment link ID"}');
    expect(error.message).toBe("The service answered 422: Invalid payment link ID (code 275).");
    expect(error.details).toMatchObject({ status: 422, code: "275", service: "Invalid payment link ID" });
  });

  it.each([
    ["600", "in 10 minutes"],
    ["Sat, 21 Nov 2026 10:10:00 GMT", "in 10 minutes"],
    // No time that anybody waits for.
    ["999999999999", "It is safe to run the command again later."],
  ])(
    "that asks to wait longer than the timeout (%s) is not repeated, and names the wait",
    async (value, words) => {
      const server = await rawServer(reply(429, "", { "Retry-After": value }));
      const { api, waits } = apiAt(server.url);
      const error = await failure(api.createLink(REQUEST));
      expect([error.code, error.exit]).toEqual(["overloaded", 5]);
      expect(adviceOf(error)).toContain(words);
      expect(waits).toEqual([]);
    },
  );

  it("that asks for a long wait is repeated if the timeout allows it", async () => {
    const server = await rawServer((socket, count) =>
      (count === 1 ? reply(503, MAINTENANCE, { "Retry-After": "600" }) : reply(401, ""))(socket),
    );
    const { api, waits } = apiAt(server.url, { timeout: 700_000 });
    await failure(api.createLink(REQUEST));
    expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([600_000]);
  });
});
