/** Keys from every source, and their renewal: at most once a minute, and never lost because a renewal failed. */
import { describe, expect, it } from "vitest";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Send } from "../../src/http/exchange.ts";
import { loadKeys, openKeyring } from "../../src/receiver/webhook-keys.ts";
import { publicJwk } from "../../src/signatures/keys.ts";
import { adviceOf, failure } from "../support/failure.ts";
import { selfSigned } from "../support/certificate.ts";
import { temporaryHome } from "../support/home.ts";

const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

function service(...kids: (string | null)[]) {
  const warnings: string[] = [];
  let clock = 1_000_000;
  let fetched = 0;
  const send: Send = async () => {
    const kid = kids[fetched++];
    if (kid === null || kid === undefined) throw new Error("the service is down");
    const body = JSON.stringify({ keys: [publicJwk(publicKey, kid)] });
    return { status: 200, headers: [], body: Buffer.from(body) };
  };
  const io = {
    send,
    readFile: () => Promise.reject(new Error("no file is read here")),
    place: "--key",
    effect: "receive" as const,
    warn: (warning: string) => void warnings.push(warning),
    now: () => new Date(clock),
  };
  return { io, warnings, fetched: () => fetched, pass: (seconds: number) => (clock += seconds * 1000) };
}

const URL = "https://service.example/jwks.json";
const ids = (keys: readonly { readonly keyid: string | null }[]) => keys.map(({ keyid }) => keyid);

describe("a keyring", () => {
  it("is renewed at most once a minute, however many ask", async () => {
    const { io, fetched, pass } = service("a", "b", "c");
    const ring = await openKeyring([URL], io);
    expect(ids(ring.keys())).toEqual(["a"]);
    const renewed = await Promise.all([ring.renew(), ring.renew()]);
    expect(renewed).toEqual([true, true]);
    expect(ids(ring.keys())).toEqual(["b"]);
    expect(await ring.renew()).toBe(false);
    pass(59);
    expect(await ring.renew()).toBe(false);
    pass(1);
    expect(await ring.renew()).toBe(true);
    expect(ids(ring.keys())).toEqual(["c"]);
    expect(fetched()).toBe(3);
  });

  it("keeps what it has when the renewal fails, and says so", async () => {
    const { io, warnings } = service("a", null);
    const ring = await openKeyring([URL], io);
    expect(await ring.renew()).toBe(true);
    expect(ids(ring.keys())).toEqual(["a"]);
    expect(warnings.join()).toContain("stay in use");
  });

  it("is not fetched without TLS from another machine", async () => {
    await expect(openKeyring(["http://service.example/jwks.json"], service("a").io)).rejects.toThrow(
      "not https",
    );
  });
});

describe("an address that gives no key", () => {
  const answering = (status: number, headers: readonly (readonly [string, string])[] = []) => ({
    ...service().io,
    send: async () => ({ status, headers, body: Buffer.from("") }),
  });

  it.each([
    ["/keys/v2.json", "https://service.example/keys/v2.json"],
    ["https://cdn.example/keys.json", "https://cdn.example/keys.json"],
  ])("names the target of a redirect, and does not follow it: %s", async (location, target) => {
    const error = await failure(loadKeys([URL], answering(302, [["Location", location]])));
    expect(error).toMatchObject({
      code: "key_invalid",
      message: expect.stringContaining(`redirects to ${target}`),
    });
    expect(adviceOf(error)).toMatch(/^Nothing was received\. .*paylink config set webhookKey <url>$/);
  });

  it.each([401, 403])("says that a key behind a login must be a file: %i", async (status) => {
    const error = await failure(loadKeys([URL], answering(status)));
    expect(error).toMatchObject({
      code: "key_invalid",
      message: expect.stringContaining("requires a token"),
    });
    expect(adviceOf(error)).toContain("Download the key");
  });

  it("is not reached if it answers anything else", async () => {
    await expect(loadKeys([URL], answering(404))).rejects.toMatchObject({ code: "not_reached" });
  });
});

describe("a certificate", () => {
  it.each([
    ["is about to expire", 0, "expires on"],
    ["has expired", 2, "expired on"],
    ["is not valid yet", -3, "is not valid before"],
  ])("that %s is a warning with the date", async (_, days, words) => {
    const { io, warnings } = service();
    const { cert } = selfSigned(temporaryHome(), "service.example");
    const { validFrom, validTo } = new X509Certificate(readFileSync(cert));
    const date = new Date(days < 0 ? validFrom : validTo).toISOString().slice(0, 10);
    const now = (): Date => new Date(Date.now() + days * 24 * 3600 * 1000);
    expect(await loadKeys([cert], { ...io, readFile: (path) => readFile(path), now })).toHaveLength(1);
    expect(warnings).toEqual([expect.stringContaining(`${words} ${date}`)]);
  });
});

it.each(["http://me:s3cret@service.example/jwks", "https://me:s3cret@service.example/jwks"])(
  "the failure of the key at %s does not repeat its password",
  async (url) => {
    const failure = await openKeyring([url], service(null).io).catch(String);
    expect(failure).toContain("://me:[redacted]@service.example/jwks");
  },
);
