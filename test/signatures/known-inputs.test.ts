/** A Signature-Input that is recalled is what would have been parsed, and only signatures that verified are remembered. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fieldLines, type HttpRequest } from "../../src/http/message.ts";
import { recallInput } from "../../src/signatures/known-inputs.ts";
import { readDictionary } from "../../src/signatures/structured.ts";
import { verify } from "../../src/signatures/verify.ts";
import { COVERED, NOW, OPTIONS, signed, UNSIGNED } from "./signed.ts";

const inputOf = ({ headers }: HttpRequest): string => fieldLines(headers, "signature-input")[0] ?? "";

/** Verifies it, so that it is remembered, and gives its Signature-Input. */
function remembered(
  parameters: Record<string, string | number>,
  covered: readonly string[] = COVERED,
): string {
  const request = signed(UNSIGNED, covered, parameters);
  expect(verify(request, OPTIONS).code).toBe("ok");
  return inputOf(request);
}

describe("a Signature-Input", () => {
  it.each([
    { created: NOW, keyid: "k", alg: "rsa-v1_5-sha256" },
    { created: NOW, keyid: "k", nonce: "a b" },
    { nonce: "(;,)", created: NOW },
    { keyid: "a.b*c" },
    {},
  ])("with the parameters %j is recalled as it would be parsed", (parameters) => {
    const input = remembered(parameters);
    const later = input.replace(/created=\d+/, `created=${NOW + 7}`).replace(/nonce="[^"]*"/, 'nonce="x"');
    for (const text of [input, later]) expect(recallInput(text)).toEqual(readDictionary([text]));
  });

  it("that differs in anything else is not recalled, or as it would be parsed", () => {
    const input = remembered({ created: NOW, keyid: "k", nonce: "n" });
    fc.assert(
      fc.property(fc.nat(input.length), fc.nat(2), fc.string({ maxLength: 3 }), (at, drop, put) => {
        const text = input.slice(0, at) + put + input.slice(at + drop);
        const recalled = recallInput(text);
        if (recalled !== undefined) expect(recalled).toEqual(readDictionary([text]));
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    ["00", undefined],
    ["1.0", undefined],
    ["-1", undefined],
    ["1000000000000000", undefined],
  ])("with created=%s is parsed", (created, expected) => {
    const input = remembered({ created: NOW, keyid: "k" });
    expect(recallInput(input.replace(String(NOW), created))).toBe(expected);
  });

  it("is not remembered where its signature does not verify, or its time ends", () => {
    const covered = ["content-digest", "accept"];
    const forged = { ...signed(UNSIGNED, covered), body: Buffer.from("{}") };
    expect(verify(forged, OPTIONS).code).toBe("content_digest_mismatch");
    expect(recallInput(inputOf(forged))).toBeUndefined();
    expect(recallInput(remembered({ created: NOW, expires: NOW + 9 }, covered))).toBeUndefined();
    expect(recallInput(remembered({ created: NOW, keyid: `;created=${NOW}` }, covered))).toBeUndefined();
  });

  it("is forgotten after eight others", () => {
    const first = remembered({ created: NOW, keyid: "first" });
    for (let at = 0; at < 8; at++) remembered({ created: NOW, keyid: `other-${at}` });
    expect(recallInput(first)).toBeUndefined();
  });
});
