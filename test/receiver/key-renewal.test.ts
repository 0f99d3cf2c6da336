/** When a receiver renews its keys: wherever a key that is newer than its own may verify the signature. And what it answers where it cannot judge. */
import { createSecretKey } from "node:crypto";
import { expect, it } from "vitest";
import type { HeaderLine } from "../../src/http/message.ts";
import { publicJwk, type VerificationKey } from "../../src/signatures/keys.ts";
import { startTestReceiver } from "../support/receiver.ts";
import { keysOf } from "../support/vectors.ts";
import { forged, post, record, webhook } from "../support/webhooks.ts";
import { KEYS, OTHER_KEYS } from "../support/keys.ts";

const [oldPair, newPair] = [OTHER_KEYS, KEYS];
const { privateKey } = newPair;
const jwks = (...kids: string[]): readonly VerificationKey[] =>
  keysOf(
    JSON.stringify({
      keys: kids.map((kid, at) =>
        kid.startsWith("new")
          ? publicJwk(newPair.publicKey, kid)
          : // Another exponent makes another key.
            { ...publicJwk(oldPair.publicKey, kid), e: ["AQAB", "Aw", "BQ", "Bw", "CQ"][at] },
      ),
    }),
  );
const unnamed = (keys: readonly VerificationKey[]): readonly VerificationKey[] =>
  keys.map((key) => ({ ...key, keyid: null, isAnonymous: true }));
const encryption = (keys: readonly VerificationKey[]): readonly VerificationKey[] =>
  keys.map((key) => ({ ...key, use: "enc" }));

async function deliver(
  keys: readonly VerificationKey[],
  keyid: string | null,
): Promise<[status: number, renewals: number]> {
  let renewals = 0;
  const { server } = await startTestReceiver({
    keys: async () => (renewals === 0 ? keys : jwks("old", "new")),
    renewKeys: async () => {
      renewals += 1;
      return true;
    },
  });
  const key = { keyid, key: privateKey };
  const status = await post(server.url, webhook(server.url, record(), { key }));
  return [status, renewals];
}

it.each<[string, readonly VerificationKey[], string | null, number, number]>([
  ["an unknown keyid", jwks("old"), "new", 200, 1],
  ["no keyid, and no key that verifies", jwks("old"), null, 200, 1],
  ["no keyid, and more keys than are tried", jwks("old", "old-2", "old-3", "old-4", "old-5"), null, 200, 1],
  ["no keyid, and no usable key", encryption(jwks("old")), null, 200, 1],
  ["a keyid, and a key without id that does not verify", unnamed(jwks("old")), "new", 200, 1],
  ["no keyid, and a key that verifies", jwks("new"), null, 200, 0],
  ["a keyid whose key does not verify, and was not replaced", jwks("old"), "old", 401, 1],
  ["a keyid whose key was replaced under it", jwks("old"), "new", 200, 1],
])("%s", async (_, keys, keyid, status, renewals) => {
  expect(await deliver(keys, keyid)).toEqual([status, renewals]);
});

it.each<[string, string | null, "other" | "body" | "unsigned" | "none", number, string]>([
  ["a webhook of another key", "new", "other", 503, "not_reached"],
  ["a webhook of another key, without a keyid", null, "other", 503, "not_reached"],
  ["a webhook of a known key", "old", "none", 200, "taken"],
  ["a webhook whose body was changed", "old", "body", 401, "content_digest_mismatch"],
  ["a request without a signature", "old", "unsigned", 401, "unsigned"],
])("while a source of keys cannot be read, %s", async (_, keyid, change, status, code) => {
  const { server, codes } = await startTestReceiver({
    keys: async () => jwks("old"),
    renewKeys: async () => false,
    lacksKeys: () => true,
  });
  const key = { keyid, key: change === "other" ? newPair.privateKey : oldPair.privateKey };
  const genuine = webhook(server.url, record(), { key });
  const isKept = ([name]: HeaderLine): boolean => change !== "unsigned" || !/^signature/i.test(name);
  const request = change === "body" ? forged(genuine) : genuine;
  expect(await post(server.url, { ...request, headers: request.headers.filter(isKept) })).toBe(status);
  expect(codes()).toEqual([code]);
});

it("an error of the crypto library is no verdict: the service sends the webhook again", async () => {
  const broken = jwks("new").map((key) => ({ ...key, key: createSecretKey(Buffer.alloc(32)) }));
  expect(await deliver(broken, "new")).toEqual([500, 0]);
});
