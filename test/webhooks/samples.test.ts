/** Sample webhooks: what the service would send, or tampered with in exactly one way. */
import { describe, expect, it } from "vitest";
import { TAMPERINGS } from "../../src/webhooks/tamperings.ts";
import { recordOfSample, LINK_KINDS, OUTCOMES } from "../../src/webhooks/sample-record.ts";
import { signedWebhook } from "../../src/webhooks/sample-webhook.ts";
import { breachesOf } from "../../src/domain/transaction.ts";
import { stringifyJson } from "../../src/domain/json.ts";
import { examine } from "../../src/receiver/captured.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { OPTIONS, PAIR } from "../signatures/signed.ts";
import { CODES } from "../support/tampering-codes.ts";

const source = { newId: () => crypto.randomUUID(), now: () => new Date() };

describe("a sample", () => {
  it.each(OUTCOMES.flatMap((outcome) => LINK_KINDS.map((link) => [outcome, link] as const)))(
    "%s, %s: breaks no rule of the specification",
    (outcome, link) => {
      expect(breachesOf(recordOfSample({ outcome, link }, source))).toEqual([]);
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
    key: { keyid: "k", key: PAIR.privateKey },
    created: Math.floor(now.getTime() / 1000),
  };
  const body = Buffer.from(stringifyJson(recordOfSample({ outcome: "approved", link: "one-time" }, source)));
  const judged = (request: Parameters<typeof examine>[0]) =>
    examine(request, { keys: OPTIONS.keys, policy: DEFAULT_POLICY, now, maxBody: 1024 * 1024 });

  it("leaves an untouched webhook valid", () => {
    expect(judged(signedWebhook(body, sender)).verdict.code).toBe("ok");
  });

  it.each(
    TAMPERINGS.filter(({ kind }) => kind !== "authentic").map(({ name, tamper }) => [name, tamper] as const),
  )("%s is refused for what it is", (name, tamper) => {
    expect(judged(tamper(body, sender)).verdict.code).toBe(CODES[name]);
  });

  it.each(
    TAMPERINGS.filter(({ kind }) => kind === "authentic").map(({ name, tamper }) => [name, tamper] as const),
  )("%s is authentic, and breaks the specification", (_, tamper) => {
    const { verdict, breaches } = judged(tamper(body, sender));
    expect(verdict.code).toBe("ok");
    expect(breaches).not.toEqual([]);
  });
});
