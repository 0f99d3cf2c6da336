/** The quick reading of the usual fields must be the library's reading, or none at all. */

import fc from "fast-check";
import {
  isInnerList,
  parseDictionary,
  serializeDictionary,
  type Item,
  type Parameters,
} from "structured-headers";
import { describe, expect, it } from "vitest";
import { readLoneMember } from "../../src/signatures/lone-member.ts";
import { countParameters } from "../../src/signatures/structured.ts";

const key = fc.stringMatching(/^[a-z*][a-z0-9_.*-]{0,8}$/);
const plainString = fc.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]{0,12}$/);
const parameters = fc
  .array(fc.tuple(key, fc.oneof(fc.nat(), plainString)))
  .map((entries): Parameters => new Map(entries));
const usualList = fc
  .tuple(key, fc.array(plainString), parameters)
  .map(([label, names, own]) =>
    serializeDictionary(new Map([[label, [names.map((name): Item => [name, new Map()]), own]]])),
  );
const usualBytes = fc
  .tuple(key, fc.uint8Array())
  .map(([label, bytes]) => serializeDictionary(new Map([[label, [bytes, new Map()]]])));

describe("a lone member", () => {
  it("is read as the library reads it", () => {
    fc.assert(
      fc.property(fc.oneof(usualList, usualBytes), (text) => {
        const read = readLoneMember(text);
        expect(read?.members).toHaveLength(1);
        expect(serializeDictionary(read?.parsed ?? new Map())).toBe(text);
        expect(serializeDictionary(parseDictionary(text))).toBe(text);
      }),
    );
  });

  it("is left to the library in any other form", () => {
    const piece = fc.constantFrom(
      ...'sig1= ( ) "a" "\\"" "a" "b" ; , x=1 created=01 =1.0 =-0 =?1 =tok :AAAA: :AA: =@1 %"a" é \t'.split(
        " ",
      ),
      " ",
      ";a=1",
      ';a="x"',
      '=("a"',
      ")",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const text = `sig1=${pieces.join("")}`;
        const read = readLoneMember(text);
        if (read === undefined) return;
        const library = parseDictionary(text);
        expect(serializeDictionary(read.parsed)).toBe(serializeDictionary(library));
        const [member] = library.values();
        const survived = member !== undefined && isInnerList(member) ? countParameters(member) : 0;
        if (read.members[0]?.parameters === survived && read.members[0].bytes?.canonical !== false)
          expect(serializeDictionary(library)).toBe(text);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ["two members", 'sig1=("a"), sig2=("b")'],
    ["a parameter of a component", 'sig1=("a";sf)'],
    ["a leading zero", 'sig1=("a");created=01'],
    ["a Decimal", 'sig1=("a");created=1.0'],
    ["a flag", 'sig1=("a");nonce'],
    ["an escape", 'sig1=("a");keyid="\\""'],
    ["white space", 'sig1=( "a");created=1'],
    ["sixteen digits", 'sig1=("a");created=1234567890123456'],
    ["parameters of bytes", "sig1=:AAAA:;a=1"],
    ["base64 outside its alphabet", "sig1=:A_AA:"],
  ])("is left to the library with %s", (_, text) => {
    expect(readLoneMember(text)).toBeUndefined();
  });
});
