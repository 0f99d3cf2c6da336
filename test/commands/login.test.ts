/** `paylink login` and `paylink logout`, in process: flags, secrets, prompts, and what is stored. */
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { isAccountKey, loginFlagOf, SETTING_KEYS, SETTINGS } from "../../src/settings/setting-table.ts";
import { answering } from "../support/account.ts";
import { selfSigned } from "../support/certificate.ts";
import { runCommand, type CommandOptions } from "../support/context.ts";
import { CLIENT, startDocumentedService } from "../support/documented-service.ts";
import { fixedAnswers } from "../support/fixed-answers.ts";
import { temporaryHome } from "../support/home.ts";
import { KEYS } from "../support/keys.ts";
import { ANSWER } from "../support/link-request.ts";
import { freePort } from "../support/ports.ts";
import { openSender } from "../support/sender.ts";

interface Stored {
  readonly current: string;
  readonly profiles: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const storedIn = (home: string): Stored =>
  JSON.parse(readFileSync(join(home, "settings.json"), "utf8")) as Stored;

async function problemsOf(args: readonly string[], options: CommandOptions = {}) {
  const run = await runCommand(["login", "--json", ...args], options);
  expect(run).toMatchObject({ exit: 2, stdout: "" });
  const { error } = JSON.parse(run.stderr) as {
    error: { message: string; details: { problems: { at: string; message: string }[] } };
  };
  expect(error.message).toContain("Nothing was stored.");
  return Object.fromEntries(error.details.problems.map(({ at, message }) => [at, message]));
}

/** Nothing answers there, so the account is stored without a check. */
const PLACE = ["--base-url", "https://service.example/", "--terminal-id", "7", "--no-check"];
const CLIENT_ID = ["--client-id", "c", "--client-secret-stdin"];
const CREDENTIALS = [...CLIENT_ID, "--token-url", "https://service.example/token"];

describe("paylink login", () => {
  it("stores a token from standard input, and makes the profile the current one", async () => {
    const { home, ...run } = await runCommand(["login", "--json", ...PLACE, "--token-stdin"], {
      stdin: " tok\n",
    });
    expect(run.exit).toBe(0);
    expect(JSON.parse(run.stdout)).toEqual({
      profile: "default",
      baseUrl: "https://service.example",
      terminalId: "7",
      current: "default",
    });
    expect(storedIn(home)).toEqual({
      current: "default",
      profiles: { default: { baseUrl: "https://service.example", terminalId: "7", token: "tok" } },
    });
  });

  it.each([[[]], [["--yes"]]])(
    "leaves another profile the current one, and says how to change that (%j)",
    async (flags) => {
      const home = temporaryHome();
      const log = (name: string) =>
        runCommand(["login", "-p", name, ...PLACE, "--token-stdin", ...flags], { home, stdin: "tok" });
      expect((await log("test")).stderr).toContain("The current profile is test.");
      const { exit, stderr } = await log("live");
      expect(exit).toBe(0);
      expect(stderr.replace(/\s+/g, " ")).toContain(
        "The current profile is still test. To use this account: paylink status -p live; to make it the current one: paylink profiles use live",
      );
      expect(storedIn(home)).toMatchObject({ current: "test", profiles: { live: { token: "tok" } } });
    },
  );

  it.each([true, false])("asks before another profile becomes the current one (%s)", async (confirm) => {
    const home = temporaryHome();
    await runCommand(["login", "-p", "test", ...PLACE, "--token-stdin"], { home, stdin: "tok" });
    const texts = { "Access token": "tok", "Customer's name": "Ada" };
    const { ask, asked } = fixedAnswers({ texts, choice: "An access token", confirm });
    await runCommand(["login", "-p", "live", ...PLACE], { home, ask });
    expect(asked.at(-1)).toMatch(/^Make live \(CUSTOM\) the current profile\? .* not test$/);
    expect(storedIn(home).current).toBe(confirm ? "live" : "test");
  });

  it("stores what create needs, so that it works without flags for it", async () => {
    const service = answering(200, ANSWER);
    const callback = ["--callback-url", "https://shop.example/webhooks"];
    const defaults = ["--currency", "EUR", "--customer-name", "Ada Lovelace", ...callback];
    const { home, ...run } = await runCommand(["login", ...PLACE, ...defaults, "--token-stdin"], {
      stdin: "tok",
    });
    expect(run.stderr).not.toContain("!");
    const created = await runCommand(["create", "--reusable", "-q"], { home, send: service.send });
    expect(created.exit).toBe(0);
    expect(service.requests).toMatchObject([
      { body: { terminalId: "7", currency: "EUR", customerName: "Ada Lovelace" } },
    ]);
  });

  it("says that the proxy cannot be reached, and does not blame the token URL", async () => {
    const proxy = `http://127.0.0.1:${await freePort()}`;
    const account = ["--service", "dna-test", "--terminal-id", "7", "--client-id", "shop"];
    const { exit, stderr } = await runCommand(["login", ...account, "--client-secret-stdin"], {
      stdin: "secret\n",
      send: openSender({ httpsProxy: proxy }),
    });
    expect(exit).toBe(5);
    expect(stderr).toContain(`the proxy ${proxy} was not reached: connection refused`);
    expect(stderr).toContain("Check the proxy in HTTPS_PROXY. For hosts that need no proxy, set NO_PROXY.\n");
    expect(stderr).not.toContain("token URL");
  });

  it("warns if create will need flags, and create says how to store their values", async () => {
    const { home, stderr } = await runCommand(["login", ...PLACE, "--token-stdin"], { stdin: "tok" });
    expect(stderr).toContain("! Each paylink create needs --currency and --customer-name");
    const { exit, stderr: missing } = await runCommand(["create", "--amount", "10", "--currency", "EUR"], {
      home,
    });
    expect(exit).toBe(2);
    expect(missing).toContain("paylink config set customerName 'Ada Lovelace'");
  });

  it("stores client credentials, and the full path of a key file", async () => {
    const args = ["login", "-p", "shop", ...PLACE, ...CREDENTIALS, "--webhook-key", "service.pem"];
    const { home, exit } = await runCommand(args, { stdin: "secret" });
    expect(exit).toBe(0);
    expect(storedIn(home).profiles["shop"]).toMatchObject({
      clientId: "c",
      clientSecret: "secret",
      tokenUrl: "https://service.example/token",
      webhookKey: [resolve("service.pem")],
    });
  });

  it("replaces the secrets of the account before it, and keeps its defaults", async () => {
    const home = temporaryHome();
    await runCommand(["login", ...PLACE, ...CREDENTIALS], { home, stdin: "secret" });
    await runCommand(["config", "set", "currency", "EUR"], { home });
    await runCommand(["login", ...PLACE, "--token-stdin", "--yes"], { home, stdin: "tok" });
    const { default: profile = {} } = storedIn(home).profiles;
    expect(profile).toMatchObject({ token: "tok", currency: "EUR" });
    expect(Object.keys(profile)).not.toContain("clientSecret");
  });

  it("never replaces an account without asking, with or without a named profile", async () => {
    const home = temporaryHome();
    const args = ["login", ...PLACE, "--token-stdin"];
    await runCommand(args, { home, stdin: "first" });
    for (const named of [[], ["-p", "default"]]) {
      expect(await problemsOf([...PLACE, "--token-stdin", ...named], { home, stdin: "second" })).toEqual({
        "--yes": "is required to replace the account of default (https://service.example)",
      });
      const no = fixedAnswers({ confirm: false });
      const asked = await runCommand(["login", ...named], { home, ask: no.ask });
      expect(asked).toMatchObject({ exit: 0, stdout: "" });
      expect(asked.stderr).toContain("Nothing was done.");
      expect(no.asked).toEqual(["Replace the account of profile default (https://service.example)?"]);
    }
    expect(storedIn(home).profiles["default"]).toMatchObject({ token: "first" });
    expect((await runCommand([...args, "-p", "other"], { home, stdin: "second" })).exit).toBe(0);
    await runCommand(["logout", "-p", "default"], { home });
    expect((await runCommand([...args, "-p", "default"], { home, stdin: "third" })).exit).toBe(0);
  });

  it("reports everything that is wrong or missing at once, without the secret", async () => {
    const args = ["--base-url", "http://shop.example", "--token-url", "no", "--client-id", "c"];
    expect(await problemsOf(args)).toEqual({
      "--base-url": 'must be https: a secret is never sent unencrypted (got "http://shop.example")',
      "--token-url": expect.stringContaining("URL"),
      "--terminal-id": "is required",
      "--client-secret-stdin": "is required",
    });
    expect(await problemsOf([])).toEqual({
      "--base-url": "is required, or --service for a service that paylink knows: dna, dna-test",
      "--terminal-id": "is required",
      "--token-stdin": "is required, or client credentials: --client-id, --client-secret-stdin, --token-url",
    });
    expect(await problemsOf(["--service", "dna-tst", "--terminal-id", "1"])).toMatchObject({
      "--service": 'must be one of dna, dna-test (got "dna-tst"); did you mean dna-test?',
    });
    const secret = await runCommand(["login", ...PLACE, "--token-stdin"], { stdin: "my secret" });
    expect(secret.exit).toBe(2);
    expect(secret.stderr).toContain("without spaces");
    expect(secret.stderr).not.toContain("my secret");
  });

  it("does not touch the sandbox's profile", async () => {
    const run = await runCommand(["login", "-p", "sandbox", ...PLACE, "--token-stdin"], { stdin: "tok" });
    expect(run.exit).toBe(2);
    expect(run.stderr).toContain("belongs to the sandbox");
  });

  it("asks for a token, and checks each answer", async () => {
    const own = { Currency: "eur", "Customer's name": "Ada", Callback: "https://shop.example/hook" };
    const texts = { "base URL": "http://127.0.0.1:1/", Terminal: "7", ...own, "Access token": " tok " };
    const { ask, asked } = fixedAnswers({ texts, choice: "Another address" });
    const { home, exit } = await runCommand(["login", "--no-check"], { ask });
    expect(exit).toBe(0);
    expect(asked).toEqual([
      "Which service do you use?",
      expect.stringContaining("base URL"),
      "Terminal",
      expect.stringContaining("Currency"),
      expect.stringContaining("Customer's name"),
      expect.stringContaining("Callback URL"),
      expect.stringContaining("webhook key"),
      "How do you want to authenticate?",
      "Access token",
    ]);
    expect(storedIn(home).profiles["default"]).toEqual({
      baseUrl: "http://127.0.0.1:1",
      terminalId: "7",
      currency: "EUR",
      customerName: "Ada",
      callbackUrl: "https://shop.example/hook",
      token: "tok",
    });
  });

  it("stores an account without a currency, which create then asks for", async () => {
    const texts = { "base URL": "http://127.0.0.1:1", Terminal: "7", "Customer's name": "Ada", token: "t" };
    const { ask } = fixedAnswers({ texts, choice: "Another address" });
    const { home, exit, stderr } = await runCommand(["login", "--no-check"], { ask });
    expect(exit).toBe(0);
    expect(stderr).toContain("Each paylink create needs --currency.");
    expect(storedIn(home).profiles["default"]).not.toHaveProperty("currency");
    const create = await runCommand(["create", "--amount", "10", "--dry-run"], { home });
    expect(create.stderr).toContain("--currency  is required");
  });

  it("asks only for what the flags leave open", async () => {
    const { ask, asked } = fixedAnswers({ texts: { "Token URL": "https://a.example/t", secret: "s" } });
    const defaults = ["--currency", "EUR", "--customer-name", "Ada", "--callback-url", "https://a.example/"];
    const { home, exit } = await runCommand(["login", ...PLACE, ...defaults, "--client-id", "c"], { ask });
    expect(exit).toBe(0);
    expect(asked).toEqual([expect.stringContaining("webhook key"), "Token URL", "Client secret"]);
    expect(storedIn(home).profiles["default"]).toMatchObject({ clientId: "c", clientSecret: "s" });
  });

  it("has the flag of every setting that it takes, and asks each of their questions", async () => {
    const { stdout } = await runCommand(["login", "--help"]);
    const taken = SETTING_KEYS.filter(isAccountKey);
    expect(taken.filter((key) => !stdout.includes(`  ${loginFlagOf(key)} `))).toEqual([]);
    const own = { "base URL": "https://a.example", Terminal: "7", "Customer's name": "Ada" };
    const asked = new Set<string>();
    for (const [authenticate, secrets] of [
      ["An access", { "Access token": "t" }],
      ["Client", { "Token URL": "https://a.example/t", "Client id": "c", "Client secret": "s" }],
    ] as const) {
      const choices = { service: ["Another"], authenticate: [authenticate] };
      const answers = fixedAnswers({ texts: { ...secrets, ...own }, choices });
      expect(await runCommand(["login", "--no-check"], { ask: answers.ask })).toMatchObject({ exit: 0 });
      for (const question of answers.asked) asked.add(question);
    }
    const questions = taken.flatMap((key) => SETTINGS[key].login.prompt ?? []);
    expect(questions.filter((question) => !asked.has(question))).toEqual([]);
  });

  it("stores nothing at Ctrl-C", async () => {
    const { ask } = fixedAnswers({
      texts: { "base URL": "https://a.example" },
      choice: "Another address",
      interruptAt: "Terminal",
    });
    const { home, exit } = await runCommand(["login"], { ask });
    expect(exit).toBe(130);
    expect(() => storedIn(home)).toThrow("ENOENT");
  });
});

describe("login at a built-in service", () => {
  it("asks for the service first, and then only for what it leaves open", async () => {
    const texts = { Terminal: "7", Currency: "GBP", "Customer's name": "Ada", "Client id": "c", secret: "s" };
    const { ask, asked } = fixedAnswers({ texts, choice: "dna-test" });
    const { home, exit } = await runCommand(["login", "--no-check"], { ask });
    expect(exit).toBe(0);
    expect(asked).toEqual([
      "Which service do you use?",
      "Terminal",
      expect.stringContaining("Currency"),
      expect.stringContaining("Customer's name"),
      expect.stringContaining("Callback URL"),
      expect.stringContaining("webhook key"),
      "Client id",
      "Client secret",
    ]);
    expect(storedIn(home).profiles["default"]).toEqual({
      service: "dna-test",
      terminalId: "7",
      currency: "GBP",
      customerName: "Ada",
      clientId: "c",
      clientSecret: "s",
    });
  });

  it("needs neither an address nor a token URL", async () => {
    expect(await problemsOf(["--service", "dna"])).toEqual({
      "--terminal-id": "is required",
      "--client-id": "is required",
      "--client-secret-stdin": "is required",
    });
  });

  it("replaces what belongs to another service, and keeps the defaults of links", async () => {
    const home = temporaryHome();
    await runCommand(["login", ...PLACE, "--currency", "EUR", "--token-stdin"], { home, stdin: "tok" });
    const dna = ["--service", "dna", "--no-check", ...CLIENT_ID];
    expect((await runCommand(["login", ...dna, "--yes"], { home, stdin: "s" })).exit).toBe(0);
    expect(storedIn(home).profiles["default"]).toEqual({
      service: "dna",
      terminalId: "7",
      currency: "EUR",
      clientId: "c",
      clientSecret: "s",
    });
    await runCommand(["login", ...PLACE, "--token-stdin", "-y"], { home, stdin: "tok" });
    expect(storedIn(home).profiles["default"]).not.toHaveProperty("service");
  });

  it("sends no secret to the previous service's token endpoint, and no longer trusts its key", async () => {
    const home = temporaryHome();
    const former = await startDocumentedService();
    const first = ["login", ...former.login, "--webhook-key", former.keyFile];
    expect((await runCommand(first, { home, stdin: CLIENT.secret })).exit).toBe(0);
    await runCommand(["config", "set", "transactionUrl", "/t/{uti}"], { home });
    const asked = former.requests.length;
    const other = ["--base-url", "https://other.example", ...CLIENT_ID, "-y"];
    expect(await problemsOf(other, { home, stdin: "s" })).toEqual({ "--token-url": "is required" });
    const at = ["--token-url", "https://other.example/t", "--no-check"];
    await runCommand(["login", ...other, ...at], { home, stdin: "s" });
    expect(storedIn(home).profiles["default"]).toEqual({
      baseUrl: "https://other.example",
      terminalId: "1234567890",
      currency: "GBP",
      customerName: "Ada Lovelace",
      clientId: "c",
      clientSecret: "s",
      tokenUrl: "https://other.example/t",
    });
    expect(former.requests).toHaveLength(asked);
  });

  it("keeps what belongs to the service if only the secret is new", async () => {
    const home = temporaryHome();
    const dna = ["login", "--service", "dna", "--no-check", ...CLIENT_ID];
    await runCommand([...dna, "--terminal-id", "7", "--webhook-key", "key.pem"], { home, stdin: "s" });
    await runCommand(["config", "set", "transactionUrl", "/t/{uti}"], { home });
    expect((await runCommand([...dna, "--yes"], { home, stdin: "new" })).exit).toBe(0);
    expect(storedIn(home).profiles["default"]).toMatchObject({
      clientSecret: "new",
      terminalId: "7",
      transactionUrl: "/t/{uti}",
      webhookKey: [resolve("key.pem")],
    });
  });
});

describe("what login checks before it stores", () => {
  it("stores an account that works, and create and status then work", async () => {
    const service = await startDocumentedService();
    const key = selfSigned(temporaryHome(), "service", KEYS.privatePem).cert;
    const { home, ...run } = await runCommand(["login", ...service.login, "--webhook-key", key], {
      stdin: CLIENT.secret,
    });
    expect(run.exit).toBe(0);
    expect(run.stderr).toMatch(/^✓ token endpoint /m);
    expect(run.stderr).toMatch(/^✓ links endpoint /m);
    expect(run.stderr).toMatch(/^✓ webhook key .*certificate valid until/m);
    expect(run.stdout + run.stderr).not.toContain(CLIENT.secret);
    expect(service.requests).toEqual([
      "POST /oauth2/token",
      expect.stringMatching(/^GET \/v1\/payment-links\?terminalId=1234567890&.*from=.*&to=/),
    ]);
    expect(storedIn(home).profiles["default"]).not.toHaveProperty("accessToken");
    expect(statSync(join(home, "settings.json")).mode & 0o777).toBe(0o600);
    for (const args of [
      ["create", "--amount", "10", "--currency", "EUR"],
      ["create", "--reusable"],
      ["status"],
    ])
      expect(await runCommand(args, { home })).toMatchObject({ exit: 0 });
  });

  it("is one document on stderr with --json", async () => {
    const service = await startDocumentedService();
    const { stderr } = await runCommand(["login", "--json", ...service.login], { stdin: "wrong" });
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: "unauthorized",
        details: {
          status: 401,
          problems: [{ at: "token endpoint", message: expect.stringContaining("401") }],
        },
      },
    });
  });
});

describe("paylink logout", () => {
  it("deletes the secrets and keeps the defaults", async () => {
    const home = temporaryHome();
    await runCommand(["login", ...PLACE, "--token-stdin"], { home, stdin: "tok" });
    const run = await runCommand(["logout", "--json"], { home });
    expect(run).toMatchObject({ exit: 0, stderr: "" });
    expect(JSON.parse(run.stdout)).toEqual({ profile: "default", loggedOut: true });
    expect(storedIn(home).profiles["default"]).toEqual({
      baseUrl: "https://service.example",
      terminalId: "7",
    });
  });

  it("warns about secrets in the environment", async () => {
    const home = temporaryHome();
    await runCommand(["config", "set", "currency", "EUR"], { home });
    const env = { PAYLINK_TOKEN: "tok" };
    const run = await runCommand(["logout"], { home, env });
    expect(run.stderr).toContain("! PAYLINK_TOKEN is still set in the environment");
    const json = await runCommand(["logout", "--json"], { home, env });
    expect(JSON.parse(json.stderr)).toEqual({ warnings: [expect.stringContaining("PAYLINK_TOKEN")] });
  });

  it("needs a profile", async () => {
    expect((await runCommand(["logout"])).exit).toBe(3);
  });
});
