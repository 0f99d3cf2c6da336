/** The names that help and completion show are those of the tamperings there are. */
import { expect, it } from "vitest";
import { TAMPERING_NAMES } from "../../src/check/tampering-names.ts";
import { TAMPERINGS } from "../../src/check/tamperings.ts";

it("names every tampering once, and no other", () => {
  const shown = Object.values(TAMPERING_NAMES).flat();
  expect(shown.toSorted()).toEqual(TAMPERINGS.map(({ name }) => name).toSorted());
});
