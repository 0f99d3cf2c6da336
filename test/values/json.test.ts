/** JSON texts: numbers as spelled, members in order, duplicates by name, and no text that throws or pollutes. */

import * as fc from "fast-check";
import { parse as parseLossless } from "lossless-json";
import { describe, expect, it, test } from "vitest";
import { type Json, JsonNumber, memberOf, stringifyJson } from "../../src/values/json.ts";
import { MAX_DEPTH, parseJson } from "../../src/values/parse-json.ts";
import { unicodeText } from "../support/unicode-text.ts";

function valueOf(text: string): Json {
  const json = parseJson(text);
  if (!json.ok) throw new Error(json.message);
  return json.value.value;
}

/** Any JSON text whose member names a JavaScript object keeps in order: no array index, no name twice. */
const spelledNumber = fc.stringMatching(/^-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,4})?$/);
const { text: jsonText } = fc.letrec<{ text: string; members: string }>((tie) => ({
  text: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      spelledNumber,
      fc.constantFrom("true", "false", "null"),
      unicodeText.map((s) => JSON.stringify(s)),
    ),
    fc.array(tie("text"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    tie("members"),
  ),
  members: fc
    .uniqueArray(fc.tuple(fc.oneof(fc.string({ unit: "grapheme" }), fc.constant("__proto__")), tie("text")), {
      maxLength: 4,
      selector: ([name]) => name,
    })
    .map((members) => members.filter(([name]) => !/^\d+$/.test(name)))
    .map((members) => `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`),
}));

describe("a round trip", () => {
  it("keeps every number's spelling and every member's place", () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(stringifyJson(valueOf(text))).toBe(text);
      }),
    );
  });

  it("accepts the white space of JSON and no other", () => {
    expect(stringifyJson(valueOf(' \t\r\n{ "a" : [ 1.0 , 2e5 ] , "b" : { } }\n'))).toBe(
      '{"a":[1.0,2e5],"b":{}}',
    );
    expect(parseJson("\u00a01").ok).toBe(false);
    expect(parseJson("\v1").ok).toBe(false);
  });

  it("indents on request", () => {
    expect(stringifyJson({ a: new JsonNumber("1.50") }, 2)).toBe('{\n  "a": 1.50\n}');
  });
});

/** What the platform makes of a text; undefined where it is not JSON. */
function platform(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

it("agrees with the platform on what is JSON and what it says", () => {
  const character = fc.constantFrom(...'"\\/bu0041-+.eE,:[]{}tfn \t\n\r\v\f\0\u001f\u007f\u00a0\u2028');
  /** One character put in, or in another's place: what is nearly JSON. */
  const altered = fc
    .tuple(fc.oneof(fc.json(), jsonText), fc.nat(), fc.nat({ max: 1 }), character)
    .map(([json, where, dropped, put]) => {
      const at = where % (json.length + 1);
      return json.slice(0, at) + put + json.slice(at + dropped);
    });
  const text = fc.oneof(fc.json(), altered, unicodeText, fc.stringMatching(/^[-+0-9.eE[\]{}", :a]*$/));
  fc.assert(
    fc.property(text, (text) => {
      fc.pre(!text.startsWith("\uFEFF"));
      const json = parseJson(text);
      expect(json.ok && platform(stringifyJson(json.value.value))).toEqual(json.ok && platform(text));
      expect(json.ok).toBe(platform(text) !== undefined);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["hello", 'unexpected "h" at line 1, column 1'],
  ["", "unexpected end at line 1, column 1"],
  ['{\n  "a": 1,\n}', 'unexpected "}" at line 3, column 1'],
  ['{"a":1 "b":2}', 'unexpected "\\"" at line 1, column 8'],
  ["[1]x", 'unexpected "x" at line 1, column 4'],
  ["[01]", 'unexpected "1" at line 1, column 3'],
  ['["a\\x"]', 'unexpected "\\\\" at line 1, column 4'],
  ['["\\u12g4"]', 'unexpected "\\\\" at line 1, column 3'],
  ['["a\nb"]', 'unexpected "\\n" at line 1, column 4'],
  ['["a', "unexpected end at line 1, column 4"],
  ["[tru]", 'unexpected "t" at line 1, column 2'],
  ["[\u{1f600}]", 'unexpected "\u{1f600}" at line 1, column 2'],
])("%j is refused with line and column", (text, problem) => {
  expect(parseJson(text)).toEqual({ ok: false, message: `is not JSON: ${problem}` });
});

test.each<[text: string, duplicates: string[]]>([
  ['{"a":1,"b":2}', []],
  ['{"a":1,"a":2}', ["a"]],
  ['{"a":1,"a":1}', ["a"]],
  ['{"a":1,"\\u0061":1,"a":1}', ["a", "a"]],
  ['{"o":{"x":null,"x":null},"l":[{"y":1},{"y":1,"y":[]}]}', ["o.x", "l[1].y"]],
  ['{"__proto__":1,"__proto__":2}', ["__proto__"]],
  ['{"toString":1}', []],
])("%s has the duplicates %j", (text, duplicates) => {
  const json = parseJson(text);
  expect(json.ok && json.value.duplicates).toEqual(duplicates);
});

/** JSON with members that are repeated, in any spelling of their names, and white space between the tokens. */
const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const repeatedName = fc.constantFrom('"a"', '"\\u0061"', '"b"', '"__proto__"', '"\\ud800"', '"0"');
const { text: repetitiveText } = fc.letrec<{ text: string; member: string }>((tie) => ({
  text: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(spelledNumber, repeatedName, fc.constantFrom("true", "false", "null")),
    fc
      .tuple(space, fc.array(tie("text"), { maxLength: 3 }))
      .map(([s, items]) => `${s}[${items.join(`${s},`)}]${s}`),
    fc
      .tuple(space, fc.array(tie("member"), { maxLength: 5 }))
      .map(([s, all]) => `{${s}${all.join(`,${s}`)}${s}}`),
  ),
  member: fc.tuple(repeatedName, space, tie("text")).map(([name, s, text]) => `${name}${s}:${s}${text}`),
}));

/** The repeated members by lossless-json, which reports those with different values: with its numbers made different. */
function differentDuplicates(text: string): string[] {
  const names: string[] = [];
  let count = 0;
  parseLossless(text, null, {
    parseNumber: () => ({ number: count++ }),
    onDuplicateKey: ({ key, newValue }) => {
      names.push(key);
      return newValue;
    },
  });
  return names;
}

it("agrees with lossless-json on values, spelling and repeated members", () => {
  fc.assert(
    fc.property(repetitiveText, (text) => {
      const lossless = parseLossless(text, null, {
        parseNumber: (spelling) => new JsonNumber(spelling),
        onDuplicateKey: ({ newValue }) => newValue,
      });
      const json = parseJson(text);
      expect(json.ok && json.value.value).toStrictEqual(lossless);
      expect(platform(stringifyJson(valueOf(text)))).toStrictEqual(platform(text));
      const reported = json.ok ? json.value.duplicates.map((path) => path.split(".").at(-1)) : [];
      for (const name of differentDuplicates(text)) expect(reported).toContain(name);
    }),
    { numRuns: 2000 },
  );
});

it("reports each repeated member where names are repeated on purpose", () => {
  const names = fc.array(unicodeText, { maxLength: 8 });
  fc.assert(
    fc.property(names, (names) => {
      const text = `{${names.map((name) => `${JSON.stringify(name)}:null`).join(",")}}`;
      const json = parseJson(text);
      expect(json.ok && json.value.duplicates).toEqual(names.filter((name, at) => names.indexOf(name) < at));
    }),
  );
});

test("the last of two members counts", () => {
  expect(stringifyJson(valueOf('{"a":1,"b":2,"a":3}'))).toBe('{"a":3,"b":2}');
});

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("hostile texts", () => {
  it("keeps a member named __proto__ a member", () => {
    const value = valueOf('{"__proto__":{"polluted":true},"b":1}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect("polluted" in {}).toBe(false);
    expect(stringifyJson(value)).toBe('{"__proto__":{"polluted":true},"b":1}');
  });

  it("never reads an inherited property as a member", () => {
    expect(memberOf({}, "constructor")).toBeUndefined();
    expect(memberOf({ a: null }, "a")).toBeNull();
  });

  it("limits nesting instead of overflowing", () => {
    expect(stringifyJson(valueOf(nested(MAX_DEPTH)))).toBe(nested(MAX_DEPTH));
    expect(parseJson(nested(MAX_DEPTH + 1))).toEqual({
      ok: false,
      message: "is nested deeper than 128 levels",
    });
    expect(parseJson(nested(100_000)).ok).toBe(false);
    expect(parseJson("[".repeat(100_000)).ok).toBe(false);
    expect(parseJson('{"a":'.repeat(200) + "1" + "}".repeat(200)).ok).toBe(false);
  });

  it("ignores one byte order mark (RFC 8259 8.1)", () => {
    expect(valueOf("\uFEFFtrue")).toBe(true);
    expect(parseJson("\uFEFF\uFEFFtrue").ok).toBe(false);
  });
});
