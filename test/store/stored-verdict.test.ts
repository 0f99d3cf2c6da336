/** What is stored of a verdict gives the whole verdict again, whatever its code. */
import { describe, expect, it } from "vitest";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { restoreVerdict, storedVerdict } from "../../src/events/stored-verdict.ts";
import { verify, type VerifyOptions } from "../../src/signatures/verify.ts";
import type { Verdict } from "../../src/signatures/verdict.ts";
import {
  componentOf,
  vectorFile,
  webhookOptions,
  webhookRequest,
  type WebhookCase,
} from "../support/vectors.ts";

const { vectors } = vectorFile<{ vectors: WebhookCase[] }>("webhook-positive");
const { cases } = vectorFile<{ cases: WebhookCase[] }>("webhook-negative");
const [first] = vectors;
if (first === undefined) throw new Error("there is no vector");

/** The verdict, and what is left of it after it was stored. */
function stored(
  vector: WebhookCase,
  changes: Partial<VerifyOptions> = {},
): { before: Verdict; after: Verdict } {
  const request = webhookRequest(vector);
  const options = { ...webhookOptions(vector), ...changes };
  const before = verify(request, options);
  return { before, after: restoreVerdict(request, storedVerdict(before), options.now) };
}

describe("a stored verdict", () => {
  it.each([...vectors, ...cases.filter(({ level }) => level === "message")])(
    "of $id is whole again",
    (one) => {
      const { before, after } = stored(one);
      expect(after).toEqual(before);
    },
  );

  it.each([
    ["valid", "of required components", { required: [componentOf("content-type")] }],
    ["invalid", "of a required component that is not covered", { required: [componentOf("x-missing")] }],
    ["invalid", "of a signature that is too old", { maxAge: -1e9 }],
  ])("is %s again: %s", (verdict, _, policy) => {
    const { before, after } = stored(first, { policy: { ...DEFAULT_POLICY, ...policy } });
    expect(before.verdict).toBe(verdict);
    expect(after).toEqual(before);
  });

  it("says again which of several keys verified", () => {
    const own = webhookOptions(first).keys;
    const others = cases.flatMap((one) => (one.level === "message" ? webhookOptions(one).keys : []));
    const other = others.find(({ bits, key }) => bits === 2048 && own.every((mine) => !mine.key.equals(key)));
    if (other === undefined) throw new Error("there is no other key");
    const keys = [other, ...own].map((key) => ({ ...key, keyid: null }));
    const { before, after } = stored(first, { keys });
    expect(before.checks.find(({ check }) => check === "signature-value")?.detail).toContain("key number 2");
    expect(after).toEqual(before);
  });

  it("needs few bytes for a usual webhook", () => {
    const { details } = storedVerdict(stored(first).before);
    expect(JSON.stringify(details).length).toBeLessThan(100);
  });
});
