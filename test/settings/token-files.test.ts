/** The files of obtained access tokens on a real disk: whose they are, who may read them, and many writers at once. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openTokenFiles } from "../../src/settings/token-files.ts";
import { runCommand } from "../support/context.ts";
import { CLIENT, startDocumentedService } from "../support/documented-service.ts";
import { temporaryHome } from "../support/home.ts";
import { runPaylink } from "../support/paylink.ts";

const CLIENT_OF = { tokenUrl: "https://oauth.example/token", clientId: "shop", scope: "pay_by_link" };
const TOKEN = { token: "t*k$n", expires: "2030-01-01T00:00:00.000Z" };

describe("the token of a profile", () => {
  it("is read again only by its client, until it is forgotten", () => {
    const tokens = openTokenFiles(temporaryHome());
    tokens.keep("shop", CLIENT_OF, TOKEN);
    expect(tokens.read("shop", CLIENT_OF)).toEqual(TOKEN);
    expect(tokens.read("other", CLIENT_OF)).toBeUndefined();
    for (const other of [{ tokenUrl: "https://b.example/" }, { clientId: "b" }, { scope: undefined }])
      expect(tokens.read("shop", { ...CLIENT_OF, ...other })).toBeUndefined();
    tokens.forget("shop");
    tokens.forget("shop");
    expect(tokens.read("shop", CLIENT_OF)).toBeUndefined();
  });

  it("can be read by its owner only, and leaves no draft", () => {
    const home = temporaryHome();
    openTokenFiles(home).keep("a/b", CLIENT_OF, { token: "t" });
    expect(readdirSync(join(home, "tokens"))).toEqual(["a%2Fb.json"]);
    expect(statSync(join(home, "tokens", "a%2Fb.json")).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, "tokens")).mode & 0o777).toBe(0o700);
    expect(openTokenFiles(home).read("a/b", CLIENT_OF)).toEqual({ token: "t" });
  });

  it.each(["", "[]", "3", '{"token":3}'])("is obtained again if its file holds %j", (text) => {
    const home = temporaryHome();
    const tokens = openTokenFiles(home);
    tokens.keep("shop", CLIENT_OF, TOKEN);
    writeFileSync(join(home, "tokens", "shop.json"), text);
    expect(tokens.read("shop", CLIENT_OF)).toBeUndefined();
  });

  it.each(["", "a b", "a\r\nX-Other: b", "tok\u00e9n"])(
    "is obtained again if no header can have it: %j",
    (token) => {
      const tokens = openTokenFiles(temporaryHome());
      tokens.keep("shop", CLIENT_OF, { ...TOKEN, token });
      expect(tokens.read("shop", CLIENT_OF)).toBeUndefined();
    },
  );
});

describe("commands that renew tokens", () => {
  it("at the same time lose nothing, and do not write the settings", async () => {
    const home = temporaryHome();
    const names = ["a", "b", "c"];
    const services = await Promise.all(names.map(() => startDocumentedService()));
    for (const [index, { login }] of services.entries())
      await runCommand(["login", "-p", names[index] ?? "", ...login, "--no-check"], {
        home,
        stdin: CLIENT.secret,
      });
    const settings = readFileSync(join(home, "settings.json"), "utf8");
    const create = (name: string) => runPaylink(["create", "--amount", "10", "-q", "-p", name], { home });
    const runs = await Promise.all(names.map(create));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(readdirSync(join(home, "tokens")).toSorted()).toEqual(["a.json", "b.json", "c.json"]);
    expect(readFileSync(join(home, "settings.json"), "utf8")).toBe(settings);
    for (const name of names) expect((await create(name)).code).toBe(0);
    for (const { requests } of services)
      expect(requests).toEqual(["POST /oauth2/token", "POST /v1/payment-links", "POST /v1/payment-links"]);
  });

  it("work even if the token cannot be stored, and say so", async () => {
    const home = temporaryHome();
    const service = await startDocumentedService();
    await runCommand(["login", ...service.login, "--no-check"], { home, stdin: CLIENT.secret });
    writeFileSync(join(home, "tokens"), "");
    const { exit, stderr } = await runCommand(["create", "--amount", "10", "-q"], { home });
    expect(exit).toBe(0);
    expect(stderr).toContain("The access token is not stored for the next command");
  });

  it("find none after a logout, a new login or the removal of the profile", async () => {
    const home = temporaryHome();
    const service = await startDocumentedService();
    const login = ["login", ...service.login, "--no-check", "--yes"];
    for (const args of [["logout"], login, ["profiles", "remove", "default", "--yes"]]) {
      await runCommand(login, { home, stdin: CLIENT.secret });
      expect((await runCommand(["create", "--amount", "10", "-q"], { home })).exit).toBe(0);
      expect(readdirSync(join(home, "tokens"))).toEqual(["default.json"]);
      expect((await runCommand(args, { home, stdin: CLIENT.secret })).exit).toBe(0);
      expect(readdirSync(join(home, "tokens"))).toEqual([]);
    }
  });
});
