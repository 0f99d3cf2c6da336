/** A secret goes only where it was stored for: two profiles, two real servers, and what each of them is sent. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand } from "../support/context.ts";
import { fixedAnswers } from "../support/fixed-answers.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { rawServer, reply } from "../support/raw-server.ts";

const LIST = ["links", "list"];
const TERMINAL = { terminalId: "1", currency: "EUR", customerName: "Ada" };

/** Gives tokens and empty lists of links. */
const service = (token = "obtained") =>
  rawServer((socket) =>
    reply(200, JSON.stringify({ access_token: token, expires_in: 3600, records: [] }))(socket),
  );

/** A home with a token in `shop`, which is current, and client credentials in `store`, and a server that neither belongs to. */
async function twoAccounts() {
  const [own, other] = [await service(), await service()];
  const home = temporaryHome();
  const credentials = { clientId: "id", clientSecret: "stored-secret", tokenUrl: `${own.url}/token` };
  storeProfiles(home, {
    shop: { ...TERMINAL, baseUrl: own.url, token: "stored-token" },
    store: { ...TERMINAL, baseUrl: own.url, ...credentials },
  });
  return { home, own, other };
}

const sentTo = ({ requests }: { readonly requests: readonly string[] }): string => requests.join("\n");

it.each([
  ["the stored token", {}],
  ["the client secret", { PAYLINK_PROFILE: "store" }],
])("does not send %s to an address of the environment", async (_, env) => {
  const { home, own, other } = await twoAccounts();
  for (const args of [
    LIST,
    ["links", "show", "a"],
    ["create", "--amount", "1"],
    ["transaction", "a"],
    ["status"],
  ]) {
    const run = await runCommand([...args, "--json"], { home, env: { ...env, PAYLINK_BASE_URL: other.url } });
    expect(run).toMatchObject({ exit: 3 });
    const text = args[0] === "status" ? run.stdout : run.stderr;
    for (const part of [own.url, other.url, "PAYLINK_BASE_URL"]) expect(text).toContain(part);
  }
  expect(sentTo(other)).toBe("");
  expect(sentTo(own)).toBe("");
});

it("does not send a token obtained earlier, nor the secret to another token URL", async () => {
  const { home, own, other } = await twoAccounts();
  expect(await runCommand(LIST, { home, env: { PAYLINK_PROFILE: "store" } })).toMatchObject({ exit: 0 });
  expect(sentTo(own)).toContain("stored-secret");
  const before = sentTo(own);
  for (const env of [{ PAYLINK_BASE_URL: other.url }, { PAYLINK_TOKEN_URL: `${other.url}/token` }]) {
    const run = await runCommand(LIST, { home, env: { PAYLINK_PROFILE: "store", ...env } });
    expect(run.exit).toBe(3);
    expect(run.stderr.replace(/\s+/g, " ")).toMatch(
      /^✗ The client secret of profile store was stored for http:/,
    );
  }
  expect(sentTo(other)).toBe("");
  expect(sentTo(own)).toBe(before);
});

describe("a job whose variables say nothing", () => {
  it.each([
    ["PAYLINK_TOKEN", { PAYLINK_TOKEN: "" }],
    ["PAYLINK_CLIENT_SECRET", { PAYLINK_CLIENT_SECRET: " " }],
    ["PAYLINK_BASE_URL and PAYLINK_TOKEN", { PAYLINK_BASE_URL: "", PAYLINK_TOKEN: "\n" }],
    ["PAYLINK_BASE_URL", { PAYLINK_BASE_URL: "", PAYLINK_TOKEN: "of-the-job" }],
    ["PAYLINK_PROFILE", { PAYLINK_PROFILE: "" }],
  ])("does not use the current profile instead: %s", async (names, env) => {
    const { home, own } = await twoAccounts();
    for (const args of [LIST, ["create", "--amount", "1"], ["status"]]) {
      const run = await runCommand(args, { home, env });
      expect(run.exit).toBe(3);
      const text = (run.stdout + run.stderr).replace(/\s+/g, " ");
      expect(text).toContain(`${names} ${names.includes(" and ") ? "are" : "is"} set, but empty.`);
      expect(text).toContain(`unset ${names}, or name the profile: --profile shop`);
    }
    expect(sentTo(own)).toBe("");
  });

  it.each([
    [
      "PAYLINK_BASEURL",
      "PAYLINK_BASE_URL",
      { PAYLINK_BASEURL: "https://test.example", PAYLINK_TOKEN: "of-the-job" },
    ],
    ["PAYLINK_TOKNE", "PAYLINK_TOKEN", { PAYLINK_TOKNE: "of-the-job" }],
    ["paylink_profile", "PAYLINK_PROFILE", { paylink_profile: "store" }],
  ])("does not use it in the place of a misspelled variable either: %s", async (name, meant, env) => {
    const { home, own } = await twoAccounts();
    const run = await runCommand(["create", "--amount", "1"], { home, env });
    expect(run.exit).toBe(3);
    expect(run.stderr.replace(/\s+/g, " ")).toContain(
      `${name} is not a variable of paylink. Did you mean ${meant}? The account of the current profile, shop, is not used instead.`,
    );
    expect(run.stderr).not.toContain("of-the-job");
    expect(sentTo(own)).toBe("");
  });

  it("does not mind variables of other programs", async () => {
    const { home } = await twoAccounts();
    const env = {
      PAYLINK_WEBHOOK_KEY_FILE: "key.pem",
      PAYLINK_TIMEOUT: "5",
      PAYLINK_URL: "x",
      PAYLINK_TOKEN_B: "1",
    };
    expect(await runCommand(LIST, { home, env })).toMatchObject({ exit: 0 });
  });

  it("uses the profile that it names, and one that is known to be for tests", async () => {
    const { home, own } = await twoAccounts();
    const env = { PAYLINK_TOKEN: "", PAYLINK_BASE_URL: "" };
    expect(await runCommand([...LIST, "-p", "shop"], { home, env })).toMatchObject({ exit: 0 });
    const named = { ...env, PAYLINK_PROFILE: "shop" };
    expect(await runCommand(LIST, { home, env: named })).toMatchObject({ exit: 0 });
    const sandbox = temporaryHome();
    storeProfiles(sandbox, { sandbox: { ...TERMINAL, baseUrl: own.url, token: "sandbox-token" } });
    expect(await runCommand(LIST, { home: sandbox, env })).toMatchObject({ exit: 0 });
  });
});

it("sends a secret from the environment to an address from the environment, and never to the profile's", async () => {
  const { home, own, other } = await twoAccounts();
  const token = { PAYLINK_BASE_URL: other.url, PAYLINK_TOKEN: "env-token" };
  const listed = await runCommand(LIST, { home, env: token });
  expect(listed.exit).toBe(0);
  expect(listed.stderr).toContain("· LOCAL · address from PAYLINK_BASE_URL · token from PAYLINK_TOKEN\n");
  const credentials = { PAYLINK_CLIENT_ID: "id", PAYLINK_CLIENT_SECRET: "env-secret" };
  const incomplete = { PAYLINK_PROFILE: "store", PAYLINK_BASE_URL: other.url, ...credentials };
  // The stored token URL belongs to another account.
  const { exit, stderr } = await runCommand(LIST, { home, env: incomplete });
  expect(exit).toBe(3);
  expect(stderr).toContain("client credentials for the service, but no PAYLINK_TOKEN_URL. Nothing was sent.");
  const whole = { ...incomplete, PAYLINK_TOKEN_URL: `${other.url}/token` };
  expect(await runCommand(LIST, { home, env: whole })).toMatchObject({ exit: 0 });
  expect(sentTo(other)).toContain("env-secret");
  expect(sentTo(other)).not.toContain("stored");
  expect(sentTo(own)).toBe("");
});

it("sends no secret from the environment to a stored transaction URL of another service", async () => {
  const [own, other] = [await service(), await service()];
  const home = temporaryHome();
  storeProfiles(home, {
    shop: { ...TERMINAL, baseUrl: own.url, token: "t", transactionUrl: `${own.url}/t/{uti}` },
  });
  const env = { PAYLINK_BASE_URL: other.url, PAYLINK_TOKEN: "env-token" };
  await runCommand(["transaction", "a"], { home, env });
  expect(sentTo(other)).toMatch(/^GET \/v1\/transactions\/a .*Bearer env-token/s);
  expect(sentTo(own)).toBe("");
});

it("sends PAYLINK_TOKEN alone to the address of the profile, and says so", async () => {
  const { home, own } = await twoAccounts();
  for (const profile of ["shop", "store"]) {
    const run = await runCommand(LIST, {
      home,
      env: { PAYLINK_TOKEN: "env-token", PAYLINK_PROFILE: profile },
    });
    expect(run.exit).toBe(0);
    expect(run.stderr).toMatch(
      new RegExp(`profile ${profile} · 127.0.0.1:\\d+ · LOCAL · token from PAYLINK_TOKEN\\n`),
    );
  }
  expect(sentTo(own)).not.toContain("stored");
  const status = await runCommand(["status", "--json"], { home, env: { PAYLINK_TOKEN: "env-token" } });
  expect(status.stdout).toContain("token from PAYLINK_TOKEN");
});

it("uses the same origin as stored, whatever the path", async () => {
  const { home, own } = await twoAccounts();
  const env = { PAYLINK_BASE_URL: `${own.url}/gateway/` };
  expect(await runCommand(LIST, { home, env })).toMatchObject({ exit: 0 });
  expect(sentTo(own)).toMatch(/^GET \/gateway\/v1\/.*Bearer stored-token/s);
});

it("uses nothing from the environment with a profile that --profile names", async () => {
  const { home, own, other } = await twoAccounts();
  const env = {
    PAYLINK_BASE_URL: other.url,
    PAYLINK_TOKEN_URL: `${other.url}/token`,
    PAYLINK_CLIENT_ID: "id",
    PAYLINK_CLIENT_SECRET: "env-secret",
  };
  const run = await runCommand([...LIST, "-p", "shop"], { home, env });
  expect(run.exit).toBe(0);
  expect(run.stderr).toMatch(/· LOCAL\n/);
  expect(sentTo(own)).toContain("stored-token");
  expect(sentTo(own)).not.toContain("env-secret");
  expect(sentTo(other)).toBe("");
});

it("prefers credentials to a token from the same source, so that an expired token costs no request", async () => {
  const own = await service();
  const home = temporaryHome();
  const env = {
    PAYLINK_BASE_URL: own.url,
    PAYLINK_TOKEN: "ended",
    PAYLINK_TERMINAL_ID: "1",
    PAYLINK_CLIENT_ID: "id",
    PAYLINK_CLIENT_SECRET: "secret",
    PAYLINK_TOKEN_URL: `${own.url}/token`,
  };
  expect(await runCommand(LIST, { home, env })).toMatchObject({ exit: 0 });
  expect(own.requests).toHaveLength(2);
  expect(sentTo(own)).not.toContain("ended");
});

it.each([
  ["a body", '{"error":"invalid_token"}', ""],
  ["a header", "", 'WWW-Authenticate: Bearer realm="x", error="invalid_token"\r\n'],
])(
  "renews a token that is refused with 400 and invalid_token in %s, and exits 3 without one",
  async (_, body, header) => {
    const refusal = `HTTP/1.1 400 Bad Request\r\n${header}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
    const own = await rawServer((socket, count) =>
      count === 1
        ? void socket.end(refusal)
        : reply(200, JSON.stringify({ access_token: "new", expires_in: 3600, records: [] }))(socket),
    );
    const home = temporaryHome();
    const tokenUrl = `${own.url}/token`;
    const credentials = { clientId: "id", clientSecret: "s", tokenUrl };
    storeProfiles(home, { store: { ...TERMINAL, baseUrl: own.url, ...credentials } });
    mkdirSync(join(home, "tokens"));
    const kept = { tokenUrl, clientId: "id", token: "ended" };
    writeFileSync(join(home, "tokens", "store.json"), JSON.stringify(kept));
    expect(await runCommand(LIST, { home })).toMatchObject({ exit: 0 });
    expect(sentTo(own)).toMatch(/Bearer ended.*Bearer new/s);
    const always = await rawServer((socket) => void socket.end(refusal));
    const env = { PAYLINK_BASE_URL: always.url, PAYLINK_TOKEN: "t", PAYLINK_TERMINAL_ID: "1" };
    expect(await runCommand(LIST, { home: temporaryHome(), env })).toMatchObject({ exit: 3 });
  },
);

describe("a change by which a stored secret would go to another address", () => {
  const profilesIn = (home: string): Record<string, Record<string, unknown>> =>
    JSON.parse(readFileSync(join(home, "settings.json"), "utf8")).profiles;

  it.each([
    ["baseUrl", "shop", "", "token"],
    ["baseUrl", "store", "", "clientSecret"],
    ["tokenUrl", "store", "/token", "clientSecret"],
    ["transactionUrl", "shop", "/t/{uti}", "token"],
  ])("config set %s of %s needs --yes, and deletes the secret", async (key, profile, path, secret) => {
    const { home, other } = await twoAccounts();
    // A token that credentials obtained is stored beside them.
    await runCommand([...LIST, "-p", profile], { home });
    const before = profilesIn(home);
    const set = ["config", "set", key, `${other.url}${path}`, "-p", profile];
    const refused = await runCommand(set, { home });
    expect(refused).toMatchObject({ exit: 2, stdout: "" });
    for (const part of ["Nothing was stored.", "--yes", other.url]) expect(refused.stderr).toContain(part);
    const no = await runCommand(set, { home, ask: fixedAnswers({ confirm: false }).ask });
    expect(no).toMatchObject({ exit: 0, stdout: "" });
    expect(no.stderr).toContain("Nothing was done.");
    expect(profilesIn(home)).toEqual(before);
    const changed = await runCommand([...set, "--yes", "--json"], { home });
    expect(changed.exit).toBe(0);
    expect(JSON.parse(changed.stdout)).toMatchObject({ key, forgotten: [secret] });
    expect(profilesIn(home)[profile]).not.toHaveProperty(secret);
    for (const args of [LIST, ["transaction", "a"]])
      expect(await runCommand([...args, "-p", profile], { home })).toMatchObject({ exit: 3 });
    expect(sentTo(other)).toBe("");
  });

  it("is also a change of the service, and of an address by config unset", async () => {
    const { home } = await twoAccounts();
    storeProfiles(home, {
      shop: { ...TERMINAL, service: "dna-test", token: "t", baseUrl: "http://127.0.0.1:1" },
    });
    expect(await runCommand(["config", "unset", "baseUrl"], { home })).toMatchObject({ exit: 2 });
    expect(await runCommand(["config", "set", "service", "dna"], { home })).toMatchObject({ exit: 2 });
    const unset = await runCommand(["config", "unset", "baseUrl"], { home, ask: fixedAnswers().ask });
    expect(unset).toMatchObject({ exit: 0 });
    expect(unset.stdout).toContain("Deleted the access token");
    expect(profilesIn(home)).toEqual({ shop: { ...TERMINAL, service: "dna-test" } });
  });

  it("is not another path of the same address, nor any change without a secret", async () => {
    const { home, own, other } = await twoAccounts();
    const run = await runCommand(["config", "set", "baseUrl", `${own.url}/gateway`], { home });
    expect(run).toMatchObject({ exit: 0, stderr: "" });
    expect(profilesIn(home)["shop"]).toMatchObject({ token: "stored-token" });
    const fresh = ["config", "set", "baseUrl", other.url, "-p", "fresh"];
    expect(await runCommand(fresh, { home })).toMatchObject({ exit: 0 });
  });
});
