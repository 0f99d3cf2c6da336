/** Sample webhooks: what the service would send, or tampered with in exactly one way. */
import { SAMPLE_OUTCOMES } from "../../src/domain/outcome.ts";
import { describe, expect, it } from "vitest";
import { coverToTamper, TAMPERINGS } from "../../src/check/tamperings.ts";
import { LINK_KINDS, recordOfSample } from "../../src/check/samples.ts";
import { signedWebhook } from "../../src/check/signed-webhook.ts";
import { COMPONENT_NAMES, DERIVED_COVER, SERVICE_COVER, SERVICE_FORM } from "../../src/signatures/cover.ts";
import { violationsOf } from "../../src/domain/transaction.ts";
import { stringifyJson } from "../../src/domain/json.ts";
import { explainCapture } from "../../src/receiver/captured.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { OPTIONS } from "../signatures/signed.ts";
import { CODES } from "../support/tampering-codes.ts";
import { KEYS } from "../support/keys.ts";

const source = { newId: () => crypto.randomUUID(), now: () => new Date() };

describe("a sample", () => {
  it.each(SAMPLE_OUTCOMES.flatMap((outcome) => LINK_KINDS.map((link) => [outcome, link] as const)))(
    "%s, %s: breaks no rule of the specification",
    (outcome, link) => {
      expect(violationsOf(recordOfSample({ outcome, link }, source))).toEqual([]);
    },
  );

  it("has the decimals of its currency, and the reference of its link", () => {
    const record = (currency: string) =>
      recordOfSample({ outcome: "approved", link: "reusable", currency }, source);
    expect(record("JPY").amountTrans.toString()).toBe("10");
    expect(record("KWD").amountTrans.toString()).toBe("10.000");
    expect(record("EUR").reference).toMatch(/^INV-1001-[A-Z0-9]{9}$/);
  });
});

describe("each tampering", () => {
  const now = new Date();
  const sender = {
    url: new URL("http://127.0.0.1:4000/hook?a=b"),
    key: { keyid: "k", key: KEYS.privateKey },
    created: Math.floor(now.getTime() / 1000),
    form: SERVICE_FORM,
  };
  const body = Buffer.from(stringifyJson(recordOfSample({ outcome: "approved", link: "one-time" }, source)));
  const judged = (request: Parameters<typeof explainCapture>[0]) =>
    explainCapture(request, { keys: OPTIONS.keys, policy: DEFAULT_POLICY, now, maxBody: 1024 * 1024 });

  it.each([SERVICE_COVER, DERIVED_COVER, COMPONENT_NAMES])(
    "leaves an untouched webhook valid: %j",
    (...cover) => {
      for (const created of [true, false]) {
        const { verdict } = judged(signedWebhook(body, { ...sender, form: { cover, created } }));
        expect(verdict).toMatchObject({ code: "ok", covered: cover });
        expect(verdict.warnings.includes("created_missing")).toBe(!created);
      }
    },
  );

  it.each(
    TAMPERINGS.flatMap((tampering) =>
      [undefined, DERIVED_COVER].map((cover) => [tampering.name, tampering, cover] as const),
    ),
  )("%s is refused for its own reason", (name, tampering, chosen) => {
    const cover = coverToTamper(tampering, chosen);
    if (cover === undefined) throw new Error(`${name} cannot be detected`);
    for (const created of [true, false]) {
      const form = { cover, created };
      const { verdict } = judged(tampering.tamper(body, { ...sender, form }));
      expect(verdict.code).toBe(CODES[name]);
    }
  });

  it("is not offered under a cover that does not detect it", () => {
    const undetected = TAMPERINGS.filter((one) => coverToTamper(one, ["content-digest"]) === undefined);
    expect(undetected.map(({ name }) => name)).toEqual([
      "target",
      "method",
      "content-type",
      "content-type-duplicate",
    ]);
    const byDefault = TAMPERINGS.filter((one) => coverToTamper(one, undefined) !== SERVICE_COVER);
    expect(byDefault.map(({ name }) => name)).toEqual(["target", "method"]);
  });
});
