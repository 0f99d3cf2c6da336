/** `paylink login` and `paylink logout`, in process: flags, secrets, prompts, and what is stored. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand, type CommandOptions } from "../support/context.ts";
import { fixedAnswers } from "../support/fixed-answers.ts";
import { temporaryHome } from "../support/home.ts";

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

const PLACE = ["--base-url", "https://service.example/", "--terminal-id", "7"];

describe("paylink login", () => {
  it("stores a token from standard input, and makes the profile the current one", async () => {
    const { home, ...run } = await runCommand(["login", "--json", ...PLACE, "--token-stdin"], {
      stdin: " tok\n",
    });
    expect(run).toMatchObject({ exit: 0, stderr: "" });
    expect(JSON.parse(run.stdout)).toEqual({
      profile: "default",
      baseUrl: "https://service.example",
      terminalId: "7",
    });
    expect(storedIn(home)).toEqual({
      current: "default",
      profiles: { default: { baseUrl: "https://service.example", terminalId: "7", token: "tok" } },
    });
  });

  it("stores client credentials, and the full path of a key file", async () => {
    const args = [
      "--client-id",
      "c",
      "--client-secret-stdin",
      "--token-url",
      "https://service.example/token",
    ];
    const { home, exit } = await runCommand(
      ["login", "-p", "shop", ...PLACE, ...args, "--webhook-key", "service.pem"],
      { stdin: "secret" },
    );
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
    const credentials = [
      "--client-id",
      "c",
      "--client-secret-stdin",
      "--token-url",
      "https://service.example/t",
    ];
    await runCommand(["login", ...PLACE, ...credentials], { home, stdin: "secret" });
    await runCommand(["config", "set", "currency", "EUR"], { home });
    await runCommand(["login", ...PLACE, "--token-stdin"], { home, stdin: "tok" });
    const { default: profile = {} } = storedIn(home).profiles;
    expect(profile).toMatchObject({ token: "tok", currency: "EUR" });
    expect(Object.keys(profile)).not.toContain("clientSecret");
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
      "--base-url": "is required",
      "--terminal-id": "is required",
      "--token-stdin": "is required",
    });
    const secret = await runCommand(["login", ...PLACE, "--token-stdin"], { stdin: "my secret" });
    expect(secret.exit).toBe(2);
    expect(secret.stderr).toContain("without spaces");
    expect(secret.stderr).not.toContain("my secret");
    expect(
      await problemsOf([...PLACE, "--token-stdin", "--client-secret-stdin"], { stdin: "x" }),
    ).toHaveProperty("--token-stdin");
  });

  it("does not touch the sandbox's profile", async () => {
    const run = await runCommand(["login", "-p", "sandbox", ...PLACE, "--token-stdin"], { stdin: "tok" });
    expect(run.exit).toBe(2);
    expect(run.stderr).toContain("belongs to the sandbox");
  });

  it("asks for a token, and checks each answer", async () => {
    const texts = { "base URL": "http://127.0.0.1:1/", Terminal: "7", "Access token": " tok " };
    const { ask, asked } = fixedAnswers({ texts });
    const { home, exit } = await runCommand(["login"], { ask });
    expect(exit).toBe(0);
    expect(asked).toEqual([
      expect.stringContaining("base URL"),
      "Terminal",
      "How do you want to authenticate?",
      "Access token",
    ]);
    expect(storedIn(home).profiles["default"]).toEqual({
      baseUrl: "http://127.0.0.1:1",
      terminalId: "7",
      token: "tok",
    });
  });

  it("asks only for what the flags leave open", async () => {
    const { ask, asked } = fixedAnswers({ texts: { "Token URL": "https://a.example/t", secret: "s" } });
    const { home, exit } = await runCommand(["login", ...PLACE, "--client-id", "c"], { ask });
    expect(exit).toBe(0);
    expect(asked).toEqual(["Token URL", "Client secret"]);
    expect(storedIn(home).profiles["default"]).toMatchObject({ clientId: "c", clientSecret: "s" });
  });

  it("stores nothing at Ctrl-C", async () => {
    const { ask } = fixedAnswers({ texts: { "base URL": "https://a.example" }, interruptAt: "Terminal" });
    const { home, exit } = await runCommand(["login"], { ask });
    expect(exit).toBe(130);
    expect(() => storedIn(home)).toThrow("ENOENT");
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
