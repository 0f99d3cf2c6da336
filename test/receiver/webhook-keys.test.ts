/** Keys that are renewed while in use: at most once a minute, and never lost because a renewal failed. */
import { describe, expect, it } from "vitest";
import { generateKeyPairSync } from "node:crypto";
import type { Send } from "../../src/http/exchange.ts";
import { openKeyring } from "../../src/receiver/webhook-keys.ts";
import { publicJwk } from "../../src/signatures/keys.ts";

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
    warn: (warning: string) => void warnings.push(warning),
    now: () => new Date(clock),
  };
  return { io, warnings, fetched: () => fetched, pass: (seconds: number) => (clock += seconds * 1000) };
}

const URL = "https://service.example/jwks.json";
const ids = (keys: readonly { readonly keyid: string | null }[] | undefined) =>
  keys?.map(({ keyid }) => keyid);

describe("a keyring", () => {
  it("is renewed at most once a minute, however many ask", async () => {
    const { io, fetched, pass } = service("a", "b", "c");
    const ring = await openKeyring([URL], io);
    expect(ids(ring.keys)).toEqual(["a"]);
    const renewed = await Promise.all([ring.renew(), ring.renew()]);
    expect(renewed.map(ids)).toEqual([["b"], ["b"]]);
    expect(await ring.renew()).toBeUndefined();
    pass(59);
    expect(await ring.renew()).toBeUndefined();
    pass(1);
    expect(ids(await ring.renew())).toEqual(["c"]);
    expect(fetched()).toBe(3);
  });

  it("keeps what it has when the renewal fails, and says so", async () => {
    const { io, warnings } = service("a", null);
    const ring = await openKeyring([URL], io);
    expect(ids(await ring.renew())).toEqual(["a"]);
    expect(warnings.join()).toContain("stay in use");
  });

  it("is not fetched without TLS from another machine", async () => {
    await expect(openKeyring(["http://service.example/jwks.json"], service("a").io)).rejects.toThrow(
      "not https",
    );
  });
});
