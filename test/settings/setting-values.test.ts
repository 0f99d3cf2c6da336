/** Settings: a value is normalised the same way wherever it is set, and normalising never changes what it means. */
import { join, resolve } from "node:path";
import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { serviceLabel } from "../../src/domain/known-services.ts";
import type { Environment } from "../../src/values/typed-text.ts";
import { resolveSettings } from "../../src/settings/resolved-settings.ts";
import type { Profile } from "../../src/settings/profile.ts";
import { SETTING_KEYS, SETTINGS } from "../../src/settings/setting-table.ts";
import { openSettingsFile } from "../../src/settings/settings-file.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";

/** The values of a profile as the settings file holds it. */
function stored(profile: unknown): Profile {
  const folder = temporaryHome();
  writeFileSync(join(folder, "settings.json"), JSON.stringify({ profiles: { shop: profile } }));
  return openSettingsFile(folder).profiles()["shop"] ?? {};
}

const settingsOf = (profile: Profile, env: Environment = {}) =>
  resolveSettings({ name: "shop", profile, env });

function normal(key: "baseUrl" | "callbackUrl" | "transactionUrl", text: string): string {
  const read = SETTINGS[key].parse(text);
  if (!read.ok) throw new Error(`${text} ${read.message}`);
  return read.value;
}

describe("a value", () => {
  it.each([
    ["baseUrl", "HTTPS://API.Service.Example:443/base//", "https://api.service.example/base"],
    ["tokenUrl", "https://OAuth.Service.Example:443/Token/", "https://oauth.service.example/Token/"],
    ["callbackUrl", "HTTP://Shop.example:80", "http://shop.example"],
    ["webhookKey", "HTTPS://Service.example/JWKS.json", ["https://service.example/JWKS.json"]],
    ["webhookKey", "keys/service.pem", [resolve("keys/service.pem")]],
    ["webhookKey", "-----BEGIN PUBLIC KEY-----\\nMII", ["-----BEGIN PUBLIC KEY-----\\nMII"]],
    ["eventStore", "events.db", resolve("events.db")],
    ["eventStore", "postgres://db/paylink", "postgres://db/paylink"],
  ] as const)("of %s is the same from a flag, the environment and the profile: %s", (key, text, expected) => {
    const { variable } = SETTINGS[key];
    expect(SETTINGS[key].parse(text)).toEqual({ ok: true, value: expected });
    expect(settingsOf({}, { [variable]: text }).find(key)).toEqual({
      value: expected,
      source: "environment",
    });
    expect(settingsOf(stored({ [key]: text })).find(key)).toEqual({ value: expected, source: "profile" });
  });

  it("comes from the environment, the profile, the service or the default, in this order", () => {
    const env = { PAYLINK_BASE_URL: "https://environment.example" };
    const shop = stored({ service: "dna", baseUrl: "https://profile.example", tokenAuth: "basic" });
    expect(settingsOf(shop, env).find("baseUrl")?.source).toBe("environment");
    expect(settingsOf(shop).find("baseUrl")?.source).toBe("profile");
    expect(settingsOf(shop).get("tokenAuth")).toBe("basic");
    const { baseUrl: _, ...rest } = shop;
    expect(settingsOf(rest).find("baseUrl")).toEqual({
      value: "https://api.dnapayments.com",
      source: "service",
    });
    expect(settingsOf({}).find("tokenAuth")).toEqual({ value: "post", source: "default" });
  });

  it("has no default where the service has no such address", () => {
    expect(settingsOf({}).get("transactionUrl")).toBe("/v1/transactions/{uti}");
    expect(settingsOf({ service: "dna" }).find("transactionUrl")).toBeUndefined();
  });

  it("that is invalid in the file is named with its key and the file, and not printed", () => {
    expect(() => stored({ transactionUrl: "data", token: "tok_secret" })).toThrow(
      expect.objectContaining({
        message: expect.stringContaining("settings.json holds invalid values") as unknown,
        problems: [
          {
            at: "profiles.shop.transactionUrl",
            message: expect.stringContaining("{uti}") as unknown,
          },
        ],
      }),
    );
  });

  it.each(["a/../../../x", "..\\x", "my shop", "-p"])("is not read for a profile named %j", (name) => {
    const folder = temporaryHome();
    storeProfiles(folder, { [name]: {} });
    expect(() => openSettingsFile(folder).profiles()).toThrow(
      expect.objectContaining({
        problems: [
          { at: expect.any(String) as unknown, message: expect.stringMatching(/^the name must/) as unknown },
        ],
      }),
    );
  });

  it("is already normalised if it is a default", () => {
    const defaults = SETTING_KEYS.flatMap((key) => {
      const value = SETTINGS[key].default;
      return value === undefined ? [] : [{ value, read: SETTINGS[key].parse(value) }];
    });
    expect(defaults.length).toBeGreaterThan(4);
    for (const { value, read } of defaults) expect(read).toEqual({ ok: true, value });
  });
});

it.each([
  ["http://127.0.0.1:4010", "LOCAL"],
  ["https://test-api.dnapayments.com", "TEST"],
  ["https://test-api.dnapayments.com/base", "TEST"],
  ["https://api.dnapayments.com", "LIVE"],
  ["https://test-api.dnapayments.com.evil.example", "CUSTOM"],
  ["https://127.0.0.1.example", "CUSTOM"],
  ["not a URL", "CUSTOM"],
])("%s is labelled %s", (baseUrl, label) => {
  expect(serviceLabel(baseUrl)).toBe(label);
});

it.each<[name: string, profile: Profile, env: Environment, label: string]>([
  ["sandbox", { baseUrl: "http://127.0.0.1:4010" }, {}, "sandbox"],
  ["sandbox", { baseUrl: "https://api.dnapayments.com" }, {}, "LIVE"],
  ["sandbox", { baseUrl: "http://127.0.0.1:4010" }, { PAYLINK_BASE_URL: "http://127.0.0.1:9" }, "LOCAL"],
  ["shop", { service: "dna", baseUrl: "http://127.0.0.1:4010" }, {}, "LOCAL"],
  ["shop", { baseUrl: "http://127.0.0.1:4010" }, {}, "LOCAL"],
  ["shop", { service: "dna-test" }, {}, "TEST"],
  ["shop", { service: "dna" }, {}, "LIVE"],
])("only the profile that the sandbox wrote is the sandbox: %s %j %j %s", (name, profile, env, label) => {
  expect(resolveSettings({ name, profile, env }).label).toBe(label);
});

describe("normalising an address", () => {
  const upper = (text: string, index: number): string =>
    text.slice(0, index) + text.slice(index).toUpperCase();
  /** Addresses with an upper-case part in scheme or host, a default port, slashes and queries. */
  const addresses = fc
    .tuple(
      fc.webUrl({ validSchemes: ["http", "https"], withQueryParameters: true, withFragments: true }),
      fc.nat({ max: 12 }),
      fc.constantFrom("", ":80", ":443", ":8443"),
    )
    .map(([text, from, port]) => {
      const [, origin = "", rest = ""] = /^(https?:\/\/[^/?#]*)(.*)$/.exec(text) ?? [];
      return upper(origin, Math.min(from, origin.length)) + port + rest;
    });

  it("never changes where it leads", () => {
    fc.assert(
      fc.property(addresses, (text) => {
        expect(new URL(normal("callbackUrl", text)).href).toBe(new URL(text).href);
      }),
    );
  });

  it("keeps the path and the query as they are spelled", () => {
    expect(normal("callbackUrl", "HTTPS://Shop.example/{Id}/%7e/../x?Q={A}#F")).toBe(
      "https://shop.example/{Id}/%7e/../x?Q={A}#F",
    );
    expect(normal("transactionUrl", "HTTPS://Api.example:443/T/{uti}")).toBe("https://api.example/T/{uti}");
  });

  it.each(["https://api.example/v1", "https://api.example/v1/", "https://api.example/"])(
    "of a base URL leaves out the version, which each path begins with: %s",
    (text) => {
      expect(normal("baseUrl", text)).toBe("https://api.example");
    },
  );

  it("of a base URL removes only its last slashes", () => {
    fc.assert(
      fc.property(addresses, fc.constantFrom("", "/", "//"), (text, slashes) => {
        const base = text.replace(/[?#].*$/, "");
        const once = normal("baseUrl", base + slashes);
        expect(normal("baseUrl", once)).toBe(once);
        expect(new URL(`${once}/v1`).href).toBe(new URL(`${base.replace(/\/+$/, "")}/v1`).href);
      }),
    );
  });
});
