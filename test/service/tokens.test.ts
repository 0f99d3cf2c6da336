/** Access tokens by client credentials, from a real token endpoint: obtained, shared, renewed in time, and refused. */
import { describe, expect, it } from "vitest";
import { tokensByCredentials, fixedToken, type ClientCredentials } from "../../src/service/tokens.ts";
import type { AccessToken } from "../../src/settings/token-files.ts";
import { PaylinkError } from "../../src/domain/errors.ts";
import { adviceOf, failure } from "../support/failure.ts";
import { rawServer, reply } from "../support/raw-server.ts";
import { openSender } from "../support/sender.ts";

const START = Date.parse("2026-11-21T10:00:00Z");
const SECRET = "s3cret/with+odd:characters";

interface Options {
  readonly kept?: AccessToken;
  readonly credentials?: Partial<ClientCredentials>;
}

function tokensAt(tokenUrl: string, { kept, credentials }: Options = {}) {
  const clock = { now: START };
  const keptTokens: AccessToken[] = [];
  let shared = kept;
  const tokens = tokensByCredentials({
    credentials: {
      tokenUrl,
      clientId: "shop",
      clientSecret: SECRET,
      auth: "basic",
      scope: undefined,
      ...credentials,
    },
    send: openSender(),
    now: () => new Date(clock.now),
    timeout: 5000,
    pause: async () => undefined,
    shared: {
      read: () => shared,
      keep: (token) => {
        shared = token;
        keptTokens.push(token);
      },
      alone: async (work) => work(),
    },
  });
  return { tokens, clock, keptTokens };
}

/** Issues token-1, token-2, …, each for an hour. */
const issuing = () =>
  rawServer((socket, count) =>
    reply(
      200,
      JSON.stringify({ access_token: `token-${count}`, token_type: "Bearer", expires_in: 3600 }),
    )(socket),
  );

describe("client credentials", () => {
  it("are sent as RFC 6749 2.3.1 and 4.4.2 say", async () => {
    const server = await issuing();
    const { tokens, keptTokens } = tokensAt(`${server.url}/oauth2/token`);
    expect(await tokens.current("create")).toBe("token-1");
    const [request = ""] = server.requests;
    expect(request).toMatch(/^POST \/oauth2\/token HTTP/);
    expect(request).toMatch(/\r\n\r\ngrant_type=client_credentials$/);
    const [, basic = ""] = /authorization: Basic (\S+)/i.exec(request) ?? [];
    const [id, secret] = Buffer.from(basic, "base64").toString().split(":");
    expect([id, decodeURIComponent((secret ?? "").replaceAll("+", " "))]).toEqual(["shop", SECRET]);
    expect(keptTokens).toEqual([{ token: "token-1", expires: "2026-11-21T11:00:00.000Z" }]);
  });

  it("obtain one token for as long as it lasts, and another before it expires", async () => {
    const server = await issuing();
    const { tokens, clock } = tokensAt(server.url);
    expect(await Promise.all([tokens.current("create"), tokens.current("create")])).toEqual([
      "token-1",
      "token-1",
    ]);
    clock.now += 3_500_000;
    expect(await tokens.current("create")).toBe("token-1");
    clock.now += 80_000;
    expect(await tokens.current("create")).toBe("token-2");
    expect(server.requests).toHaveLength(2);
  });

  it("renew a token once for all requests that were sent with it", async () => {
    const server = await issuing();
    const { tokens } = tokensAt(server.url);
    const refused = await tokens.current("create");
    expect(await tokens.renew("create", refused)).toBe("token-2");
    expect(await tokens.renew("create", refused)).toBe("token-2");
    expect(await tokens.renew("create", "token-2")).toBe("token-3");
  });

  it("use the token of an earlier run while it lasts", async () => {
    const server = await issuing();
    const kept = { token: "kept", expires: new Date(START + 60_000).toISOString() };
    expect(await tokensAt(server.url, { kept }).tokens.current("create")).toBe("kept");
    const stale = { token: "kept", expires: new Date(START + 5000).toISOString() };
    expect(await tokensAt(server.url, { kept: stale }).tokens.current("create")).toBe("token-1");
  });

  it("are sent in form fields by default, with the scope", async () => {
    const server = await issuing();
    const credentials = { auth: "post", scope: "pay_by_link" } as const;
    await tokensAt(server.url, { credentials }).tokens.current("create");
    const [head = "", sent = ""] = (server.requests[0] ?? "").split("\r\n\r\n");
    expect(head).not.toMatch(/\r\nauthorization:/i);
    expect(head).toContain("\r\nContent-Type: application/x-www-form-urlencoded");
    expect(Object.fromEntries(new URLSearchParams(sent))).toEqual({
      grant_type: "client_credentials",
      scope: "pay_by_link",
      client_id: "shop",
      client_secret: SECRET,
    });
  });

  const html = { "Content-Type": "text/html" };
  const HOUR = "2026-11-21T11:00:00.000Z";

  it.each<[string, number, string, AccessToken]>([
    [
      "an opaque token",
      200,
      '"access_token":"a*b$c~d/e=","expires_in":3600',
      { token: "a*b$c~d/e=", expires: HOUR },
    ],
    ["a status 201", 201, '"access_token":"t","token_type":"Bearer"', { token: "t" }],
    ["a lifetime beyond all dates", 200, '"access_token":"t","expires_in":1e300', { token: "t" }],
    ["a lifetime in words", 200, '"access_token":"t","expires_in":"never"', { token: "t" }],
  ])("take %s", async (_, status, members, token) => {
    const server = await rawServer(reply(status, `{${members}}`));
    const { tokens, keptTokens } = tokensAt(server.url);
    await tokens.current("create");
    expect(keptTokens).toEqual([token]);
  });

  it.each<[string, Parameters<typeof reply>, string]>([
    [
      "a refusal",
      [401, '{"error":"invalid_client","error_description":"wrong secret"}'],
      "answered 401: wrong secret",
    ],
    ["a refusal without words", [400, '{"error":"unsupported_grant_type"}'], "400: unsupported_grant_type"],
    ["a refusal of another shape", [400, '{"code":17,"message":"no such client"}'], "400: no such client"],
    ["an empty refusal", [403, ""], "answered 403."],
    ["an error with status 200", [200, '{"error":"invalid_client"}'], "answered 200: invalid_client"],
    ["JSON without a token", [200, '{"accessToken":"hidden-1"}'], "a body without access_token"],
    [
      "a token as plain text",
      [200, "hidden-1", { "Content-Type": "text/plain" }],
      "a body without access_token",
    ],
    ["a page", [200, "<!doctype html><title>Sign in</title>", html], 'the title "Sign in"'],
    [
      "a refusal that repeats the secret",
      [400, JSON.stringify({ error: "x", error_description: `got ${SECRET.replaceAll("/", "%2F")}` })],
      "an answer that repeats a part of the client secret",
    ],
    [
      "a refusal that repeats the end of the secret, as PHP spells it",
      [400, String.raw`{"error":"x","error_description":"got \/with\u002Bodd"}`],
      "an answer that repeats a part of the client secret",
    ],
    ["nothing there", [404, '{"message":"no route"}'], "answered 404: no route"],
  ])("fail with exit 3 after %s, in the service's words and without secrets", async (_, answer, words) => {
    const server = await rawServer(reply(...answer));
    const error = await failure(tokensAt(server.url).tokens.current("create"));
    expect([error.code, error.exit]).toEqual(["unauthorized", 3]);
    expect(error.message).toContain(words);
    expect(adviceOf(error)).toContain("Nothing was created.");
    expect(error.details["status"]).toBe(answer[0]);
    const shown = `${error.message} ${adviceOf(error)} ${JSON.stringify(error.details)}`;
    expect(shown).not.toContain(SECRET);
    expect(shown).not.toContain("hidden-1");
  });

  it.each<[string, Parameters<typeof reply>, string, number, string]>([
    [
      "a redirect",
      [302, "", { Location: "https://login.example/" }],
      "redirected",
      4,
      "https://login.example/",
    ],
    [
      "a redirect with the secret",
      [302, "", { Location: `https://login.example/?client_secret=${SECRET.replace("/", "%2f")}` }],
      "redirected",
      4,
      "an answer that repeats a part of the client secret",
    ],
    ["a fault", [500, "oops", { "Content-Type": "text/plain" }], "not_reached", 5, "answered 500: oops"],
    ["a gateway's fault", [502, "<html><title>Bad</title></html>", html], "not_reached", 5, "answered 502"],
  ])("do not blame the credentials after %s", async (_, answer, code, exit, words) => {
    const server = await rawServer(reply(...answer));
    const error = await failure(tokensAt(server.url).tokens.current("create"));
    expect([error.code, error.exit]).toEqual([code, exit]);
    expect(error.message).toContain(words);
    expect(adviceOf(error)).toMatch(
      exit === 4 ? /^Nothing was created\. Check the token URL/ : /^Nothing was created\. .*again later/,
    );
  });

  it("leave no doubt that there is no link after a token request without an answer", async () => {
    const server = await rawServer((socket) => socket.destroy());
    const error = await failure(tokensAt(server.url).tokens.current("create"));
    expect(error.code).toBe("not_reached");
    expect(adviceOf(error)).toMatch(/^Nothing was created\./);
  });

  it("keep the code of the service", async () => {
    const server = await rawServer(reply(400, '{"code":17,"message":"no such client"}'));
    expect((await failure(tokensAt(server.url).tokens.current("create"))).details["code"]).toBe("17");
  });

  it("refuse a token that no header can hold", async () => {
    const server = await rawServer(reply(200, '{"access_token":"a b","token_type":"Bearer"}'));
    expect((await failure(tokensAt(server.url).tokens.current("create"))).code).toBe("no_token");
  });

  it("are safe to send again if the token endpoint is overloaded", async () => {
    const server = await rawServer(reply(503, "", { "Retry-After": "7" }));
    const error = await failure(tokensAt(server.url).tokens.current("create"));
    expect([error.code, error.exit]).toEqual(["overloaded", 5]);
    expect(error.details).toMatchObject({ status: 503, retryAfter: 7000 });
  });

  it("are sent only over https", async () => {
    expect((await failure(tokensAt("http://service.example/token").tokens.current("create"))).code).toBe(
      "usage",
    );
  });
});

describe("a token that was given", () => {
  it("is trimmed, and cannot be renewed", async () => {
    const tokens = fixedToken(" token-1\n");
    expect(await tokens.current("create")).toBe("token-1");
    expect(await tokens.renew("create")).toBeUndefined();
  });

  it.each(["two words", "line\nbreak", "", "ümlaut"])("is refused as %j, without being repeated", (token) => {
    expect(() => fixedToken(token)).toThrow(PaylinkError);
  });
});
