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
    tokens.of("shop", CLIENT_OF).keep(TOKEN);
    expect(tokens.of("shop", CLIENT_OF).read()).toEqual(TOKEN);
    expect(tokens.of("other", CLIENT_OF).read()).toBeUndefined();
    for (const other of [{ tokenUrl: "https://b.example/" }, { clientId: "b" }, { scope: undefined }])
      expect(tokens.of("shop", { ...CLIENT_OF, ...other }).read()).toBeUndefined();
    tokens.forget("shop");
    tokens.forget("shop");
    expect(tokens.of("shop", CLIENT_OF).read()).toBeUndefined();
  });

  it("can be read by its owner only, and leaves no draft", () => {
    const home = temporaryHome();
    openTokenFiles(home).of("a/b", CLIENT_OF).keep({ token: "t" });
    expect(readdirSync(join(home, "tokens"))).toEqual(["a%2Fb.json"]);
    expect(statSync(join(home, "tokens", "a%2Fb.json")).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, "tokens")).mode & 0o777).toBe(0o700);
    expect(openTokenFiles(home).of("a/b", CLIENT_OF).read()).toEqual({ token: "t" });
  });

  it.each(["", "[]", "3", '{"token":3}'])("is obtained again if its file holds %j", (text) => {
    const home = temporaryHome();
    const tokens = openTokenFiles(home);
    tokens.of("shop", CLIENT_OF).keep(TOKEN);
    writeFileSync(join(home, "tokens", "shop.json"), text);
    expect(tokens.of("shop", CLIENT_OF).read()).toBeUndefined();
  });

  it.each(["", "a b", "a\r\nX-Other: b", "tok\u00e9n"])(
    "is obtained again if no header can have it: %j",
    (token) => {
      const tokens = openTokenFiles(temporaryHome());
      tokens.of("shop", CLIENT_OF).keep({ ...TOKEN, token });
      expect(tokens.of("shop", CLIENT_OF).read()).toBeUndefined();
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

  it.each(["a profile", "the environment"])(
    "of one account at the same time share one token, though a new one ends the older: %s",
    async (source) => {
      const home = temporaryHome();
      const service = await startDocumentedService();
      await runCommand(["login", ...service.login, "--no-check"], { home, stdin: CLIENT.secret });
      const env =
        source === "a profile"
          ? {}
          : {
              PAYLINK_BASE_URL: service.url,
              PAYLINK_CLIENT_ID: CLIENT.id,
              PAYLINK_CLIENT_SECRET: CLIENT.secret,
              PAYLINK_TOKEN_URL: service.tokenUrl,
            };
      const six = () =>
        Promise.all(
          Array.from({ length: 6 }, () => runCommand(["create", "--amount", "10", "-q"], { home, env })),
        );
      const first = await six();
      // Somebody else has a new token given, which ends this one.
      const endToken = () => fetch(service.tokenUrl, { method: "POST", body: service.tokenForm });
      await endToken();
      const second = await six();
      await endToken();
      const rows = (list: string) => Array.from({ length: 20 }, (_, row) => `10,${list}-${row}\n`).join("");
      const lists = await Promise.all(
        ["A", "B"].map((list) =>
          runCommand(["bulk", "-", "-o", join(home, `${list}.csv`), "--json"], {
            home,
            env,
            stdin: `amount,invoiceId\n${rows(list)}`,
          }),
        ),
      );
      for (const { exit, stderr } of [...first, ...second, ...lists])
        expect({ exit, stderr }).toMatchObject({ exit: 0 });
      expect(service.requests.filter((request) => request === "POST /oauth2/token")).toHaveLength(5);
      expect(readdirSync(join(home, "tokens"))).toHaveLength(1);
    },
  );

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
