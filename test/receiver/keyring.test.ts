/** Keys from every source, and their renewal: in time, by a budget, and never lost because one failed. */
import { describe, expect, it } from "vitest";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Send } from "../../src/http/exchange.ts";
import { loadKeys } from "../../src/receiver/key-sources.ts";
import { type Keyring, openKeyring } from "../../src/receiver/keyring.ts";
import { publicJwk } from "../../src/signatures/keys.ts";
import { adviceOf, failure } from "../support/failure.ts";
import { selfSigned } from "../support/certificate.ts";
import { temporaryHome } from "../support/home.ts";
import { KEYS } from "../support/keys.ts";

/** A key server that gives one answer after the other, null for a failure, and a clock that the test moves. */
function service(...kids: (string | null)[]) {
  const warnings: string[] = [];
  let clock = 1_000_000;
  let fetched = 0;
  let cacheControl: string | undefined;
  const send: Send = async () => {
    const kid = kids[Math.min(fetched++, kids.length - 1)];
    if (kid === null || kid === undefined) throw new Error("the service is down");
    const body = JSON.stringify({ keys: [publicJwk(KEYS.publicKey, kid)] });
    const headers = cacheControl === undefined ? [] : ([["Cache-Control", cacheControl]] as const);
    return { status: 200, headers, body: Buffer.from(body) };
  };
  const io = {
    send,
    readFile: () => Promise.reject(new Error("no file is read here")),
    place: "--key",
    effect: "receive" as const,
    warn: (warning: string) => void warnings.push(warning),
    now: () => new Date(clock),
  };
  return {
    io,
    warnings,
    fetched: () => fetched,
    cached: (value: string) => (cacheControl = value),
    pass: (seconds: number) => (clock += seconds * 1000),
  };
}

const URL = "https://service.example/jwks.json";
const ids = async (ring: Keyring) => (await ring.keys()).map(({ keyid }) => keyid);

describe("a keyring", () => {
  it("is renewed at once for an unknown key, and at most six times a minute after that", async () => {
    const { io, fetched, pass } = service("a", "b", "c");
    const ring = await openKeyring([URL], io);
    expect(await ids(ring)).toEqual(["a"]);
    const renewed = await Promise.all([ring.renew(), ring.renew()]);
    expect(renewed).toEqual([true, true]);
    expect(await ids(ring)).toEqual(["b"]);
    expect(await ring.renew()).toBe(false);
    pass(9);
    expect(await ring.renew()).toBe(false);
    pass(1);
    expect(await ring.renew()).toBe(true);
    expect(await ids(ring)).toEqual(["c"]);
    expect(fetched()).toBe(3);
    for (let second = 0; second < 60; second++) {
      await ring.renew();
      pass(1);
    }
    expect(fetched()).toBe(3 + 5);
  });

  it("keeps what it has when the renewal fails, and says so", async () => {
    const { io, warnings } = service("a", null);
    const ring = await openKeyring([URL], io);
    expect(await ring.renew()).toBe(true);
    expect(await ids(ring)).toEqual(["a"]);
    expect(warnings.join()).toContain("stay in use");
  });

  it.each<[string | undefined, number]>([
    [undefined, 600],
    ["public", 600],
    ["public, max-age=120", 120],
    ["max-age=5", 60],
    ["MAX-AGE=999999999999", 3600],
    ["s-maxage=7", 600],
  ])("is read again in time, so that a key that has gone is not trusted: %s", async (control, seconds) => {
    const { io, fetched, pass, cached } = service("a", "b");
    if (control !== undefined) cached(control);
    const ring = await openKeyring([URL], io);
    pass(seconds - 1);
    expect([await ids(ring), fetched()]).toEqual([["a"], 1]);
    pass(1);
    const together = await Promise.all([ids(ring), ids(ring)]);
    expect([together, fetched()]).toEqual([[["b"], ["b"]], 2]);
  });

  it("is read again if the clock was set back", async () => {
    const { io, pass } = service("a", "b");
    const ring = await openKeyring([URL], io);
    pass(-3600);
    expect(await ids(ring)).toEqual(["b"]);
  });

  it("keeps its last keys while they cannot be read, warns once, and makes nobody wait for the next attempt", async () => {
    const { io, fetched, warnings, pass } = service("a", null, null, "b");
    const ring = await openKeyring([URL], io);
    pass(600);
    expect(await ids(ring)).toEqual(["a"]);
    expect([await ids(ring), fetched()]).toEqual([["a"], 2]);
    for (const id of ["a", "b"]) {
      pass(60);
      expect(await ids(ring)).toEqual(["a"]);
      await new Promise(setImmediate);
      expect(await ids(ring)).toEqual([id]);
    }
    expect([fetched(), warnings]).toEqual([4, [expect.stringContaining("stay in use")]]);
  });

  it("works with its other keys while a source cannot be read, and takes that source's key once it can", async () => {
    const { io, warnings, pass } = service(null, null, "b");
    const ring = await openKeyring([URL, KEYS.publicPem], io);
    expect(await ids(ring)).toEqual([null]);
    expect(warnings).toEqual([
      expect.stringMatching(/^The other keys are used\. .*503.* The key at https:\S+ cannot be fetched: /),
    ]);
    expect(ring.sources()).toEqual([
      { name: URL, isUp: false },
      { name: "the key", isUp: true },
    ]);
    expect(await ring.renew()).toBe(true);
    expect(ring.sources()[0]).toMatchObject({ isUp: false });
    pass(10);
    expect(await ring.renew()).toBe(true);
    expect([await ids(ring), ring.sources()[0], warnings.length]).toEqual([
      ["b", null],
      { name: URL, isUp: true },
      1,
    ]);
  });

  it("names every source where none can be read", async () => {
    const { io } = service(null);
    await expect(openKeyring([URL, "-----BEGIN nothing-----"], io)).rejects.toMatchObject({
      code: "not_reached",
      message: "No key can be read.",
      problems: [
        { message: expect.stringContaining("cannot be fetched") },
        { message: expect.stringContaining("without its END line") },
      ],
    });
    const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
    await expect(openKeyring([URL, JSON.stringify(publicJwk(weak, "w"))], io)).rejects.toMatchObject({
      code: "not_reached",
    });
  });

  it("names the keys that are not tried", async () => {
    const { io, warnings } = service();
    const jwk = publicJwk(KEYS.publicKey, "k");
    const keys = Array.from({ length: 10 }, (_, at) => ({
      ...jwk,
      kid: `k${at}`,
      e: Buffer.from([2 * at + 3]).toString("base64url"),
    }));
    await openKeyring([JSON.stringify({ keys: keys.slice(0, 8) })], io);
    expect(warnings).toEqual([]);
    await openKeyring([JSON.stringify({ keys: keys.slice(0, 5) }), JSON.stringify(keys.slice(4))], io);
    expect(warnings).toEqual([
      "10 keys are given, and a webhook that names none of them is tried with the first 8. Not tried: k8, k9. Leave out the keys that the service has replaced.",
    ]);
  });

  it("reads no file or text again by itself", async () => {
    const { io, pass } = service();
    const pem = KEYS.publicPem;
    let read = 0;
    const readFile = async () => Buffer.from(++read === 1 ? pem : "");
    const ring = await openKeyring([pem, "service.pem"], { ...io, readFile });
    pass(1_000_000);
    expect(await ids(ring)).toEqual([null, null]);
    expect(read).toBe(1);
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
    expect(adviceOf(error)).toMatch(
      /^Nothing was received\. .*--key <url>, or paylink config set webhookKey <url>$/,
    );
  });

  it.each([403, 404])("counts as not reached if it answers anything else: %i", async (status) => {
    const error = await failure(loadKeys([URL], answering(status)));
    expect(error).toMatchObject({ code: "not_reached", message: expect.stringContaining(String(status)) });
    expect(adviceOf(error)).toContain("give a key file: --key <file>");
  });
});

describe("a certificate", () => {
  it.each([
    ["has expired", 2, " to"],
    ["is not valid yet", -3, "is valid from"],
  ])("that %s is a warning with the date", async (_, days, words) => {
    const { io, warnings } = service();
    const { cert } = selfSigned(temporaryHome(), "service.example", KEYS.privatePem);
    const { validFrom, validTo } = new X509Certificate(readFileSync(cert));
    const date = new Date(days < 0 ? validFrom : validTo).toISOString().slice(0, 10);
    const now = (): Date => new Date(Date.now() + days * 24 * 3600 * 1000);
    const access = { ...io, readFile: (path: string) => readFile(path), now };
    const warning = [expect.stringContaining(`${words} ${date}`)];
    const { keys, warningsAt } = await loadKeys([cert], access);
    expect({ count: keys.length, warnings: warningsAt(now()) }).toEqual({ count: 1, warnings: warning });
    const ring = await openKeyring([cert], access);
    expect(await ring.keys()).toHaveLength(1);
    expect(warnings).toEqual(warning);
  });
});

it.each(["http://me:s3cret@service.example/jwks", "https://me:s3cret@service.example/jwks"])(
  "the failure of the key at %s does not repeat its password",
  async (url) => {
    const failure = await openKeyring([url], service(null).io).catch(String);
    expect(failure).toContain("://me:[redacted]@service.example/jwks");
  },
);
