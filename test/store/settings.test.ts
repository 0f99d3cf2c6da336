/** The settings on a real disk: who may read them, what becomes of a broken file, and of writers at the same time. */
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSettings } from "../../src/store/settings/settings.ts";
import { temporaryHome } from "../support/home.ts";
import { runPaylink } from "../support/paylink.ts";

const silent = (warning: string): void => {
  throw new Error(`unexpected: ${warning}`);
};

describe("the settings file", () => {
  it("is its owner's alone, in a folder that is its owner's alone", async () => {
    const folder = join(temporaryHome(), "deep", "config");
    const settings = openSettings(folder, silent);
    await settings.save("a.b.c", { baseUrl: "https://service.example", token: "t" });
    expect(statSync(settings.path).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(openSettings(folder, silent).profiles()).toEqual({
      "a.b.c": { baseUrl: "https://service.example", token: "t" },
    });
    expect(readdirSync(folder)).toEqual(["settings.json"]);
  });

  it("is not made by reading", () => {
    const home = temporaryHome();
    expect(openSettings(join(home, "none"), silent).profiles()).toEqual({});
    expect(readdirSync(home)).toEqual([]);
  });

  it.each(["{ not json: tok_very_secret", "[]", "", '{"profiles":3}'])(
    "is set aside with its content where it holds %j",
    async (text) => {
      const folder = temporaryHome();
      writeFileSync(join(folder, "settings.json"), text, { mode: 0o644 });
      const warnings: string[] = [];
      const settings = openSettings(folder, (warning) => warnings.push(warning));
      await settings.save("shop", { token: "t" });
      expect(settings.profiles()).toEqual({ shop: { token: "t" } });
      const aside = join(folder, "settings.json.broken");
      expect(readFileSync(aside, "utf8")).toBe(text);
      expect(statSync(aside).mode & 0o777).toBe(0o600);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(aside);
      expect(warnings[0]).not.toContain("secret");
    },
  );

  it("is kept where one value in it cannot be, and the value is named without being repeated", () => {
    const folder = temporaryHome();
    writeFileSync(join(folder, "settings.json"), '{"profiles":{"shop":{"currency":"EURO"}}}');
    expect(() => openSettings(folder, silent).profiles()).toThrow(/holds values/);
    expect(readdirSync(folder)).toEqual(["settings.json"]);
  });

  it("makes a profile current only where there is none", async () => {
    const settings = openSettings(temporaryHome(), silent);
    await settings.save("first", {});
    await settings.save("second", {});
    expect(settings.current()).toBe("first");
    await settings.use("second");
    expect(settings.current()).toBe("second");
  });

  it("loses nothing to a lock that a killed process left behind", async () => {
    const folder = temporaryHome();
    const lock = join(folder, "settings.json.lock");
    writeFileSync(lock, "");
    utimesSync(lock, 1, 1);
    await openSettings(folder, silent).save("shop", {});
    expect(readdirSync(folder)).toEqual(["settings.json"]);
  });

  it("loses nothing to processes that write at once", async () => {
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
    expect(openSettings(home, silent).profiles()).toEqual({ shop: values });
  });
});
