/** References of a reusable link: base and suffix, written with one hyphen and read with one or two. */

import * as fc from "fast-check";
import { expect, it, test } from "vitest";
import { makeReference, splitReference, suffixFrom } from "../../src/domain/reference.ts";

test.each([
  ["INV-2023-000417-a1B2c3D4e", "INV-2023-000417", "a1B2c3D4e"],
  ["INV-1--A1B2C3D4E", "INV-1", "A1B2C3D4E"],
  ["INV----A1B2C3D4E", "INV--", "A1B2C3D4E"],
  ["-A1B2C3D4E", "", "A1B2C3D4E"],
  ["INV-1", "INV-1", null],
  ["INV-A1B2C3D4", "INV-A1B2C3D4", null],
  ["INV-A1B2C3D4E5", "INV-A1B2C3D4E5", null],
  ["INV-A1B2C3D4É", "INV-A1B2C3D4É", null],
  ["A1B2C3D4E", "A1B2C3D4E", null],
  ["", "", null],
])("%j is %j and %j", (reference, base, suffix) => {
  expect(splitReference(reference)).toEqual({ base, suffix });
});

const suffix = fc.uuid().map(suffixFrom);

it("splits what it made, also with hyphens in the base", () => {
  const base = fc
    .string({ unit: fc.constantFrom("A", "7", "-", " ", "é", "\n") })
    .filter((base) => !base.endsWith("-"));
  fc.assert(
    fc.property(base, suffix, (base, suffix) => {
      expect(splitReference(makeReference(base, suffix))).toEqual({ base, suffix });
    }),
  );
});
