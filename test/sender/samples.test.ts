/** Sample webhooks: what the service would send, or tampered with in exactly one way. */
import { SAMPLE_OUTCOMES } from "../../src/domain/outcome.ts";
import { describe, expect, it } from "vitest";
import { coverToTamper, TAMPERINGS } from "../../src/sender/tamperings.ts";
import { LINK_KINDS, recordOfSample } from "../../src/sender/samples.ts";
import { signedWebhook } from "../../src/sender/signed-webhook.ts";
import { COMPONENT_NAMES, DERIVED_COVER, SERVICE_COVER, SERVICE_FORM } from "../../src/signatures/cover.ts";
import { violationsOf } from "../../src/domain/transaction.ts";
import { stringifyJson } from "../../src/values/json.ts";
import { explainCapture } from "../../src/receiver/captured.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { OPTIONS } from "../signatures/signed.ts";
import { KEYS } from "../support/keys.ts";

const source = { newId: () => crypto.randomUUID(), now: () => new Date() };

describe("a sample", () => {
  it.each(SAMPLE_OUTCOMES.flatMap((outcome) => LINK_KINDS.map((link) => [outcome, link] as const)))(
    "%s, %s: keeps every rule of the specification",
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

/** The reason of a correct receiver, by the name of the tampering. */
const CODES: Readonly<Record<string, string>> = {
  body: "content_digest_mismatch",
  "body-and-digest": "signature_invalid",
  digest: "content_digest_mismatch",
  "digest-missing": "component_missing",
  "digest-malformed": "content_digest_malformed",
  "digest-algorithm": "content_digest_unsupported",
  "digest-second": "content_digest_mismatch",
  signature: "signature_invalid",
  unsigned: "unsigned",
  "signature-missing": "signature_missing",
  "signature-input-missing": "signature_input_missing",
  "signature-malformed": "signature_malformed",
  "signature-input-malformed": "signature_input_malformed",
  created: "signature_too_old",
  "created-moved": "signature_invalid",
  "created-future": "created_in_future",
  "created-type": "signature_param_invalid",
  expired: "signature_expired",
  label: "label_not_found",
  "label-mismatch": "label_mismatch",
  "label-duplicate": "duplicate_label",
  "digest-duplicate": "signature_invalid",
  "content-type-duplicate": "duplicate_header",
  "component-missing": "component_missing",
  coverage: "coverage_missing",
  "coverage-empty": "coverage_missing",
  "coverage-removed": "signature_invalid",
  key: "signature_invalid",
  algorithm: "alg_not_allowed",
  "algorithm-pss": "alg_not_allowed",
  "algorithm-unknown": "alg_not_allowed",
  target: "signature_invalid",
  "content-type": "signature_invalid",
  replay: "content_digest_mismatch",
  method: "method_not_allowed",
};

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
});
