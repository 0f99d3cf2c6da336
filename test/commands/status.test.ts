/** `paylink status`, in process: each part of an account, what is wrong with it, and what to do about it. */
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CheckState } from "../../src/service/checks.ts";
import { SendError } from "../../src/http/exchange.ts";
import { ACCOUNT, answering } from "../support/account.ts";
import { selfSigned } from "../support/certificate.ts";
import { runCommand, type CommandOptions } from "../support/context.ts";
import { CLIENT, startDocumentedService } from "../support/documented-service.ts";
import { temporaryHome } from "../support/home.ts";
import { KEYS } from "../support/keys.ts";
import { rawServer, reply } from "../support/raw-server.ts";
import { openSender } from "../support/sender.ts";

interface ShownCheck {
  readonly check: string;
  readonly state: CheckState;
  readonly detail: string;
  readonly remedy: string | null;
}

async function statusOf(options: CommandOptions) {
  const { exit, stdout, stderr } = await runCommand(["status", "--json"], options);
  const { checks } = JSON.parse(stdout) as { checks: readonly ShownCheck[] };
  const find = (name: string): ShownCheck => {
    const found = checks.find(({ check }) => check === name);
    if (found === undefined) throw new Error(`there is no check ${name}`);
    return found;
  };
  return { exit, stderr, find, checks };
}

it("names the mistyped setting that an account lacks", async () => {
  const home = temporaryHome();
  const profiles = { shop: { baseURL: "https://api.shop.example" } };
  writeFileSync(join(home, "settings.json"), JSON.stringify({ current: "shop", profiles }));
  const { exit, stderr } = await runCommand(["status"], { home });
  expect(exit).toBe(3);
  expect(stderr).toContain("profiles.shop.baseURL (did you mean baseUrl?)");
  expect(stderr).toContain("No account configured.");
});

/** An account at the documented service, stored without being checked. */
async function account(...settings: readonly (readonly [key: string, value: string])[]) {
  const service = await startDocumentedService();
  const home = temporaryHome();
  await runCommand(["login", ...service.login, "--no-check"], { home, stdin: CLIENT.secret });
  for (const [key, value] of settings) expect((await set(home, key, value)).exit).toBe(0);
  return { home, service };
}

const set = (home: string, key: string, value: string) =>
  runCommand(["config", "set", key, value, "--no-check"], { home });

/** As a login that checks nothing stores it: `config set` forgets the secrets that another address must not get. */
const logInAt = (
  home: string,
  loginWith: (...flags: readonly string[]) => readonly string[],
  ...flags: string[]
) => runCommand(["login", ...loginWith(...flags), "--no-check", "--yes"], { home, stdin: CLIENT.secret });

const flagOf = (key: string): string => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

describe("paylink status", () => {
  it("shows every check in order, and ends with 0 if there are only warnings", async () => {
    const { home } = await account();
    const { exit, checks, stderr } = await statusOf({ home });
    expect(checks.map(({ check, state }) => `${check}: ${state}`)).toEqual([
      "settings file: ok",
      "token endpoint: ok",
      "token: ok",
      "links endpoint: ok",
      "transaction address: skipped",
      "webhook key: skipped",
      "callback addresses: warning",
      "public URL: skipped",
      "event store: ok",
    ]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    const { stdout } = await runCommand(["status"], { home });
    expect(stdout).toMatch(/^✓ token endpoint {7}http:\S+ gave an access token$/m);
    expect(stdout).toMatch(/^! callback addresses .*\n +paylink config set callbackUrl <url>$/m);
    expect(stdout).toMatch(/^– public URL /m);
  });

  it("warns of secrets that others may read", async () => {
    const { home } = await account();
    const path = join(home, "settings.json");
    chmodSync(path, 0o644);
    const { exit, find } = await statusOf({ home });
    expect(exit).toBe(0);
    expect(find("settings file")).toMatchObject({
      state: "warning",
      detail: expect.stringContaining("Other users of this machine may read the secrets in it"),
      remedy: `Allow only yourself: chmod 600 ${path}`,
    });
  });

  it("names a damaged settings file before any other problem", async () => {
    const home = temporaryHome();
    writeFileSync(join(home, "settings.json"), "{ no JSON");
    const { exit, checks } = await statusOf({ home });
    expect(exit).toBe(2);
    expect(checks.map(({ state }) => state)).toEqual([
      "failed",
      ...Array.from({ length: 8 }, () => "skipped"),
    ]);
    expect(checks[0]).toMatchObject({
      check: "settings file",
      detail: expect.stringContaining("settings.json is damaged"),
      remedy: expect.stringContaining("move it away to start with new settings"),
    });
    writeFileSync(join(home, "settings.json"), '{"profiles":{"shop":{"currency":"EURO"}}}');
    const { stdout } = await runCommand(["status"], { home });
    expect(stdout.replace(/\s+/g, " ")).toMatch(
      /^✗ settings file .* holds invalid values\. profiles\.shop\.currency must be/,
    );
  });

  it.each([
    ["tokenUrl", "URL/token", "token endpoint", 3, "Page not found", "set tokenUrl <url>"],
    ["tokenUrl", "http://127.0.0.1:1/", "token endpoint", 5, "not reached", "set tokenUrl <url>"],
    ["tokenScope", "links", "token endpoint", 3, "Unknown scope", "set tokenScope <scope>"],
    ["tokenAuth", "basic", "token endpoint", 3, "Bad client", "login --client-id"],
    ["clientId", "x", "token endpoint", 3, "Bad client", "login --client-id"],
    ["terminalId", "8", "links endpoint", 3, "is not yours", "set terminalId <id>"],
    ["baseUrl", "URL/shop", "links endpoint", 4, "Page not found", "set baseUrl <url>"],
    ["webhookKey", "no.pem", "webhook key", 2, "no such file", "set webhookKey <file or URL>"],
  ])("names a wrong %s, %s, and its remedy, as login does without storing anything", async (...problem) => {
    const [key, typed, check, code, words, remedy] = problem;
    const { home, service } = await account();
    const value = typed.replace("URL", service.url);
    if (key.endsWith("Url")) await logInAt(home, service.loginWith, flagOf(key), value);
    else await set(home, key, value);
    const { exit, find, stderr } = await statusOf({ home });
    const { state, detail, remedy: shown } = find(check);
    expect({ exit, state }).toEqual({ exit: code, state: "failed" });
    expect(detail).toContain(words);
    expect(shown).toContain(remedy);
    expect(JSON.parse(stderr)).toMatchObject({ error: { message: detail } });
    const login = await runCommand(["login", ...service.loginWith(flagOf(key), value)], {
      stdin: CLIENT.secret,
    });
    expect(login).toMatchObject({ exit: code, stdout: "" });
    for (const part of [
      "The account does not work. Nothing was stored.",
      words,
      remedy.replace(`set ${key}`, flagOf(key)),
    ])
      expect(login.stderr).toContain(part);
    expect(existsSync(join(login.home, "settings.json"))).toBe(false);
  });

  it("names an HTML page at the address", async () => {
    const page = await rawServer(
      reply(200, "<html><title>Shop</title></html>", { "Content-Type": "text/html" }),
    );
    const { exit, find } = await statusOf({ env: { ...ACCOUNT, PAYLINK_BASE_URL: page.url } });
    expect(find("links endpoint")).toMatchObject({
      state: "failed",
      detail: expect.stringContaining('an HTML page with the title "Shop"'),
      remedy: "Check the address of the service: PAYLINK_BASE_URL",
    });
    expect(exit).toBe(5);
  });

  it("describes a key, and names an expired certificate", async () => {
    const { home } = await account([
      "webhookKey",
      selfSigned(temporaryHome(), "service", KEYS.privatePem).cert,
    ]);
    const { exit, find } = await statusOf({ home });
    expect(exit).toBe(0);
    expect(find("webhook key").detail).toMatch(/rsa 2048 bits, certificate valid until \d{4}-\d\d-\d\d/i);
    const later = new Date(Date.now() + 3 * 86_400_000);
    const expired = await statusOf({ home, now: () => later });
    expect(expired.find("webhook key")).toMatchObject({
      state: "warning",
      detail: expect.stringContaining("the certificate is valid from"),
      remedy: expect.stringContaining("Get the public key from the service"),
    });
    expect(expired.exit).toBe(0);
  });

  it("warns of a source of keys that cannot be read beside one that can", async () => {
    const folder = temporaryHome();
    writeFileSync(join(folder, "service.pem"), KEYS.publicPem);
    const sources = ["service.pem", "gone.pem"].map((name) => join(folder, name));
    const { home } = await account();
    expect(
      await runCommand(["config", "set", "webhookKey", ...sources, "--no-check"], { home }),
    ).toMatchObject({ exit: 0 });
    const { exit, checks } = await statusOf({ home });
    expect(checks.filter(({ check }) => check === "webhook key")).toMatchObject([
      { state: "ok" },
      { state: "warning", detail: expect.stringMatching(/gone\.pem: no such file.*answers .* with 503/) },
    ]);
    expect(exit).toBe(0);
  });

  it("warns of a missing key if webhooks have an address", async () => {
    const { home } = await account(["callbackUrl", "https://shop.example/hook"]);
    expect((await statusOf({ home })).find("webhook key")).toMatchObject({ state: "warning" });
  });

  it.each([
    ["http://127.0.0.1:4000/", "https://api.dnapayments.com", "an address of this machine"],
    ["http://shop.example/", "https://api.dnapayments.com", "is not https"],
    // The service itself is on this machine.
    ["http://127.0.0.1:4000/", undefined, undefined],
    ["https://shop.example/", undefined, undefined],
  ])("judges the callback %s at %s", async (callback, baseUrl, problem) => {
    const { home, service } = await account(["callbackUrl", callback]);
    if (baseUrl !== undefined) await logInAt(home, service.loginWith, "--base-url", baseUrl);
    const send = openSender();
    const { find, exit } = await statusOf({
      home,
      // The live service's name leads to the test service.
      send: (request, options) =>
        send({ ...request, scheme: "http", authority: new URL(service.url).host }, options),
    });
    expect(exit).toBe(0);
    expect(find("callback addresses")).toMatchObject(
      problem === undefined
        ? { state: "ok" }
        : {
            state: "warning",
            detail: expect.stringContaining(problem),
            remedy: expect.stringContaining("callbackUrl"),
          },
    );
  });

  it.each<[number, string, number, CheckState, CheckState]>([
    [200, '{"records":[]}', 0, "ok", "ok"],
    [200, "{}", 5, "skipped", "failed"],
    [401, "", 3, "failed", "skipped"],
    [403, "", 3, "skipped", "failed"],
    [404, "{}", 4, "skipped", "failed"],
    [422, "{}", 4, "skipped", "failed"],
    [500, "", 5, "skipped", "failed"],
  ])("after a %i with %j ends with %i", async (status, body, exit, token, links) => {
    const found = await statusOf(answering(status, body));
    expect([found.find("token").state, found.find("links endpoint").state]).toEqual([token, links]);
    expect(found.exit).toBe(exit);
    expect(found.stderr === "").toBe(exit === 0);
  });

  it.each([
    [403, "<!-- waf --><html><head><title>Just a moment...</title></head></html>"],
    [401, "<!DOCTYPE html><title>Proxy login</title>"],
  ])("does not judge the account by the page of something in between: %i", async (status, page) => {
    const server = await rawServer(reply(status, page, { "Content-Type": "text/html", Server: "edge" }));
    const { exit, find } = await statusOf({ env: { ...ACCOUNT, PAYLINK_BASE_URL: server.url } });
    expect(exit).toBe(3);
    expect(find("token").state).toBe("skipped");
    const { detail, remedy } = find("links endpoint");
    expect(detail).toMatch(
      /^Not the service, but something in between answered 40[13]: an HTML page with the title "(?:Just a moment\.\.\.|Proxy login)", from the server "edge"\.$/,
    );
    expect(remedy).not.toMatch(/login|terminalId|tokenScope/);
  });

  it("names the target of a redirect", async () => {
    const server = await rawServer(reply(308, "", { Location: "https://api.shop.example/v1/payment-links" }));
    const { exit, find } = await statusOf({ env: { ...ACCOUNT, PAYLINK_BASE_URL: server.url } });
    expect(exit).toBe(4);
    expect(find("links endpoint").detail).toContain("https://api.shop.example/v1/payment-links");
  });

  it("says what was not reached, and checks the rest", async () => {
    const send = () => Promise.reject(new SendError("refused", false));
    const { exit, find } = await statusOf({ env: ACCOUNT, send });
    expect(exit).toBe(5);
    expect(find("links endpoint")).toMatchObject({ state: "failed" });
    expect(find("token")).toMatchObject({ state: "skipped" });
    expect(find("event store")).toMatchObject({ state: "ok" });
  });

  it("does not ask the service without a token", async () => {
    const env = { PAYLINK_BASE_URL: ACCOUNT.PAYLINK_BASE_URL };
    const { exit, find } = await statusOf({ ...answering(404), env });
    expect(exit).toBe(3);
    expect(find("token")).toMatchObject({
      state: "failed",
      remedy: expect.stringContaining("paylink login"),
    });
    expect(find("links endpoint")).toMatchObject({ state: "skipped" });
  });

  it("needs an account", async () => {
    const run = await runCommand(["status"]);
    expect(run).toMatchObject({ exit: 3, stdout: "" });
    expect(run.stderr).toContain("No account configured.");
  });
});
