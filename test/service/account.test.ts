/** The settings of an account reach its requests: the built program at a service with a token endpoint. */
import { expect, it } from "vitest";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { ANSWER } from "../support/link-request.ts";
import { runPaylink } from "../support/paylink.ts";
import { rawServer, reply } from "../support/raw-server.ts";

const CREATE = [
  "create",
  "--amount",
  "10",
  "--currency",
  "EUR",
  "--customer-name",
  "Ada",
  "--terminal-id",
  "7",
];

it("a token by form fields and scope, a header of its own, an idempotency key, a wrapped link", async () => {
  const home = temporaryHome();
  const server = await rawServer((socket, count) =>
    (count === 1
      ? reply(201, '{"access_token":"t*k$n","token_type":"bearer"}')
      : reply(200, `{"data":${ANSWER}}`))(socket),
  );
  const settings = {
    baseUrl: server.url,
    tokenUrl: `${server.url}/token`,
    tokenAuth: "post",
    tokenScope: "pay_by_link",
    tokenParams: "audience=links&api_key=hidden-param",
    clientId: "shop",
    linksPath: "/links",
    authHeader: "X-Auth: Token {token}",
    "headers.X-Api-Key": "hidden-header",
    idempotencyHeader: "Idempotency-Key",
    linkAt: "/data",
  };
  for (const [key, value] of Object.entries(settings))
    expect(await runCommand(["config", "set", key, value], { home })).toMatchObject({ exit: 0 });
  const env = { PAYLINK_CLIENT_SECRET: "hidden-secret" };
  const run = await runPaylink([...CREATE, "--json", "--debug"], { home, env });
  expect(run).toMatchObject({ code: 0, stdout: `{"data":${ANSWER}}\n` });
  const [token = "", create = ""] = server.requests;
  const form = new URLSearchParams(token.split("\r\n\r\n")[1]);
  expect(Object.fromEntries(form)).toEqual({
    grant_type: "client_credentials",
    scope: "pay_by_link",
    client_id: "shop",
    client_secret: "hidden-secret",
    audience: "links",
    api_key: "hidden-param",
  });
  expect(token).not.toContain("hidden-header");
  expect(create).toMatch(/^POST \/links HTTP/);
  expect(create).toContain("\r\nX-Auth: Token t*k$n\r\n");
  expect(create).toContain("\r\nX-Api-Key: hidden-header\r\n");
  expect(create).toMatch(/\r\nIdempotency-Key: [0-9a-f-]{36}\r\n/);
  for (const request of server.requests)
    expect(request).toMatch(/\r\nUser-Agent: paylink\/\d+\.\d+\.\d+\r\n/);
  expect(run.stderr).toContain("X-Api-Key: [redacted]");
  expect(run.stderr).toContain("api_key=[redacted]");
  expect(run.stderr).not.toContain("t*k$n");
  expect(`${run.stdout}${run.stderr}`).not.toMatch(/hidden-/);
});
