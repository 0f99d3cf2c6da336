/** A Signature-Input that is recalled is what would have been parsed, and only signatures that verified are remembered. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fieldLines, type HttpRequest } from "../../src/http/message.ts";
import { recallInput } from "../../src/signatures/known-inputs.ts";
import { VerificationProgress } from "../../src/signatures/progress.ts";
import { readSignature } from "../../src/signatures/received.ts";
import { byteSequence, readDictionary, soleSequence } from "../../src/signatures/structured.ts";
import { verify } from "../../src/signatures/verify.ts";
import { COVERED, NOW, OPTIONS, signed, UNSIGNED } from "./signed.ts";

const inputOf = ({ headers }: HttpRequest): string => fieldLines(headers, "signature-input")[0] ?? "";

/** What is parsed, since this Signature has a parameter. */
function parsedInput(text: string) {
  const headers = [["Signature-Input", text] as const, ["Signature", "sig1=:YWJj:;a"] as const];
  const { signature: _, parsed: __, ...input } = readSignature(headers, new VerificationProgress());
  return input;
}

/** The same; null for what cannot be parsed. */
function parsedIfValid(text: string) {
  try {
    return parsedInput(text);
  } catch {
    return null;
  }
}

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
    { nonce: "a.b", keyid: "$1" },
    {},
  ])("with the parameters %j is recalled as it would be parsed", (parameters) => {
    const input = remembered(parameters);
    const later = input.replace(/created=\d+/, `created=${NOW + 7}`).replace(/nonce="[^"]*"/, 'nonce="x"');
    for (const text of [input, later]) expect(recallInput(text)).toEqual(parsedInput(text));
  });

  it("that differs in anything else is not recalled, or as it would be parsed", () => {
    const input = remembered({ created: NOW, keyid: "k", nonce: "n" });
    fc.assert(
      fc.property(fc.nat(input.length), fc.nat(2), fc.string({ maxLength: 3 }), (at, drop, put) => {
        const text = input.slice(0, at) + put + input.slice(at + drop);
        const recalled = recallInput(text);
        if (recalled !== undefined) expect(recalled).toEqual(parsedInput(text));
      }),
      { numRuns: 5000 },
    );
  });

  it("is recalled as it would be parsed, or not at all, whatever its strings hold", () => {
    const parameters = fc.record(
      {
        created: fc.constantFrom(NOW, NOW - 1),
        nonce: fc.constantFrom("n", "", ";created=5", "a;created=5;b", ";nonce=", 'a"b', ";x"),
        keyid: fc.constantFrom(
          "k",
          ";created=5",
          ";created=5;",
          ";created=;",
          "a;nonce=",
          ";nonce=;created=1;",
        ),
        tag: fc.constantFrom("t", ";x", ";created=6;", ";nonce="),
      },
      { requiredKeys: [] },
    );
    const values = ["", "5", "05", '"n"', '""', '";created=5"', '";nonce="', '"a\\"b"', "x"];
    const pieces = fc.oneof(
      fc.constantFrom(...values.flatMap((value) => [`;created=${value}`, `;nonce=${value}`])),
      fc.constantFrom(';keyid="', ';created=5"', ';nonce=";tag="', ";a", '"', ""),
    );
    const changes = fc.array(fc.tuple(fc.nat(9), pieces), { minLength: 1, maxLength: 2 });
    const recallable: [number, string][][] = [[[1, ";created=5"]]];
    let recalls = 0;
    fc.assert(
      fc.property(parameters, fc.array(changes, { minLength: 20, maxLength: 20 }), (signedWith, texts) => {
        const written = remembered(signedWith).split(/(?=;)/);
        for (const changed of texts) {
          const parts = [...written];
          for (const [at, piece] of changed) parts[at % parts.length] = piece;
          const text = parts.join("");
          const recalled = recallInput(text);
          if (recalled === undefined) continue;
          expect(recalled).toEqual(parsedInput(text));
          recalls += 1;
        }
      }),
      { numRuns: 500, examples: [[{ created: NOW, nonce: "n" }, recallable]] },
    );
    expect(recalls).toBeGreaterThan(0);
  });

  it.each([
    ['keyid=";created=5;"', 'keyid=";created=;"'],
    ['keyid=";created=;"', 'keyid=";created=5;"'],
    ['nonce="a;created=5;b"', 'nonce="a;created=;b"'],
  ])("with %s is not confused with one with %s", (known, other) => {
    const [name = "", value = ""] = /^(\w+)="(.*)"$/.exec(known)?.slice(1) ?? [];
    const input = remembered({ created: NOW, [name]: value });
    for (const text of [input.replace(known, other), input.replace(known, other).replace(String(NOW), "")])
      expect([undefined, parsedIfValid(text)]).toContainEqual(recallInput(text));
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
    expect(recallInput(remembered({ created: NOW, nonce: 'a"b' }, covered))).toBeUndefined();
    expect(recallInput(remembered({ created: NOW, other: "a" }, covered))).toBeUndefined();
  });

  it("is forgotten after eight others", () => {
    const first = remembered({ created: NOW, keyid: "first" });
    for (let at = 0; at < 8; at++) remembered({ created: NOW, keyid: `other-${at}` });
    expect(recallInput(first)).toBeUndefined();
  });
});

it("a single Byte Sequence has the bytes that would be parsed", () => {
  const sequences = fc.tuple(
    fc.constantFrom("sig1=:", "sig1= :", "sig2=:", " sig1=:"),
    fc.oneof(
      fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString("base64")),
      fc.string({ unit: fc.constantFrom(..."AZaz09+/=-_: "), maxLength: 9 }),
    ),
    fc.constantFrom(":", ":;a", ": ", ":, sig1=:YQ==:", ""),
  );
  fc.assert(
    fc.property(sequences, (parts) => {
      const text = parts.join("");
      const bytes = soleSequence(text, "sig1");
      if (bytes === undefined) return;
      const dictionary = readDictionary([text]);
      const [member, ...others] = dictionary.members;
      expect(member && byteSequence(dictionary, member)).toMatchObject({ bytes, canonical: true });
      expect([member?.key, member?.parameters, others]).toEqual(["sig1", 0, []]);
    }),
    { numRuns: 3000 },
  );
});
