/** Texts that look the same are the same, and no others. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { comparableText } from "../../src/values/comparable-text.ts";

const INVISIBLE = [
  "\u200B",
  "\u200C",
  "\u200D",
  "\u2060",
  "\uFEFF",
  "\u00AD",
  "\u200E",
  "\u202E",
  "\u2066",
  "\uFE0F",
];
const SPACES = [" ", "  ", "\u00A0", "\u202F", "\u3000", "\t", "\n", "\r\n", "\r", "\u2028", "\u0085"];

describe("a comparable text", () => {
  it.each(INVISIBLE)("drops %j", (character) => {
    expect(comparableText(`${character}A${character}-1${character}`)).toBe("A-1");
  });

  it.each(SPACES)("has one space for %j, and none around it", (space) => {
    expect(comparableText(`${space}Order${space}1042${space}`)).toBe("Order 1042");
  });

  it("has letters in their composed form, also with something invisible between letter and accent", () => {
    for (const spelling of ["Zoë", "Zoe\u0308", "Zoe\u200B\u0308"])
      expect(comparableText(spelling)).toBe("Zoë");
  });

  it.each([
    ["A-1", "a-1"],
    ["A-1", "A\u20111"],
    ["A 1", "A1"],
    ["007", "7"],
    ["ﬁ", "fi"],
  ])("keeps %j and %j apart", (one, other) => {
    expect(comparableText(one)).not.toBe(comparableText(other));
  });

  it("is comparable itself, whatever the text was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.constantFrom(...INVISIBLE, ...SPACES), (text, mark) => {
        const once = comparableText(text);
        expect(comparableText(once)).toBe(once);
        expect(comparableText(`${mark}${text.normalize("NFD")}${mark}`)).toBe(once);
      }),
    );
  });
});
