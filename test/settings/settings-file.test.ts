/** The settings on a real disk: who may read them, and damaged files. */
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSettingsFile } from "../../src/settings/settings-file.ts";
import { runCommand } from "../support/context.ts";
import { failure } from "../support/failure.ts";
import { temporaryHome } from "../support/home.ts";

describe("the settings file", () => {
  it("can be read by its owner only, in a folder that only its owner can open", async () => {
    const folder = join(temporaryHome(), "deep", "config");
    const settings = openSettingsFile(folder);
    await settings.change("a.b.c", () => ({ baseUrl: "https://service.example", token: "t" }));
    expect(statSync(settings.path).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(openSettingsFile(folder).profiles()).toEqual({
      "a.b.c": { baseUrl: "https://service.example", token: "t" },
    });
    expect(readdirSync(folder)).toEqual(["settings.json"]);
  });

  it("is written through a symbolic link", async () => {
    const home = temporaryHome();
    writeFileSync(join(home, "own.conf"), "{}");
    symlinkSync(join(home, "own.conf"), join(home, "settings.json"));
    await openSettingsFile(home).change("shop", () => ({ token: "t" }));
    expect(lstatSync(join(home, "settings.json")).isSymbolicLink()).toBe(true);
    expect(statSync(join(home, "own.conf")).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(join(home, "own.conf"), "utf8"))).toMatchObject({
      profiles: { shop: { token: "t" } },
    });
  });

  it("is named with a plain reason if it cannot be written", async () => {
    const home = temporaryHome();
    writeFileSync(join(home, "file"), "");
    const run = await runCommand(["config", "set", "currency", "EUR"], {
      home: join(home, "file", "config"),
    });
    expect(run.exit).toBe(2);
    expect(run.stderr).toMatch(/file.config.*: a part of its path is a file\.$/m);
  });

  it("may begin with a byte order mark", async () => {
    const folder = temporaryHome();
    writeFileSync(join(folder, "settings.json"), '\uFEFF{"profiles":{"shop":{"currency":"EUR"}}}');
    const settings = openSettingsFile(folder);
    expect(settings.profiles()).toEqual({ shop: { currency: "EUR" } });
    await settings.change("shop", (before) => ({ ...before, terminalId: "7" }));
    expect(settings.profiles()).toEqual({ shop: { currency: "EUR", terminalId: "7" } });
  });

  it("is not created by reading", () => {
    const home = temporaryHome();
    expect(openSettingsFile(join(home, "none")).profiles()).toEqual({});
    expect(readdirSync(home)).toEqual([]);
  });

  it.each(["{ not json: tok_very_secret", "[]", "", '{"profiles":3}'])(
    "is left as it is, and not used, if it holds %j",
    async (text) => {
      const folder = temporaryHome();
      const path = join(folder, "settings.json");
      writeFileSync(path, text);
      const settings = openSettingsFile(folder);
      const error = await failure(settings.change("shop", () => ({ token: "t" })));
      expect(error).toMatchObject({ code: "file_unreadable", message: expect.stringContaining(path) });
      expect(error.message).not.toContain("secret");
      expect(readFileSync(path, "utf8")).toBe(text);
      expect(readdirSync(folder)).toEqual(["settings.json"]);
    },
  );

  it("makes a profile current only if there is none", async () => {
    const settings = openSettingsFile(temporaryHome());
    await settings.change("first", () => ({}));
    await settings.change("second", () => ({}));
    expect(settings.current()).toBe("first");
    await settings.use("second");
    expect(settings.current()).toBe("second");
  });

  it("waits while another command stores, and removes an abandoned lock", async () => {
    const home = temporaryHome();
    const settings = openSettingsFile(home);
    writeFileSync(`${settings.path}.lock`, "");
    const change = settings.change("shop", () => ({ token: "t" }));
    expect(settings.profiles()).toEqual({});
    await change;
    expect(settings.profiles()).toEqual({ shop: { token: "t" } });
    expect(readdirSync(home)).toEqual(["settings.json"]);
  });

  it("keeps members that are not settings, and names each with the nearest one", async () => {
    const home = temporaryHome();
    const shop = { baseUrl: "https://service.example", terminalID: "7", baseURL: "x" };
    const file = { profiles: { shop, other: { note: "mine" } }, curent: "shop" };
    writeFileSync(join(home, "settings.json"), JSON.stringify(file));
    const set = await runCommand(["config", "set", "currency", "EUR", "-p", "shop"], { home });
    expect(set.exit).toBe(0);
    expect(JSON.parse(readFileSync(join(home, "settings.json"), "utf8"))).toMatchObject({
      ...file,
      profiles: { ...file.profiles, shop: { ...shop, currency: "EUR" } },
    });
    const listed = await runCommand(["config", "list", "-p", "shop"], { home });
    const named = [
      "profiles.shop.terminalID (did you mean terminalId?)",
      "profiles.shop.baseURL (did you mean baseUrl?)",
      "profiles.other.note",
      "curent (did you mean current?)",
    ];
    const status = await runCommand(["status", "-p", "shop"], { home });
    for (const text of [listed.stderr, status.stdout])
      for (const name of named) expect(text.replace(/\s+/g, " ")).toContain(name);
    const json = await runCommand(["config", "list", "-p", "shop", "--json"], { home });
    expect(JSON.parse(json.stdout)).toMatchObject({
      unknown: [{ at: "curent", nearest: "current" }, {}, {}, {}],
    });
    await openSettingsFile(home).remove("other");
    expect(readFileSync(join(home, "settings.json"), "utf8")).not.toContain("mine");
  });
});
