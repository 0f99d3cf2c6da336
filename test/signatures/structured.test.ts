/** The raw text of structured fields, compared with what the library parses and writes. */

import fc from "fast-check";
import { isInnerList, parseDictionary, serializeInnerList } from "structured-headers";
import { describe, expect, it } from "vitest";
import { countParameters, isCanonicalStrings, readDictionary } from "../../src/signatures/structured.ts";

/** What the library writes for `sig1`; undefined where the text is no list, or a parameter is repeated. */
function rewritten(text: string): string | undefined {
  try {
    const { parsed, members } = readDictionary([`sig1=${text}`]);
    const list = parsed.get("sig1");
    if (list === undefined || !isInnerList(list) || members.length !== 1) return undefined;
    return members[0]?.parameters === countParameters(list) ? serializeInnerList(list) : undefined;
  } catch {
    return undefined;
  }
}

describe("isCanonicalStrings", () => {
  it.each([
    "()",
    '("@method" "content-digest");created=1700000000;keyid="a;b";alg="rsa-v1_5-sha256"',
    '("content-digest";key="sha-256" "x";sf);created=0;tag=""',
  ])("recognises %s", (text) => {
    expect(rewritten(text)).toBe(text);
    expect(isCanonicalStrings(text)).toBe(true);
  });

  it.each([
    '( "a")',
    '("a"  "b")',
    '("a"); created=1',
    '("a");created=01',
    '("a");created=-0',
    '("a");created=1.0',
    '("a");sf=?1',
    '("a");keyid="\\""',
    '("a");nonce=:YQ:',
    '("a" b)',
  ])("leaves %s to the library", (text) => {
    expect(isInnerList(parseDictionary(`sig1=${text}`).get("sig1") ?? [true, new Map()])).toBe(true);
    expect(isCanonicalStrings(text)).toBe(false);
  });

  it("recognises nothing that the library writes in another way", () => {
    const pieces = `( ( ) ) "a" "b;" "\\\\" ;a= ;b ;c= ;created= 1 0 01 1.0 -1 ?1 tok :YQ==: :YQ: @1 %"a" "x" "é"`;
    const piece = fc.constantFrom(" ", " ", "; d=", ...pieces.split(" "));
    let recognised = 0;
    const inner = fc.array(piece, { maxLength: 6 });
    fc.assert(
      fc.property(inner, inner, (items, parameters) => {
        const text = `(${items.join("")})${parameters.join("")}`;
        const written = rewritten(text);
        if (written === undefined || !isCanonicalStrings(text)) return;
        recognised++;
        expect(text).toBe(written);
      }),
      { numRuns: 20_000 },
    );
    expect(recognised).toBeGreaterThan(50);
  });
});
