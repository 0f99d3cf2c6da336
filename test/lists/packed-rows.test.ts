/** Rows in blocks: whatever they hold, and wherever they are asked for, they are those that were added. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PackedRows, type RowText } from "../../src/lists/packed-rows.ts";

const long = "x".repeat(5000);
const cell = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("", "\u0000", "\uD800", '"', long));
const texts = fc.array(
  fc.tuple(fc.nat(), fc.array(cell)).map(([line, cells]): RowText => [line, ...cells]),
  { maxLength: 60 },
);

const packed = (added: readonly RowText[]): PackedRows<RowText> => {
  const rows = new PackedRows((text) => text);
  for (const text of added) rows.add(text);
  return rows;
};

describe("packed rows", () => {
  it("come back in the order in which they were added", () => {
    fc.assert(
      fc.property(texts, (added) => {
        const rows = packed(added);
        expect(rows).toHaveLength(added.length);
        expect([...rows]).toEqual(added);
        expect([...rows.entries()]).toEqual([...added.entries()]);
      }),
    );
  });

  it("can be read in any order, from either end, while others are added", () => {
    fc.assert(
      fc.property(texts, fc.array(fc.integer({ min: -70, max: 70 })), (added, places) => {
        const rows = new PackedRows((text) => text);
        for (const [at, text] of added.entries()) {
          rows.add(text);
          const place = places[at % Math.max(1, places.length)] ?? 0;
          expect(rows.at(place)).toEqual(added.slice(0, at + 1).at(place));
        }
        for (const place of places) expect(rows.at(place)).toEqual(added.at(place));
      }),
    );
  });

  it("hold rows that are longer than a block", () => {
    const added: RowText[] = [
      [1, "a"],
      [2, "y".repeat(1_000_000)],
      [3, "b"],
    ];
    expect([...packed(added)]).toEqual(added);
  });
});
