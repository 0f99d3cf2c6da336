/** `paylink config`, in process: values and their sources, what is refused, and what is stored. */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { CONFIG_KEYS, SETTINGS } from "../../src/settings/setting-table.ts";
import { startListenCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { keyFile } from "../support/keys.ts";

const configIn =
  (home: string, env: Readonly<Record<string, string>> = {}) =>
  (...args: string[]) =>
    runCommand(["config", ...args], { home, env });

describe("paylink config", () => {
  it("reads values from the environment, then the profile, then the defaults", async () => {
    const home = temporaryHome();
    const config = configIn(home, { PAYLINK_TERMINAL_ID: "environment" });
    await config("set", "terminalId", "profile", "-p", "shop");
    const { stdout, stderr } = await config("list", "--json");
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({
      profile: { name: "shop", source: "current" },
      settings: {
        terminalId: { value: "environment", source: "environment" },
        expires: { value: "7d", source: "default" },
        currency: null,
      },
    });
    expect((await configIn(home)("get", "terminalId")).stdout).toBe("profile\n");
    expect((await config("list", "-p", "shop", "--json")).stdout).toContain('"source":"flag"');
    expect((await configIn(home)("list")).stdout).toMatch(/^currency +–$/m);
  });

  it("stores and removes values", async () => {
    const config = configIn(temporaryHome());
    expect((await config("set", "currency", "eur", "-p", "shop")).stdout).toBe(
      "currency of profile shop is now EUR.\n",
    );
    await config("set", "currency", "usd", "-p", "other");
    expect((await config("get", "currency")).stdout).toBe("EUR\n");
    expect((await config("get", "currency", "-p", "other", "--json")).stdout).toBe(
      '{"key":"currency","value":"USD","source":"profile"}\n',
    );
    expect((await config("unset", "currency", "-p", "other", "--json")).stdout).toBe(
      '{"profile":"other","key":"currency","value":null}\n',
    );
    expect(await config("get", "currency", "-p", "other")).toMatchObject({ exit: 2, stdout: "" });
    expect((await config("get", "currency", "-p", "other", "--json")).stdout).toContain('"value":null');
  });

  it("moves the failure address with the callback address, unless they differ", async () => {
    const home = temporaryHome();
    const config = configIn(home);
    const failure = async () => (await config("get", "failureCallbackUrl", "--json")).stdout;
    await config("set", "callbackUrl", "https://a.example/");
    expect(await failure()).toContain("null");
    await config("set", "failureCallbackUrl", "https://a.example/");
    const both = await config("set", "callbackUrl", "https://b.example/");
    expect(both.stdout).toBe(
      "callbackUrl of profile default is now https://b.example/.\nfailureCallbackUrl had the same value, and changed with it.\n",
    );
    expect(await failure()).toContain("https://b.example/");
    await config("set", "failureCallbackUrl", "https://failed.example/");
    expect((await config("get", "callbackUrl")).stdout).toBe("https://b.example/\n");
    // Payments that are reported to another address have their failures reported there.
    const env = { PAYLINK_CALLBACK_URL: "https://c.example/" };
    const other = await runCommand(["config", "get", "failureCallbackUrl", "--json"], { home, env });
    expect(other.stdout).toContain("null");
    const listen = await startListenCommand(home, "--key", keyFile(home), "--host", "0.0.0.0");
    const [ready = ""] = (await listen.stop()).stdout.split("\n");
    expect(JSON.parse(ready).notice).toMatch(
      /^Links of profile default report payments to https:\/\/b\.example\/ \(callbackUrl\) and https:\/\/failed\.example\/ \(failureCallbackUrl\), not to this listener\. .*For all links from now on: paylink config set callbackUrl http:\/\/127\.0\.0\.1:\d+\/ and paylink config set failureCallbackUrl http:\/\/127\.0\.0\.1:\d+\/$/,
    );
    await config("set", "callbackUrl", "http://127.0.0.1:4000/");
    const url = await startListenCommand(
      home,
      "--key",
      keyFile(home),
      "--public-url",
      "http://127.0.0.1:4000/",
    );
    expect(JSON.parse((await url.stop()).stdout.split("\n")[0] ?? "").notice).toMatch(
      /^Links of profile default report failed payments to https:\/\/failed\.example\/ \(failureCallbackUrl\), not to this listener\. .*--failure-callback-url/,
    );
    await config("set", "callbackUrl", "https://b.example/");
    const json = await config("set", "callbackUrl", "https://failed.example/", "--json");
    expect(JSON.parse(json.stdout)).not.toHaveProperty("also");
    const unset = await config("unset", "callbackUrl", "--json");
    expect(JSON.parse(unset.stdout)).toMatchObject({ value: null, also: ["failureCallbackUrl"] });
    expect(await failure()).toContain("null");
  });

  it("names the first profile default", async () => {
    const { stdout } = await configIn(temporaryHome())("set", "currency", "EUR", "--json");
    expect(JSON.parse(stdout)).toEqual({ profile: "default", key: "currency", value: "EUR" });
  });

  it("stores the full path of a key file, and a URL as it is", async () => {
    const config = configIn(temporaryHome());
    await config("set", "webhookKey", "service.pem", "--no-check");
    expect((await config("get", "webhookKey")).stdout).toBe(`${resolve("service.pem")}\n`);
    await config("set", "webhookKey", "file:///etc/service%20key.pem", "--no-check");
    expect((await config("get", "webhookKey")).stdout).toBe("/etc/service key.pem\n");
    await config("set", "webhookKey", "https://service.example/jwks.json", "--no-check");
    expect((await config("get", "webhookKey")).stdout).toBe("https://service.example/jwks.json\n");
  });

  it.each([
    [["set", "token", "x"], "secret"],
    [["get", "clientSecret"], "secret"],
    [
      ["set", "colour", "red"],
      "There is no setting named colour.\n  To see each setting with an example: paylink help settings",
    ],
    [["unset", "curency"], "Did you mean currency?"],
    [["set", "expires", "soon"], "duration"],
    [["set", "expires", "2020-01-01"], 'must be in the future (got "2020-01-01")'],
    [["set", "transactionUrl", "/t"], "{uti}"],
    [["set", "baseUrl", "service"], "must be an absolute http or https URL"],
    [["set", "baseUrl", "https://service.example?x=1"], "must not have a query"],
    [["set", "baseUrl", "https://shop:hunter2@service.example"], "[redacted]"],
    [["set", "currency", "EUR", "USD"], "takes one value"],
    [["set", "service", "stripe"], "must be one of dna, dna-test"],
    [["set", "transactionUrl", "https://service.example/t"], "{uti}"],
    [["set", "tokenAuth", "digest"], "must be one of post, basic"],
    [["set", "tokenScope", "a  b"], "must be scopes separated by single spaces"],
    [["set", "tokenScope", "a\u0007"], "must not have a line end"],
    [["set", "tolerance", "5"], "such as 30s"],
    [["set", "requireCreated", "yes"], "must be true or false"],
    [["set", "eventStore", "mysql://db/paylink"], "must be a file, or a URL such as postgres://"],
    [["set", "webhookKey", "https://"], "must be an absolute http or https URL"],
    [["set", "tokenAuth", "digest"], "For example: paylink config set tokenAuth basic"],
  ])("refuses %j", async (args, words) => {
    const run = await configIn(temporaryHome())(...args);
    expect(run).toMatchObject({ exit: 2, stdout: "" });
    expect(run.stderr).toContain(words);
  });

  it("reads a webhook key before it stores it, and listen names the setting of one that has gone", async () => {
    const home = temporaryHome();
    const config = configIn(home);
    const good = keyFile(home);
    const missing = await config("set", "webhookKey", good, join(home, "nope.pem"));
    expect(missing).toMatchObject({ exit: 2, stdout: "" });
    expect(missing.stderr).toMatch(/nope\.pem.*no such file/);
    expect(missing.stderr).toContain("--no-check");
    writeFileSync(join(home, "text.pem"), "no key");
    expect(await config("set", "webhookKey", join(home, "text.pem"))).toMatchObject({ exit: 2, stdout: "" });
    expect((await config("get", "webhookKey")).exit).toBe(2);
    expect((await config("set", "webhookKey", good)).exit).toBe(0);
    expect((await config("set", "webhookKey", join(home, "nope.pem"), "--no-check")).exit).toBe(0);
    const listen = await runCommand(["listen", "--port", "0"], { home });
    expect(listen).toMatchObject({ exit: 2, stdout: "" });
    expect(listen.stderr).toMatch(/Cannot read webhookKey .*nope\.pem: no such file/);
  });

  it("needs a profile to remove a value from", async () => {
    expect((await configIn(temporaryHome())("unset", "currency")).exit).toBe(3);
  });

  it("accepts several webhook keys", async () => {
    const config = configIn(temporaryHome());
    await config("set", "webhookKey", "a.pem", "HTTPS://Service.example:443/jwks.json", "--no-check");
    const { stdout } = await config("get", "webhookKey", "--json");
    expect(JSON.parse(stdout)).toEqual({
      key: "webhookKey",
      value: [resolve("a.pem"), "https://service.example/jwks.json"],
      source: "profile",
    });
  });

  it("accepts the example of every setting", async () => {
    const home = temporaryHome();
    const config = configIn(home);
    for (const key of CONFIG_KEYS) {
      const example = SETTINGS[key].example?.replace(/^'(.*)'$/, "$1") ?? "no example";
      expect(await config("set", key, example, "--no-check")).toMatchObject({ exit: 0, stderr: "" });
    }
    const listed = (await config("list")).stdout;
    expect(listed).toMatch(/^tokenScope +pay_by_link {2}\(profile\)$/m);
    expect(listed).toMatch(/^requireCreated +true {2}\(profile\)$/m);
  });

  it("shows the settings of the service that the profile does not override", async () => {
    const config = configIn(temporaryHome());
    await config("set", "service", "dna-test");
    await config("set", "tokenUrl", "https://mirror.example/token");
    const { stdout } = await config("list", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      settings: {
        baseUrl: { value: "https://test-api.dnapayments.com", source: "service" },
        tokenUrl: { value: "https://mirror.example/token", source: "profile" },
        tokenAuth: { value: "post", source: "default" },
        tokenScope: { value: "pay_by_link", source: "service" },
        transactionUrl: null,
      },
    });
  });

  it("never shows the password of a database", async () => {
    const home = temporaryHome();
    const env = { PAYLINK_DB: "postgres://shop:hunter2@db.example/paylink" };
    await configIn(home)("set", "currency", "EUR");
    for (const args of [
      ["list"],
      ["list", "--json"],
      ["get", "eventStore"],
      ["get", "eventStore", "--json"],
    ]) {
      const { stdout } = await configIn(home, env)(...args);
      expect(stdout).toContain("postgres://shop:[redacted]@db.example/paylink");
    }
    const run = await configIn(home)("set", "eventStore", env.PAYLINK_DB);
    expect(run).toMatchObject({ exit: 2 });
    expect(run.stderr).toContain("must not have a password: use PAYLINK_DB");
    expect(run.stderr).not.toContain("hunter2");
  });

  it("names every invalid variable, and never a secret", async () => {
    const env = {
      PAYLINK_BASE_URL: "service.example",
      PAYLINK_CALLBACK_URL: "ftp://shop.example",
      PAYLINK_TOKEN: "tok_secret",
      PAYLINK_DB: "mysql://shop:hunter2@db/paylink",
    };
    const { exit, stderr } = await configIn(temporaryHome(), env)("list");
    expect(exit).toBe(2);
    expect(stderr).toMatch(/PAYLINK_BASE_URL +must be an absolute http or https URL.*"service\.example"/);
    expect(stderr).toMatch(/PAYLINK_CALLBACK_URL +must be/);
    expect(stderr).toMatch(/PAYLINK_DB +must be a file/);
    expect(stderr).not.toMatch(/secret|hunter2/);
  });

  it("prints the path of the settings", async () => {
    const home = temporaryHome();
    expect((await configIn(home)("path")).stdout).toBe(`${join(home, "settings.json")}\n`);
  });
});
