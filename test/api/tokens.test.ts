/** Access tokens by client credentials, from a real token endpoint: obtained, shared, renewed in time, and refused. */
import { describe, expect, it, onTestFinished } from "vitest";
import { tokensByCredentials, fixedToken, tokenExpiry, type AccessToken } from "../../src/api/tokens.ts";
import { PaylinkError } from "../../src/domain/errors.ts";
import { createSender } from "../../src/http/send.ts";
import { rawServer, reply } from "../support/raw-server.ts";

const START = Date.parse("2026-11-21T10:00:00Z");
const SECRET = "s3cret/with+odd:characters";

function tokensAt(tokenUrl: string, kept?: AccessToken) {
  const sender = createSender({
    httpsProxy: undefined,
    noProxy: undefined,
    nodeVersion: process.versions.node,
  });
  onTestFinished(() => sender.close());
  const clock = { now: START };
  const keptTokens: AccessToken[] = [];
  const tokens = tokensByCredentials({
    credentials: { tokenUrl, clientId: "shop", clientSecret: SECRET },
    send: sender.send,
    now: () => new Date(clock.now),
    timeout: 5000,
    kept,
    keep: async (token) => void keptTokens.push(token),
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

async function failure(action: Promise<unknown>): Promise<PaylinkError> {
  const error: unknown = await action.catch((thrown: unknown) => thrown);
  if (error instanceof PaylinkError) return error;
  throw new Error(`no failure: ${String(error)}`);
}

describe("client credentials", () => {
  it("are sent as RFC 6749 2.3.1 and 4.4.2 say", async () => {
    const server = await issuing();
    const { tokens, keptTokens } = tokensAt(`${server.url}/oauth/token`);
    expect(await tokens.current()).toBe("token-1");
    const [request = ""] = server.requests;
    expect(request).toMatch(/^POST \/oauth\/token HTTP/);
    expect(request).toMatch(/\r\n\r\ngrant_type=client_credentials$/);
    const [, basic = ""] = /authorization: Basic (\S+)/i.exec(request) ?? [];
    const [id, secret] = Buffer.from(basic, "base64").toString().split(":");
    expect([id, decodeURIComponent((secret ?? "").replaceAll("+", " "))]).toEqual(["shop", SECRET]);
    expect(keptTokens).toEqual([{ token: "token-1", expires: "2026-11-21T11:00:00.000Z" }]);
  });

  it("obtain one token for as long as it lasts, and another before it expires", async () => {
    const server = await issuing();
    const { tokens, clock } = tokensAt(server.url);
    expect(await Promise.all([tokens.current(), tokens.current()])).toEqual(["token-1", "token-1"]);
    clock.now += 3_500_000;
    expect(await tokens.current()).toBe("token-1");
    clock.now += 80_000;
    expect(await tokens.current()).toBe("token-2");
    expect(server.requests).toHaveLength(2);
  });

  it("use the token of an earlier run while it lasts", async () => {
    const server = await issuing();
    const kept = { token: "kept", expires: new Date(START + 60_000).toISOString() };
    expect(await tokensAt(server.url, kept).tokens.current()).toBe("kept");
    const stale = { token: "kept", expires: new Date(START + 5000).toISOString() };
    expect(await tokensAt(server.url, stale).tokens.current()).toBe("token-1");
  });

  it.each<[string, Parameters<typeof reply>, string, number]>([
    ["refused", [401, '{"error":"invalid_client","error_description":"wrong secret"}'], "unauthorized", 3],
    ["not supported", [400, '{"error":"unsupported_grant_type"}'], "unauthorized", 3],
    ["a page", [200, "<h1>", { "Content-Type": "text/html" }], "not_reached", 5],
    ["without a token", [200, "{}"], "not_reached", 5],
    ["a fault", [500, ""], "not_reached", 5],
    ["a token no header can hold", [200, '{"access_token":"a b","token_type":"Bearer"}'], "no_token", 3],
  ])("fail where the answer is %s, and never say the secret", async (_, answer, code, exit) => {
    const server = await rawServer(reply(...answer));
    const error = await failure(tokensAt(server.url).tokens.current());
    expect([error.code, error.exit]).toEqual([code, exit]);
    expect(`${error.message} ${error.hint ?? ""} ${JSON.stringify(error.details)}`).not.toContain(SECRET);
  });

  it("are sent only over https", async () => {
    expect((await failure(tokensAt("http://service.example/token").tokens.current())).code).toBe("usage");
  });
});

describe("a token that was given", () => {
  it("loses the white space around it, and has nothing to renew it", async () => {
    const tokens = fixedToken(" token-1\n");
    expect(await tokens.current()).toBe("token-1");
    expect(await tokens.renew()).toBeUndefined();
  });

  it.each(["two words", "line\nbreak", "", "ümlaut"])("is refused as %j, without being repeated", (token) => {
    expect(() => fixedToken(token)).toThrow(PaylinkError);
  });

  it("tells its expiry where it is a JWT", () => {
    const payload = Buffer.from('{"exp":1764000000}').toString("base64url");
    expect(tokenExpiry(`e30.${payload}.sig`)).toEqual(new Date(1_764_000_000_000));
    expect(tokenExpiry("opaque")).toBeUndefined();
    expect(tokenExpiry("a.bnVsbA.c")).toBeUndefined();
  });
});
