/** JSON Pointers against the examples of RFC 6901, and as properties. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatJsonPointer, type Json, parseJsonPointer, valueAtPointer } from "../../src/domain/json.ts";
import { parseJson } from "../../src/domain/parse-json.ts";

const documentOf = (text: string): Json => {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value.value;
};

const at = (document: Json, pointer: string): Json | undefined => {
  const steps = parseJsonPointer(pointer);
  if (!steps.ok) throw new Error(steps.message);
  return valueAtPointer(document, steps.value);
};

describe("a JSON Pointer", () => {
  // RFC 6901 section 5.
  const example = documentOf(
    String.raw`{"foo": ["bar", "baz"], "": "0", "a/b": "1", "c%d": "2", "e^f": "3", "g|h": "4", "i\\j": "5", "k\"l": "6", " ": "7", "m~n": "8"}`,
  );

  it.each([
    ["/foo", ["bar", "baz"]],
    ["/foo/0", "bar"],
    ["/", "0"],
    ["/a~1b", "1"],
    ["/c%d", "2"],
    ["/e^f", "3"],
    ["/g|h", "4"],
    [String.raw`/i\j`, "5"],
    ['/k"l', "6"],
    ["/ ", "7"],
    ["/m~0n", "8"],
  ])("%s finds its value", (pointer, value) => {
    expect(at(example, pointer)).toEqual(value);
  });

  it.each(["/foo/2", "/foo/00", "/foo/-", "/foo/length", "/foo/0/x", "/bar", "/constructor", "/__proto__"])(
    "%s leads nowhere",
    (pointer) => {
      expect(at(example, pointer)).toBeUndefined();
    },
  );

  it.each(["", "data", "#/data", "/a~", "/a~2"])("cannot be %j", (text) => {
    expect(parseJsonPointer(text).ok).toBe(false);
  });

  it("is read as it was written", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (steps) => {
        expect(parseJsonPointer(formatJsonPointer(steps))).toEqual({ ok: true, value: steps });
      }),
    );
  });

  it("finds the value under the names it was written from", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 6 }), (names) => {
        const json = names.reduceRight((inner, name) => `{${JSON.stringify(name)}: ${inner}}`, '"found"');
        expect(at(documentOf(json), formatJsonPointer(names))).toBe("found");
      }),
    );
  });
});
