/** Component identifiers as typed and shown, and the values that the RFC's own examples do not reach. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { component, formatComponent, parseComponent } from "../../src/signatures/components.ts";
import { componentValue, encodeFormPart } from "../../src/signatures/base.ts";
import type { HeaderLine, RequestHead } from "../../src/http/message.ts";
import { SignatureError } from "../../src/signatures/verdict.ts";
import { unicodeText } from "../support/unicode-text.ts";
import { componentOf } from "../support/vectors.ts";

const REQUEST: RequestHead = {
  method: "POST",
  scheme: "https",
  authority: "Example.com:443",
  target: "/a?b=c",
  headers: [["Priority", "u=1,   i"]],
};

const at = (target: string): RequestHead => ({ ...REQUEST, target });

function valueOf(text: string, message: RequestHead = REQUEST): string {
  try {
    return componentValue(componentOf(text), message);
  } catch (error) {
    if (error instanceof SignatureError) return error.reason;
    throw error;
  }
}

describe("parseComponent", () => {
  it.each([
    ["@method", '"@method"'],
    [" Content-Digest ", '"content-digest"'],
    ['"content-digest";key="sha-256"', '"content-digest";key="sha-256"'],
    ['content-digest;key="sha-256"', '"content-digest";key="sha-256"'],
    ['content-digest; key="sha-256"', '"content-digest";key="sha-256"'],
    ['@query-param;name="a"', '"@query-param";name="a"'],
  ])("%s is %s", (typed, identifier) => {
    expect(parseComponent(typed)).toMatchObject({ ok: true, value: { identifier } });
  });

  it.each([
    "",
    "@",
    "@nonsense",
    "@signature-params",
    "a b",
    '"a',
    "a;",
    "a;foo",
    "a;sf;bs",
    "@status",
    "@method;req",
    "priority;sf",
    "content-digest;sf",
    "accept;bs",
    "accept;tr",
    'accept;key="a"',
    "@query-param",
    "@path;sf",
    "a,b",
    "a;key=b",
    "caf\u00e9",
  ])("refuses %j with a reason", (typed) => {
    expect(parseComponent(typed)).toEqual({ ok: false, message: expect.stringMatching(/./) });
  });

  it("reads back what formatComponent shows", () => {
    for (const text of ["@method", 'content-digest;key="sha-256"', '@query-param;name="a\\"b"']) {
      expect(formatComponent(componentOf(text))).toBe(text);
    }
  });
});

describe("derived components", () => {
  it.each<[string, RequestHead, string]>([
    ["@target-uri", REQUEST, "https://example.com/a?b=c"],
    ["@target-uri", at("//x/../y?"), "https://example.com//x/../y?"],
    ["@path", at("/%7Ea/../b;c"), "/%7Ea/../b;c"],
    ["@query", at("/a?"), "?"],
    ["@query", at("/a??b?"), "??b?"],
    ["@path", at("example.com:443"), "component_value_invalid"],
    ["@request-target", at("example.com:443"), "example.com:443"],
    ["@request-target", at("/a#b"), "component_value_invalid"],
    ["@authority", { ...REQUEST, authority: "[::1]:443" }, "[::1]"],
    ["@authority", { ...REQUEST, authority: "h:80" }, "h:80"],
    ["@authority", { ...REQUEST, authority: "h:" }, "h"],
    ["@authority", { ...REQUEST, authority: "user@h" }, "component_value_invalid"],
    ['@query-param;name="a"', at("/?a=%0A+%20!'()~"), "%0A%20%20%21%27%28%29%7E"],
    ['@query-param;name="a"', at("/?b&a"), ""],
    ['@query-param;name=""', at("/?=v"), "v"],
  ])("%s of %j", (text, message, value) => {
    expect(valueOf(text, message)).toBe(value);
  });

  it("re-encodes query parameters so that they decode to the same", () => {
    fc.assert(
      fc.property(unicodeText, unicodeText, (name, value) => {
        const query = new URLSearchParams([[name, value]]);
        const [[key, decoded] = ["", ""]] = [...query];
        const parameters = new Map([["name", encodeFormPart(key)]]);
        const encoded = componentValue(component("@query-param", parameters), at(`/p?${query.toString()}`));
        expect(encoded).toMatch(/^[A-Za-z0-9*._%-]*$/);
        expect(new URLSearchParams(`a=${encoded}`).get("a")).toBe(decoded);
        expect(encoded).toBe(new URLSearchParams([["", value]]).toString().slice(1).replaceAll("+", "%20"));
      }),
    );
  });
});

describe("a member of Content-Digest", () => {
  it.each<[string, string]>([
    ["a=1, sha-256=:YQ==:", ":YQ==:"],
    ["sha-256=:YQ==:;b;c=2", ":YQ==:;b;c=2"],
    ["sha-256=(1 2)", "component_value_invalid"],
    ["sha-512=:YQ==:", "component_missing"],
  ])("of %s is %s", (field, value) => {
    const headers: HeaderLine[] = [["Content-Digest", field]];
    expect(valueOf('content-digest;key="sha-256"', { ...REQUEST, headers })).toBe(value);
  });
});
