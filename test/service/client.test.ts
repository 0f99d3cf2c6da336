/** How a request to create a link ends, whatever the service does: over real sockets, with a real client. */
import { describe, expect, it } from "vitest";
import { apiAt, TOKEN } from "../support/api.ts";
import { adviceOf, failure } from "../support/failure.ts";
import { ANSWER, REQUEST } from "../support/link-request.ts";
import { MAINTENANCE, rawServer, reply, type RawServer } from "../support/raw-server.ts";

type Answer = Parameters<typeof rawServer>[0];

const PROBLEM = JSON.stringify({
  title: "Bad Request",
  detail: "the request breaks the specification",
  errors: [{ pointer: "#/terminalId", detail: "is unknown" }],
});
const problem = { "Content-Type": "application/problem+json" };
const hello = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

describe("a link that is created", () => {
  it("is sent byte for byte", async () => {
    const server = await rawServer(reply(200, ANSWER));
    const created = await apiAt(server.url).api.createLink(REQUEST);
    expect(created.text).toBe(ANSWER);
    expect(created.violations).toEqual([]);
    expect(server.requests[0]).toMatch(/^POST \/v1\/payment-links HTTP\/1\.1\r\n/);
    expect(server.requests[0]).toContain(`Authorization: Bearer ${TOKEN}\r\n`);
    expect(server.requests[0]).toMatch(/\{"amount":10\.00,"currency":"EUR",/);
  });

  it.each<[string, Answer, string]>([
    ["another status", reply(201, ANSWER), "the status is 201"],
    [
      "another media type",
      reply(200, ANSWER, { "Content-Type": "text/html" }),
      "the Content-Type is text/html",
    ],
    ["no media type", reply(200, ANSWER, {}), "the Content-Type is missing"],
    ["a repeated member", reply(200, ANSWER.replace('"id":"L1"', '"id":"L1","id":"L1"')), "is given twice"],
    ["a missing member", reply(200, ANSWER.replace('"status":"active",', "")), "is missing"],
  ])("still shows its URL after %s", async (_, answer, warning) => {
    const created = await apiAt((await rawServer(answer)).url).api.createLink(REQUEST);
    expect(created.link.url).toBe("https://pay.example/checkout?r=L1");
    expect(created.violations.map(({ message }) => message).join()).toContain(warning);
  });
});

describe("a request that may have arrived", () => {
  it.each<[string, Answer]>([
    ["a reset after the request", (socket) => socket.resetAndDestroy()],
    ["an end without an answer", (socket) => socket.end()],
    ["half a head", (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Ty")],
    ["half a reply", (socket) => socket.end(`${hello}Content-Length: 500\r\n\r\n{"id":`)],
    ["no HTTP at all", (socket) => socket.end("220 mail.example ESMTP\r\n")],
    ["a page for people", reply(200, "<h1>Welcome</h1>", { "Content-Type": "text/html" })],
    ["a broken body", reply(200, '{"id":"L1","url":')],
    ["JSON that is not an object", reply(200, "[]")],
    ["nothing", reply(200, "")],
    ["a fault of the service", reply(500, "oops", { "Content-Type": "text/plain" })],
    ["a gateway's answer", reply(502, "")],
    ["a gateway's 503", reply(503, "<html><title>503</title></html>", { "Retry-After": "0" })],
    ["a 503 without a word", reply(503, "")],
    ["a 503 in words of no service", reply(503, '{"message":"Service Unavailable"}')],
    ["a gateway's 503 with a code of its own", reply(503, '{"error":"timeout"}', { "Retry-After": "0" })],
    [
      "a gateway's 503 as problem details",
      reply(503, '{"status":503}', { "Content-Type": "application/problem+json", "Retry-After": "0" }),
    ],
    ["ten megabytes", (socket) => reply(200, "x".repeat(10_000_000))(socket)],
  ])("is of unknown outcome after %s, and is not sent again", async (_, answer) => {
    const server = await rawServer(answer);
    const error = await failure(apiAt(server.url).api.createLink(REQUEST));
    expect([error.code, error.exit]).toEqual(["outcome_unknown", 6]);
    expect(adviceOf(error)).toContain("may exist");
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    [undefined, "The service answered 201 with an empty body."],
    [
      "/v1/payment-links/L1",
      "The service answered 201 with an empty body, and names the address /v1/payment-links/L1.",
    ],
  ])("is of unknown outcome after an answer without a body (Location: %s)", async (location, message) => {
    const server = await rawServer(reply(201, "", location === undefined ? {} : { Location: location }));
    const error = await failure(apiAt(server.url).api.createLink(REQUEST));
    expect(error).toMatchObject({ code: "outcome_unknown", message });
    expect(error.details["location"]).toBe(location);
  });

  it("names the order's link as the next step after a 409, as when a gateway sends twice", async () => {
    const server = await rawServer(reply(409, '{"message":"Order number already used"}'));
    const error = await failure(apiAt(server.url).api.createLink(REQUEST));
    expect([error.code, error.exit]).toEqual(["refused", 4]);
    expect(adviceOf(error)).toContain(
      "paylink links list --terminal-id 1234567890 --since 2025-11-21T10:00Z",
    );
  });

  it.each([
    "upstream connect error or disconnect/reset before headers. reset reason: connection termination",
    "upstream request timeout",
    'connection error: desc = "transport: Error while dialing"',
    "context deadline exceeded",
    "Backend fetch failed",
    "The request timed-out",
  ])("is not sent again after a gateway's 503 in the form of the service's own: %s", async (message) => {
    const body = JSON.stringify({ code: 14, message, details: [] });
    const server = await rawServer(reply(503, body));
    const error = await failure(apiAt(server.url).api.createLink(REQUEST));
    expect([error.code, error.exit]).toEqual(["outcome_unknown", 6]);
    expect(server.requests).toHaveLength(1);
  });

  it("has an unknown outcome if no answer arrives", async () => {
    const server = await rawServer(() => undefined);
    const error = await failure(apiAt(server.url, { timeout: 1500 }).api.createLink(REQUEST));
    expect(error.code).toBe("outcome_unknown");
    expect(server.requests).toHaveLength(1);
  });
});

describe("a request without effect", () => {
  it.each<[number, string, number]>([
    [400, "refused", 4],
    [404, "refused", 4],
    [409, "refused", 4],
    [422, "refused", 4],
    [401, "unauthorized", 3],
    [403, "unauthorized", 3],
  ])(
    "answered %i is %s, exit %i, in the service's own words, and is not sent again",
    async (status, code, exit) => {
      const server = await rawServer(reply(status, PROBLEM, problem));
      const error = await failure(apiAt(server.url).api.createLink(REQUEST));
      expect([error.code, error.exit]).toEqual([code, exit]);
      expect(error.message).toContain(`${status}: the request breaks the specification`);
      expect(error.problems).toEqual([{ at: "terminalId", message: "is unknown" }]);
      expect(adviceOf(error)).toBeDefined();
      expect(server.requests).toHaveLength(1);
    },
  );

  it("takes 304 for no redirect, and for no answer: whether the link exists is not known", async () => {
    const server = await rawServer(reply(304, ""));
    const error = await failure(apiAt(server.url).api.createLink(REQUEST));
    expect([error.code, error.exit]).toEqual(["outcome_unknown", 6]);
  });

  it("never follows a redirect with its token", async () => {
    const elsewhere = await rawServer(reply(200, ANSWER));
    const server = await rawServer(reply(307, "", { Location: `${elsewhere.url}/v1/payment-links` }));
    const error = await failure(apiAt(server.url).api.createLink(REQUEST));
    const location = `${elsewhere.url}/v1/payment-links`;
    expect(error).toMatchObject({ code: "redirected", exit: 4, details: { location } });
    expect(error.message).toContain(`a redirect to ${location}`);
    expect(elsewhere.requests).toEqual([]);
  });

  it.each([
    ["308 that adds a slash", 308, "/v1/payment-links/"],
    ["307 that is relative", 307, "payment-links/"],
  ])("follows a %s, with its token and body", async (_, status, location) => {
    const server = await rawServer((socket, count) =>
      count === 1 ? reply(status, "", { Location: location })(socket) : reply(200, ANSWER)(socket),
    );
    expect((await apiAt(server.url).api.createLink(REQUEST)).link.id).toBe("L1");
    const [first = "", second = ""] = server.requests;
    expect(second).toBe(first.replace("/v1/payment-links", "/v1/payment-links/"));
  });

  it.each([
    [307, "/v1/other/"],
    [308, "/v2/payment-links/"],
    [308, "/v1/payment-links/?a=b"],
    [308, "//127.0.0.1:9/v1/payment-links/"],
    [302, "/v1/payment-links/"],
    [308, "http://["],
  ])("follows no other redirect: %i to %s", async (status, location) => {
    const server = await rawServer(reply(status, "", { Location: location }));
    const error = await failure(apiAt(server.url).api.createLink(REQUEST));
    expect([error.code, error.exit]).toEqual(["redirected", 4]);
    expect(server.requests).toHaveLength(1);
  });

  it("follows one redirect alone, even if the next leads back", async () => {
    const server = await rawServer((socket, count) =>
      reply(308, "", { Location: count % 2 === 1 ? "/v1/payment-links/" : "/v1/payment-links" })(socket),
    );
    expect((await failure(apiAt(server.url).api.createLink(REQUEST))).code).toBe("redirected");
    expect(server.requests).toHaveLength(2);
  });

  it("is sent only over https", async () => {
    const error = await failure(apiAt("http://service.example").api.createLink(REQUEST));
    expect(error.code).toBe("usage");
    expect(error.message).toContain("sends a token only over https");
  });
});

describe("a request that is sent again", () => {
  it("three times if nothing listens", async () => {
    // A reserved port, which no test can have been given.
    const { api, waits } = apiAt("http://127.0.0.1:1");
    const error = await failure(api.createLink(REQUEST));
    expect([error.code, error.exit]).toEqual(["not_reached", 5]);
    expect(error.message).toBe("The service was not reached: http://127.0.0.1:1: connection refused.");
    expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([250, 500, 1000]);
  });

  it("if the host name does not exist", async () => {
    const { api, waits } = apiAt("https://service.invalid");
    expect(await failure(api.createLink(REQUEST))).toMatchObject({
      code: "not_reached",
      message: expect.stringMatching(/: the host name is unknown\.$/),
    });
    expect(waits).toHaveLength(3);
  });

  it("but not if the server does not speak TLS, which waiting does not change", async () => {
    const server = await rawServer(
      () => undefined,
      (socket) => socket.end("220 mail.example ESMTP\r\n"),
    );
    const { api, waits } = apiAt(server.url.replace("http:", "https:"));
    const error = await failure(api.createLink(REQUEST));
    expect(error.code).toBe("not_reached");
    expect(waits).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  it.each([429, 503])("after %i, as long as the service asks, and then succeeds", async (status) => {
    const server = await rawServer((socket, count) =>
      count < 3 ? reply(status, MAINTENANCE, { "Retry-After": "7" })(socket) : reply(200, ANSWER)(socket),
    );
    const { api, waits } = apiAt(server.url);
    expect((await api.createLink(REQUEST)).link.id).toBe("L1");
    expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([7000, 7000]);
  });

  it("after a date, too", async () => {
    const later = { "Retry-After": "Sat, 21 Nov 2026 10:00:20 GMT" };
    const server = await rawServer((socket, count) =>
      count === 1 ? reply(503, MAINTENANCE, later)(socket) : reply(200, ANSWER)(socket),
    );
    const { api, waits } = apiAt(server.url);
    await api.createLink(REQUEST);
    expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([20_000]);
  });

  it("after a date by the service's clock, not by a wrong one here", async () => {
    const later = { Date: "Sat, 21 Nov 2026 09:00:00 GMT", "Retry-After": "Sat, 21 Nov 2026 09:00:20 GMT" };
    const server = await rawServer((socket, count) =>
      count === 1 ? reply(503, MAINTENANCE, later)(socket) : reply(200, ANSWER)(socket),
    );
    const { api, waits } = apiAt(server.url);
    await api.createLink(REQUEST);
    expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([20_000]);
  });

  it("after a date in the past, as if there were no date, and without mentioning it", async () => {
    const server = await rawServer(reply(429, "", { "Retry-After": "Sat, 21 Nov 2026 09:00:00 GMT" }));
    const { api, waits } = apiAt(server.url);
    const error = await failure(api.createLink(REQUEST));
    expect(error.details).not.toHaveProperty("retryAfter");
    expect(adviceOf(error)).not.toContain("asks you to wait");
    expect(waits.every(({ milliseconds }) => milliseconds > 0)).toBe(true);
  });

  it("three times and no more", async () => {
    const server = await rawServer(reply(503, MAINTENANCE));
    const error = await failure(apiAt(server.url).api.createLink(REQUEST));
    expect([error.code, error.exit]).toEqual(["overloaded", 5]);
    expect(server.requests).toHaveLength(4);
  });

  it("not at all if the wait would be too long", async () => {
    const server = await rawServer(reply(429, "", { "Retry-After": "3600" }));
    const { api, waits } = apiAt(server.url);
    const { code, details } = await failure(api.createLink(REQUEST));
    expect({ code, ...details }).toMatchObject({ code: "overloaded", retryAfter: 3_600_000 });
    expect(waits).toEqual([]);
  });

  it("after a gateway's 503 if it changes nothing", async () => {
    const server = await rawServer((socket, count) =>
      count === 1 ? reply(503, "<html></html>")(socket) : reply(200, ANSWER)(socket),
    );
    expect((await apiAt(server.url).api.showLink("L1")).link.id).toBe("L1");
  });

  it.each([401, 403])("once with another token after a %i", async (status) => {
    const server = await rawServer((socket, count) =>
      count === 1 ? reply(status, "")(socket) : reply(200, ANSWER)(socket),
    );
    const tokens = { current: async () => "old-token", renew: async () => "new-token" };
    await apiAt(server.url, { tokens }).api.createLink(REQUEST);
    expect(server.requests.map(bearer)).toEqual(["old-token", "new-token"]);
  });

  it("only once with another token", async () => {
    const server = await rawServer(reply(401, ""));
    const tokens = { current: async () => "old-token", renew: async () => "new-token" };
    expect((await failure(apiAt(server.url, { tokens }).api.createLink(REQUEST))).code).toBe("unauthorized");
    expect(server.requests).toHaveLength(2);
  });
});

const bearer = (request: RawServer["requests"][number]): string | undefined =>
  /\r\nauthorization: Bearer (\S+)/i.exec(request)?.[1];
