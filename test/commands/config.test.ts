/** `paylink config`, in process: values and their sources, what is refused, and what is stored. */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";

const configIn =
  (home: string, env: Readonly<Record<string, string>> = {}) =>
  (...args: string[]) =>
    runCommand(["config", ...args], { home, env });

describe("paylink config", () => {
  it("takes values from the environment, then the profile, then the defaults", async () => {
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
    expect((await configIn(home)("list")).stdout).toMatch(/^currency +-$/m);
  });

  it("stores, removes and switches", async () => {
    const config = configIn(temporaryHome());
    expect((await config("set", "currency", "eur", "-p", "shop")).stdout).toBe(
      "currency of profile shop is now EUR.\n",
    );
    await config("set", "currency", "usd", "-p", "other");
    expect((await config("get", "currency")).stdout).toBe("EUR\n");
    expect(await config("use", "other")).toMatchObject({
      exit: 0,
      stdout: "other is the current profile now.\n",
    });
    expect((await config("get", "currency", "--json")).stdout).toBe(
      '{"key":"currency","value":"USD","source":"profile"}\n',
    );
    expect((await config("unset", "currency", "--json")).stdout).toBe(
      '{"profile":"other","key":"currency","value":null}\n',
    );
    expect(await config("get", "currency")).toMatchObject({ exit: 2, stdout: "" });
    expect((await config("get", "currency", "--json")).stdout).toContain('"value":null');
  });

  it("makes the first profile with the name default", async () => {
    const { stdout } = await configIn(temporaryHome())("set", "currency", "EUR", "--json");
    expect(JSON.parse(stdout)).toEqual({ profile: "default", key: "currency", value: "EUR" });
  });

  it("stores the full path of a key file, and a URL as it is", async () => {
    const config = configIn(temporaryHome());
    await config("set", "webhookKey", "service.pem");
    expect((await config("get", "webhookKey")).stdout).toBe(`${resolve("service.pem")}\n`);
    await config("set", "webhookKey", "https://service.example/jwks.json");
    expect((await config("get", "webhookKey")).stdout).toBe("https://service.example/jwks.json\n");
  });

  it.each(["baseUrl", "clientId", "tokenUrl"])(
    "drops an obtained access token with a new %s",
    async (key) => {
      const home = temporaryHome();
      const path = join(home, "settings.json");
      const shop = { accessToken: "obtained", accessTokenExpires: "2030-01-01T00:00:00Z", token: "own" };
      writeFileSync(path, JSON.stringify({ current: "shop", profiles: { shop } }));
      expect((await configIn(home)("set", key, "https://service.example")).exit).toBe(0);
      expect(readFileSync(path, "utf8")).not.toContain("obtained");
      expect(readFileSync(path, "utf8")).toContain("own");
    },
  );

  it.each([
    [["set", "token", "x"], "secret"],
    [["get", "clientSecret"], "secret"],
    [["set", "colour", "red"], "There is no setting named colour. The settings are service, baseUrl"],
    [["unset", "curency"], "Did you mean currency?"],
    [["set", "expires", "soon"], "duration"],
    [["set", "expires", "2020-01-01"], 'must be in the future (got "2020-01-01")'],
    [["set", "transactionUrl", "/t"], "{uti}"],
    [["set", "baseUrl", "service"], "must be an absolute http or https URL"],
  ])("refuses %j", async (args, words) => {
    const run = await configIn(temporaryHome())(...args);
    expect(run).toMatchObject({ exit: 2, stdout: "" });
    expect(run.stderr).toContain(words);
  });

  it("needs a profile to remove from or to switch to", async () => {
    const config = configIn(temporaryHome());
    expect((await config("unset", "currency")).exit).toBe(3);
    await config("set", "currency", "EUR", "-p", "shop");
    const run = await config("use", "nobody");
    expect(run.exit).toBe(3);
    expect(run.stderr).toContain("Profiles: shop");
  });

  it("prints the path of the settings", async () => {
    const home = temporaryHome();
    expect((await configIn(home)("path")).stdout).toBe(`${join(home, "settings.json")}\n`);
  });
});
