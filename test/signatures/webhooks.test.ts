/** The service's webhooks, good and bad, against the verdict that each must get. */

import { describe, expect, it } from "vitest";
import { component } from "../../src/signatures/components.ts";
import { readSigningKey } from "../../src/signatures/keys.ts";
import { baseOf, checksOf } from "../../src/signatures/explain/verdict-words.ts";
import { sign } from "../../src/signatures/sign.ts";
import { readDictionary } from "../../src/signatures/structured.ts";
import { isReason } from "../../src/domain/reasons.ts";
import { verify } from "../../src/signatures/verify.ts";
import { isInnerList } from "structured-headers";
import { vectorFile, webhookOptions, webhookRequest, type WebhookCase } from "../support/vectors.ts";

const { vectors } = vectorFile<{ vectors: WebhookCase[] }>("webhook-positive");
const { cases } = vectorFile<{ cases: WebhookCase[] }>("webhook-negative");
const { keys } = vectorFile<{ keys: Record<string, { private_pem: string }> }>("keys");

describe("webhooks that verify", () => {
  it.each(vectors)("$id: $title", (vector) => {
    const request = webhookRequest(vector);
    const options = webhookOptions(vector);
    const verdict = verify(request, options);
    expect(verdict).toMatchObject({
      verdict: vector.expected.verdict,
      code: vector.expected.code,
      warnings: vector.expected.warnings,
      failure: null,
    });
    expect(baseOf({ verdict, request })).toBe(vector.signature_base);
    expect(checksOf({ verdict, request, now: options.now }).every(({ ok }) => ok)).toBe(true);
  });

  it.each(vectors)("$id is signed again to the same bytes", (vector) => {
    const read = readSigningKey(keys["test-key-rsa"]?.private_pem ?? "");
    const input = vector.request.headers.find(([name]) => name === "Signature-Input")?.[1] ?? "";
    const list = readDictionary([input]).parsed.get("sig1");
    if (!read.ok || list === undefined || !isInnerList(list)) throw new Error("the vector cannot be read");
    const fields = sign(webhookRequest(vector), {
      key: read.value,
      components: list[0].map(([name, parameters]) => component(String(name), parameters)),
      parameters: Object.fromEntries(list[1]),
    });
    expect(fields[1]).toEqual(["Signature", `sig1=:${vector.signature_base64}:`]);
  });
});

/** These are refused by the receiver, before a signature is looked at: too large a field, body or request line. */
const RECEIVERS_OWN = new Set(["neg-169", "neg-171"]);

describe("webhooks that do not verify", () => {
  const ours = cases.filter(
    ({ level, id, expected }) => level === "message" && isReason(expected.code) && !RECEIVERS_OWN.has(id),
  );

  it.each(ours)("$id: $title", (vector) => {
    const request = webhookRequest(vector);
    const options = webhookOptions(vector);
    const verdict = verify(request, options);
    expect(verdict).toMatchObject({ verdict: "invalid", code: vector.expected.code });
    const checks = checksOf({ verdict, request, now: options.now });
    expect(checks.filter(({ ok }) => !ok)).toEqual(checks.slice(-1));
  });

  it.each(cases.filter(({ level }) => level === "payload"))("$id is authentic: $title", (vector) => {
    expect(verify(webhookRequest(vector), webhookOptions(vector)).code).toBe("ok");
  });
});
