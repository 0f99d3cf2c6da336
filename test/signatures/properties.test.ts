/** What must hold of every message: verification answers, catches any change, and keeps the signer's order. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HeaderLine, HttpRequest } from "../../src/http/message.ts";
import { formatComponent } from "../../src/signatures/components.ts";
import { baseOf, checksOf } from "../../src/signatures/explain/verdict-words.ts";
import { verify } from "../../src/signatures/verify.ts";
import { componentOf } from "../support/vectors.ts";
import { COVERED, NOW, OPTIONS, signed, UNSIGNED, withFields } from "./signed.ts";

const REQUEST = signed();

/** What happened to a text between signer and verifier: a character changed, dropped or put in. */
const mutation = fc.tuple(fc.nat(), fc.constantFrom("change", "drop", "insert"), fc.nat({ max: 255 }));
type Mutation = typeof mutation extends fc.Arbitrary<infer T> ? T : never;

function mutate(text: string, [where, how, code]: Mutation): string {
  const at = where % (text.length + 1);
  return (
    text.slice(0, at) +
    (how === "drop" ? "" : String.fromCharCode(code)) +
    text.slice(at + (how === "insert" ? 0 : 1))
  );
}

function withHeader(request: HttpRequest, name: string, rewrite: (value: string) => string): HttpRequest {
  const headers = request.headers.map(([key, value]): HeaderLine => [
    key,
    key === name ? rewrite(value) : value,
  ]);
  return { ...request, headers };
}

function expectVerdict(request: HttpRequest): void {
  const verdict = verify(request, OPTIONS);
  expect(verdict.verdict).toBe(verdict.code === "ok" ? "valid" : "invalid");
  expect(verdict.failure === null).toBe(verdict.code === "ok");
  expect(verdict.failure?.detail.length ?? 0).toBeLessThanOrEqual(500);
  const checks = checksOf({ verdict, request, now: NOW });
  expect(checks.filter(({ ok }) => !ok)).toHaveLength(verdict.code === "ok" ? 0 : 1);
}

describe("verify answers a verdict", () => {
  const latin1 = fc.string({ unit: fc.nat({ max: 255 }).map((code) => String.fromCharCode(code)) });
  const piece = fc.constantFrom(
    ...'sig1 = ( ) " ; , : ? @ % \\ * - . 0 1 key sf bs tr req name created keyid content-digest AAAA %" a='.split(
      " ",
    ),
    " ",
    "\t",
    "\r\n ",
  );
  const fieldText = fc.oneof(
    latin1,
    fc.array(piece).map((pieces) => pieces.join("")),
  );

  it("for any text in the fields", () => {
    const fields = fc.tuple(fieldText, fieldText, fieldText);
    fc.assert(
      fc.property(fields, ([input, signature, digest]) => {
        expectVerdict(withFields(input, signature));
        expectVerdict(withFields(`sig1=(${input});created=${NOW}`, `sig1=:${signature}:`));
        expectVerdict(withHeader(REQUEST, "Content-Digest", () => digest));
      }),
      { numRuns: 2000 },
    );
  });

  it("for any lines, method, target and host", () => {
    const lines = fc.array(
      fc.tuple(fc.oneof(latin1, fc.constantFrom("Signature", "SIGNATURE-INPUT")), fieldText),
    );
    fc.assert(
      fc.property(lines, latin1, latin1, latin1, (headers, method, target, authority) => {
        expectVerdict({ ...REQUEST, headers, method, target, authority });
        expectVerdict({ ...REQUEST, method, target, authority });
      }),
    );
  });
});

describe("a change is caught", () => {
  it.each(["Content-Type", "Content-Digest", "Signature-Input", "Signature"])("in %s", (name) => {
    const original = baseOf({ verdict: verify(REQUEST, OPTIONS), request: REQUEST });
    fc.assert(
      fc.property(mutation, (change) => {
        const request = withHeader(REQUEST, name, (value) => mutate(value, change));
        const verdict = verify(request, OPTIONS);
        // White space, unsigned parameters and unused bits of base64 may differ: never what was signed.
        if (verdict.code === "ok") expect(baseOf({ verdict, request })).toBe(original);
      }),
      { numRuns: 1000 },
    );
  });

  it.each(["method", "target", "authority"] as const)("in the %s", (part) => {
    fc.assert(
      fc.property(mutation, (change) => {
        const changed = mutate(REQUEST[part], change);
        const { code } = verify({ ...REQUEST, [part]: changed }, OPTIONS);
        const same = changed.toLowerCase().replace(/:(443)?$/, "") === REQUEST.authority;
        expect(code === "ok").toBe(part === "authority" ? same : changed === REQUEST[part]);
      }),
      { numRuns: 1000 },
    );
  });

  it("in any byte of the body", () => {
    fc.assert(
      fc.property(fc.nat({ max: REQUEST.body.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, bits) => {
        const body = Uint8Array.from(REQUEST.body, (byte, index) => (index === at ? byte ^ bits : byte));
        expect(verify({ ...REQUEST, body }, OPTIONS).code).toBe("content_digest_mismatch");
      }),
    );
  });
});

it("keeps the order of components and of parameters", () => {
  const components = fc.shuffledSubarray([
    ...COVERED.filter((name) => name !== "content-digest"),
    "@authority",
    "@query",
    'content-digest;key="sha-256"',
    '@query-param;name="x"',
    "accept",
  ]);
  const parameters = fc.shuffledSubarray<[string, string | number]>([
    ["created", NOW],
    ["expires", NOW + 1],
    ["keyid", 'a "quoted" \\ id'],
    ["nonce", "(;,)"],
    ["alg", "rsa-v1_5-sha256"],
    ["x", 1],
  ]);
  fc.assert(
    fc.property(components, parameters, (covered, given) => {
      const list = ["content-digest", ...covered];
      const request = signed(UNSIGNED, list, Object.fromEntries(given));
      const verdict = verify(request, OPTIONS);
      expect(verdict.code).toBe("ok");
      expect(verdict.covered).toEqual(list.map((text) => formatComponent(componentOf(text))));
      const params = baseOf({ verdict, request })?.split("\n").at(-1) ?? "";
      const names = given.map(([name]) => params.indexOf(`;${name}=`));
      expect(names).toEqual(names.toSorted((a, b) => a - b));
    }),
  );
});

describe("long input is read in time proportional to its length", () => {
  const LONG = 200_000;

  it.each<[string, HttpRequest]>([
    ["space in Signature-Input", withFields(`a=1, sig1=("content-digest"${" ".repeat(LONG)}"date")`)],
    ["unclosed strings", withFields(`sig1=("content-digest");a="${'\\"'.repeat(LONG)}`)],
    ["labels", withFields(Array.from({ length: LONG }, (_, at) => `l${at}`).join(","))],
    [
      "digests",
      withHeader(signed(), "Content-Digest", () => Array.from({ length: LONG }, (_, at) => `l${at}`).join()),
    ],
    [
      "spaces in a digest",
      withHeader(signed(), "Content-Digest", (value) => `${value},${" ".repeat(LONG)}a=1`),
    ],
    [
      "unclosed strings in a member of the digest",
      withHeader(
        withFields('sig1=("content-digest";key="sha-256")'),
        "Content-Digest",
        () => `a="${'\\"'.repeat(LONG)}`,
      ),
    ],
  ])("%s", (_, request) => expectVerdict(request));
});
