/** Tables of text, and lines that fit a terminal. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitLines, renderTable } from "../../src/render/layout.ts";

it("renders a table of more rows than a function takes arguments", () => {
  const rows = Array.from({ length: 150_000 }, (_, row) => [{ text: String(row) }]);
  expect(() => Math.max(...rows.map(({ length }) => length))).toThrow(RangeError);
  const lines = renderTable(rows).split("\n");
  expect(lines).toHaveLength(150_000);
  expect(lines.at(-1)).toBe("149999");
});

describe("lines that fit", () => {
  it("break between words, and are indented as their first one", () => {
    expect(fitLines("  one two three four", 11)).toBe("  one two\n  three\n  four");
    expect(fitLines("! one two three", 9)).toBe("! one two\n  three");
    expect(fitLines("one\ntwo", 3)).toBe("one\ntwo");
  });

  it("have whole commands, to the end of the sentence", () => {
    expect(fitLines("To see it: paylink links show 'a b' -p shop", 20)).toBe(
      "To see it:\npaylink links show 'a b' -p shop",
    );
    expect(fitLines("Without it, paylink verify --event <id>. Then go on here.", 24)).toBe(
      "Without it,\npaylink verify --event <id>.\nThen go on here.",
    );
  });

  it("count columns: two for CJK and emoji, none for marks and colours", () => {
    expect(fitLines("注文 注文", 8)).toBe("注文\n注文");
    expect(fitLines("e\u0301e\u0301 e\u0301", 4)).toBe("e\u0301e\u0301 e\u0301");
    expect(fitLines("\u001b[31mred\u001b[39m red", 7)).toBe("\u001b[31mred\u001b[39m red");
  });

  it("say the same words, whatever the width", () => {
    const texts = fc.string({ unit: "grapheme" }).map((text) => text.replace(/\s+/g, " ").trim());
    fc.assert(
      fc.property(texts, fc.integer({ min: 5, max: 40 }), (text, width) => {
        expect(fitLines(text, width).replace(/\n */g, " ").split(/ +/)).toEqual(text.split(/ +/));
      }),
    );
  });
});
