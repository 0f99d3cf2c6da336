/** Tables and lines measured as a terminal shows them: emoji, wide characters, flags and combining marks. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cell, renderTable } from "../../src/render/layout.ts";
import { safeText } from "../../src/render/safe-text.ts";
import { clip, splitAtWidth, padEnd, widthOf } from "../../src/render/width.ts";
import { unicodeText } from "../support/unicode-text.ts";

/** Texts of one script, and mixed ones. */
const anyText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  unicodeText,
  fc
    .array(
      fc.constantFrom(
        "a",
        "漢",
        "ｱ",
        "한",
        "👍",
        "👍🏽",
        "🇩🇪",
        "e\u0301",
        "👨\u200d👩\u200d👧",
        "\u0301",
        "ไ",
        "ท",
      ),
    )
    .map((characters) => characters.join("")),
);
const columns = fc.integer({ min: 40, max: 200 });

it.each([
  ["", 0],
  ["INV-1", 5],
  ["漢字", 4],
  ["👍", 2],
  ["🇩🇪", 2],
  ["e\u0301", 1],
])("%j takes %i columns", (text, width) => expect(widthOf(text)).toBe(width));

it("measures every character up to U+3000 as it measures one among wide ones", () => {
  for (let code = 0x20; code < 0x3000; code++) {
    const character = String.fromCodePoint(code);
    const alone = widthOf(`a${character}b`);
    expect([code, alone]).toEqual([code, widthOf(`漢a${character}b`) - 2]);
  }
});

describe("a text", () => {
  it("is cut to at most its columns", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 50 }), (text, width) => {
        const clipped = clip(safeText(text), width);
        expect(widthOf(clipped)).toBeLessThanOrEqual(width);
        if (widthOf(safeText(text)) <= width) expect(clipped).toBe(safeText(text));
      }),
    );
  });

  it("continues on the next lines without losing anything", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 50 }), (text, width) => {
        // Unsafe, a tab alone would be wider than the line.
        const lines = splitAtWidth(safeText(text), width);
        expect(lines.join("")).toBe(safeText(text));
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
      }),
    );
  });

  it("fills its column", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 0, max: 50 }), (text, width) => {
        expect(widthOf(padEnd(safeText(text), width))).toBe(Math.max(width, widthOf(safeText(text))));
      }),
    );
  });
});

describe("a table", () => {
  const rowsOf = (invoices: readonly string[], amount: string): Cell[][] =>
    invoices.map((invoice) => [
      { text: "2026-11-21 10:15", isWhole: true },
      { text: amount, right: true },
      { text: invoice },
      { text: "69lXLdv9wLongerThanTwelve", isWhole: true },
    ]);

  it("never has a line that is too wide, nor an amount, a date or an id that is cut, at 40 to 200 columns", () => {
    fc.assert(
      fc.property(fc.array(anyText, { minLength: 1, maxLength: 5 }), columns, (invoices, width) => {
        const table = renderTable(rowsOf(invoices, "EUR 1234567.89"), width);
        for (const line of table.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(width);
        for (const whole of ["EUR 1234567.89", "2026-11-21 10:15", "69lXLdv9wLongerThanTwelve"])
          expect(table.split(whole)).toHaveLength(invoices.length + 1);
      }),
    );
  });

  it("aligns what follows an emoji", () => {
    const [plain = "", emoji = ""] = renderTable(rowsOf(["INV-100", "👍 漢"], "EUR 1.00")).split("\n");
    expect(widthOf(plain.split("69l")[0] ?? "")).toBe(widthOf(emoji.split("69l")[0] ?? ""));
  });

  it("continues on a second line if the shortest columns do not fit", () => {
    const row = [..."abcdef"].map((letter): Cell => ({ text: letter.repeat(20) }));
    const lines = renderTable([row], 40).split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/^ {4}d+… {2}e+…$/);
  });
});
