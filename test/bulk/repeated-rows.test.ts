/** Rows that repeat others, held against a search that compares every row with every other. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { Numbers, repeatedRows } from "../../src/bulk/repeated-rows.ts";

const numbersOf = (all: readonly number[]): Float64Array => {
  const numbers = new Numbers();
  for (const number of all) numbers.add(number);
  return numbers.list();
};

it("finds what a comparison of all rows finds", () => {
  const row = fc.record({ number: fc.nat({ max: 6 }), kind: fc.nat({ max: 2 }), counts: fc.boolean() });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 40 }), (rows) => {
      const groups = new Map<number, number[]>();
      for (const [place, { number, counts }] of rows.entries())
        if (number !== 0 && counts) groups.set(number, [...(groups.get(number) ?? []), place]);
      const repeated = [...groups.values()].filter(
        (group) => new Set(group.map((at) => rows[at]?.kind)).size > 1,
      );
      const found = repeatedRows(
        numbersOf(rows.map(({ number }) => number)),
        (at) => rows[at]?.counts === true,
        (at) => rows[at]?.kind ?? 0,
      );
      expect(found.count).toBe(repeated.flat().length);
      expect(found.first).toEqual(repeated.map((group) => group.slice(0, 10)));
    }),
  );
});

it("names the first ten groups and counts all of them, in any number of rows", () => {
  const many = Array.from({ length: 100_000 }, (_, at) => 1 + (at % 50_000));
  const found = repeatedRows(numbersOf(many), () => true);
  expect(found.count).toBe(100_000);
  expect(found.first).toEqual(Array.from({ length: 10 }, (_, at) => [at, at + 50_000]));
});
