/** What the judgement adds to the verdict on the signature: the name of a callback that is not a webhook. */
import { describe, expect, it } from "vitest";
import type { HeaderLine } from "../../src/http/message.ts";
import { judge } from "../../src/receiver/judge.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { OPTIONS, UNSIGNED } from "../signatures/signed.ts";

describe("the callback of DNA's e-commerce plugins", () => {
  const CALLBACK = {
    id: "d7b5",
    amount: 10.5,
    currency: "GBP",
    invoiceId: "INV-1",
    errorCode: 0,
    success: true,
    signature: "h0cLbw6Jc5lFFA==",
  };
  const { errorCode: _, ...PAID } = CALLBACK;
  const { signature: __, ...PLAIN } = CALLBACK;
  const codeOf = (body: string, ...lines: HeaderLine[]): string => {
    const request = { ...UNSIGNED, headers: [...UNSIGNED.headers, ...lines], body: Buffer.from(body) };
    const options = { keys: OPTIONS.keys, policy: DEFAULT_POLICY, now: new Date(), maxBody: 1024 * 1024 };
    return judge(request, options).verdict.code;
  };
  const form = (members: Readonly<Record<string, unknown>>): string =>
    Object.entries(members)
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
      .join("&");

  it.each<[string, string, string]>([
    ["as JSON", JSON.stringify(CALLBACK), "signature_in_body"],
    ["as a form", form(CALLBACK), "signature_in_body"],
    ["of a payment without an error code", JSON.stringify(PAID), "signature_in_body"],
    ["with more members", JSON.stringify({ ...CALLBACK, cardToken: null }), "signature_in_body"],
    ["without its HMAC", JSON.stringify(PLAIN), "unsigned"],
    ["in a record that has the same members too", JSON.stringify({ ...CALLBACK, uti: "u" }), "unsigned"],
    ["in a list", JSON.stringify([CALLBACK]), "unsigned"],
    ["inside the text of another", JSON.stringify({ text: `&${form(CALLBACK)}&` }), "unsigned"],
    ["that is larger than any", JSON.stringify({ ...CALLBACK, more: "x".repeat(20_000) }), "unsigned"],
  ])("%s", (_name, body, code) => {
    expect(codeOf(body)).toBe(code);
  });

  it("is not looked for if there is a signature", () => {
    const lone = codeOf(JSON.stringify(CALLBACK), ["Signature", "sig1=:AAAA:"]);
    expect(lone).toBe("signature_input_missing");
  });
});
