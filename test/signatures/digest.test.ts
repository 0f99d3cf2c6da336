/** Content-Digest, made and checked: the values of RFC 9530 and what can be wrong with the field. */

import { describe, expect, it } from "vitest";
import type { HeaderLine } from "../../src/http/message.ts";
import { checkDigest, contentDigest, isActive } from "../../src/signatures/digest.ts";
import { vectorFile } from "../support/vectors.ts";

interface DigestVector {
  readonly section: string;
  readonly alg: string;
  readonly content_base64: string;
  readonly field: string;
}

const { vectors, malformed } = vectorFile<{ vectors: DigestVector[]; malformed: { field: string }[] }>(
  "rfc9530-digests",
);

const body = Buffer.from('{"hello": "world"}\n');
const good = contentDigest(body);
const long = contentDigest(body, "sha-512");
const other = contentDigest(Buffer.from("other"));

function check(...values: string[]) {
  return checkDigest(
    values.map((value): HeaderLine => ["Content-Digest", value]),
    body,
  );
}

describe("RFC 9530", () => {
  it.each(vectors)("$section $alg: $field", ({ alg, content_base64, field }) => {
    const content = Buffer.from(content_base64, "base64");
    const checked = checkDigest([["content-digest", field]], content);
    if (isActive(alg)) {
      expect(contentDigest(content, alg)).toBe(field);
      expect(checked).toEqual({
        ok: true,
        verified: [alg],
        warnings: alg === "sha-256" ? [] : ["content_digest_without_sha256"],
      });
    } else {
      expect(checked).toMatchObject({ ok: false, reason: "content_digest_unsupported" });
    }
  });

  it.each(malformed)("$field is malformed", ({ field }) => {
    expect(check(field)).toMatchObject({ ok: false, reason: "content_digest_malformed" });
  });
});

describe("checkDigest", () => {
  it.each<[string, string[], string]>([
    ["no field", [], "content_digest_unsupported"],
    ["an empty field", [""], "content_digest_unsupported"],
    ["an unknown algorithm alone", ["blake3=:YQ==:"], "content_digest_unsupported"],
    ["another body", [other], "content_digest_mismatch"],
    ["one good, one not", [`${long}, ${other}`], "content_digest_mismatch"],
    ["one good, one not, in two lines", [other, long], "content_digest_mismatch"],
    ["twice, both good", [`${good}, ${good}`], "content_digest_malformed"],
    ["twice, in two lines", [good, good], "content_digest_malformed"],
    ["an ignored one twice", [`md5=:YQ==:, ${good}, md5=:YQ==:`], "content_digest_malformed"],
    ["a capital letter", [good.replace("sha", "SHA")], "content_digest_malformed"],
    ["no colons", [good.replaceAll(":", "")], "content_digest_malformed"],
    ["a String", [good.replaceAll(":", '"')], "content_digest_malformed"],
    ["a list", [`sha-256=(${good.slice(8)})`], "content_digest_malformed"],
    ["no value", ["sha-256"], "content_digest_malformed"],
    ["an empty digest", ["sha-256=::"], "content_digest_malformed"],
    ["sha-512 under the name sha-256", [long.replace("512", "256")], "content_digest_malformed"],
    ["the alphabet of URLs", [good.replaceAll("/", "_")], "content_digest_malformed"],
    ["an ignored one that is not a byte sequence", [`md5="x", ${good}`], "content_digest_malformed"],
    ["a trailing comma", [`${good},`], "content_digest_malformed"],
  ])("%s", (_, values, reason) => {
    expect(check(...values)).toMatchObject({ ok: false, reason, detail: expect.stringMatching(/./) });
  });

  it.each<[string, string[], string[], string[]]>([
    ["sha-512 alone", [long], ["sha-512"], ["content_digest_without_sha256"]],
    ["both", [`${good},${long}`], ["sha-256", "sha-512"], []],
    ["both, in two lines", [long, good], ["sha-512", "sha-256"], []],
    ["a deprecated one beside it", [`md5=:YQ==:, ${good}`], ["sha-256"], ["content_digest_alg_ignored"]],
    ["no padding", [`${good.slice(0, -2)}:`], ["sha-256"], ["non_canonical_base64"]],
  ])("passes: %s", (_, values, verified, warnings) => {
    expect(check(...values)).toEqual({ ok: true, verified, warnings });
  });
});
