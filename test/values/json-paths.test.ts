/** Members by their path: what is there, what is made on the way, and what stays as it is. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { type JsonObject, memberAt, setAt, setDefaultAt } from "../../src/values/json.ts";

const path = fc
  .array(fc.constantFrom("a", "b", "constructor", "toString"), { minLength: 1, maxLength: 4 })
  .map((names) => names.join("."));

it("finds what was set, and nothing that objects inherit", () => {
  fc.assert(
    fc.property(path, fc.string(), (at, value) => {
      const object: JsonObject = {};
      expect(memberAt(object, at)).toBeUndefined();
      setAt(object, at, value);
      expect(memberAt(object, at)).toBe(value);
    }),
  );
});

it("sets a default only if there is no value", () => {
  const object: JsonObject = { linkOptions: { mode: "A" }, note: "x" };
  setDefaultAt(object, "linkOptions.mode", "B");
  setDefaultAt(object, "linkOptions.minAmount", "1");
  expect(object).toEqual({ linkOptions: { mode: "A", minAmount: "1" }, note: "x" });
});

it("replaces values on the path that are not objects", () => {
  const object: JsonObject = { note: "x" };
  setAt(object, "note.inner", "y");
  expect(object).toEqual({ note: { inner: "y" } });
});
