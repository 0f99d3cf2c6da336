/** The settings on a real disk: who may read them, damaged files, and several writers at once. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSettingsFile } from "../../src/settings/settings-file.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { runPaylink } from "../support/paylink.ts";

const silent = (warning: string): void => {
  throw new Error(`unexpected: ${warning}`);
};

describe("the settings file", () => {
  it("can be read by its owner only, in a folder that only its owner can open", async () => {
    const folder = join(temporaryHome(), "deep", "config");
    const settings = openSettingsFile(folder, silent);
    await settings.change("a.b.c", () => ({ baseUrl: "https://service.example", token: "t" }));
    expect(statSync(settings.path).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(openSettingsFile(folder, silent).profiles()).toEqual({
      "a.b.c": { baseUrl: "https://service.example", token: "t" },
    });
    expect(readdirSync(folder)).toEqual(["settings.json"]);
  });

  it("is written through a link, whose file keeps its mode, and so does a folder behind a link", async () => {
    const home = temporaryHome();
    const [folder, real] = [join(home, "linked"), join(home, "real")];
    mkdirSync(real);
    chmodSync(real, 0o755);
    symlinkSync(real, folder);
    writeFileSync(join(home, "own.conf"), "{}");
    chmodSync(join(home, "own.conf"), 0o640);
    symlinkSync(join(home, "own.conf"), join(folder, "settings.json"));
    const warnings: string[] = [];
    await openSettingsFile(folder, (text) => void warnings.push(text)).change("shop", () => ({ token: "t" }));
    expect(warnings).toEqual([expect.stringContaining(`chmod 600 ${join(home, "own.conf")}`)]);
    expect(lstatSync(join(folder, "settings.json")).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(join(home, "own.conf"), "utf8"))).toMatchObject({
      profiles: { shop: { token: "t" } },
    });
    expect(statSync(join(home, "own.conf")).mode & 0o777).toBe(0o640);
    expect(statSync(real).mode & 0o777).toBe(0o755);
    const { stdout } = await runPaylink(["status", "-p", "shop", "--json"], {
      home: folder,
      env: { PAYLINK_BASE_URL: "http://127.0.0.1:9" },
    });
    const { checks } = JSON.parse(stdout) as { readonly checks: readonly unknown[] };
    expect(checks[0]).toMatchObject({ check: "settings file", state: "warning" });
    chmodSync(join(home, "own.conf"), 0o600);
    await openSettingsFile(folder, silent).change("shop", () => ({ token: "t" }));
  });

  it("cannot be written in a folder that cannot be made, which is said at once", async () => {
    // On Linux, the recursive mkdir of Node never ends there.
    const settings = openSettingsFile("/proc/paylink-test/config", silent);
    await expect(settings.change("shop", () => ({}))).rejects.toMatchObject({ code: "file_unwritable" });
  });

  it("is no pipe, which has no end, and its lock is no folder", async () => {
    const home = temporaryHome();
    mkdirSync(join(home, "settings.json.lock"));
    await expect(openSettingsFile(home, silent).change("shop", () => ({}))).rejects.toMatchObject({
      code: "file_unwritable",
      message: expect.stringContaining("settings.json.lock is not a file"),
    });
    execFileSync("mkfifo", [join(home, "settings.json")]);
    const { exit, stderr } = await runCommand(["config", "list"], { home });
    expect(exit).toBe(2);
    expect(stderr).toContain("cannot be read: it is a pipe.");
  });

  it("is as before, with a plain reason, where it cannot be written", async () => {
    const home = temporaryHome();
    writeFileSync(join(home, "file"), "");
    const settings = openSettingsFile(join(home, "file", "config"), silent);
    await expect(settings.change("shop", () => ({}))).rejects.toMatchObject({
      code: "file_unwritable",
      message: expect.stringMatching(
        /^The settings in .* cannot be written: .*They are as they were before\.$/,
      ),
    });
  });

  it("may begin with a byte order mark", () => {
    const folder = temporaryHome();
    writeFileSync(join(folder, "settings.json"), '\uFEFF{"profiles":{"shop":{"currency":"EUR"}}}');
    expect(openSettingsFile(folder, silent).profiles()).toEqual({ shop: { currency: "EUR" } });
  });

  it("is not created by reading", () => {
    const home = temporaryHome();
    expect(openSettingsFile(join(home, "none"), silent).profiles()).toEqual({});
    expect(readdirSync(home)).toEqual([]);
  });

  it.each(["{ not json: tok_very_secret", "[]", "", '{"profiles":3}'])(
    "is renamed with its content if it holds %j",
    async (text) => {
      const folder = temporaryHome();
      writeFileSync(join(folder, "settings.json"), text, { mode: 0o644 });
      const warnings: string[] = [];
      const settings = openSettingsFile(folder, (warning) => warnings.push(warning));
      await settings.change("shop", () => ({ token: "t" }));
      expect(settings.profiles()).toEqual({ shop: { token: "t" } });
      const aside = join(folder, "settings.json.broken");
      expect(readFileSync(aside, "utf8")).toBe(text);
      expect(statSync(aside).mode & 0o777).toBe(0o600);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(aside);
      expect(warnings[0]).not.toContain("secret");
    },
  );

  it("is kept if one value in it is invalid, and the value is named but not printed", () => {
    const folder = temporaryHome();
    writeFileSync(join(folder, "settings.json"), '{"profiles":{"shop":{"currency":"EURO"}}}');
    expect(() => openSettingsFile(folder, silent).profiles()).toThrow(/holds invalid values/);
    expect(readdirSync(folder)).toEqual(["settings.json"]);
  });

  it("makes a profile current only if there is none", async () => {
    const settings = openSettingsFile(temporaryHome(), silent);
    await settings.change("first", () => ({}));
    await settings.change("second", () => ({}));
    expect(settings.current()).toBe("first");
    await settings.use("second");
    expect(settings.current()).toBe("second");
  });

  it("replaces a lock that a killed process left behind", async () => {
    const folder = temporaryHome();
    const lock = join(folder, "settings.json.lock");
    writeFileSync(lock, "");
    utimesSync(lock, 1, 1);
    await openSettingsFile(folder, silent).change("shop", () => ({}));
    expect(readdirSync(folder)).toEqual(["settings.json"]);
  });

  it("loses nothing when processes write at once", async () => {
    const home = temporaryHome();
    mkdirSync(home, { recursive: true });
    const values = {
      currency: "EUR",
      customerName: "Ada",
      expires: "36h",
      clientId: "shop",
      terminalId: "1",
    };
    const runs = await Promise.all(
      Object.entries(values).map(([key, value]) =>
        runPaylink(["config", "set", key, value, "-p", "shop"], { home }),
      ),
    );
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(openSettingsFile(home, silent).profiles()).toEqual({ shop: values });
  });
});
