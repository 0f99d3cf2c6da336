/** A verdict is the same after it was stored, whatever its code. */
import { expect, it } from "vitest";
import { verdictColumn } from "../../src/store/event-rows.ts";
import { verify } from "../../src/signatures/verify.ts";
import { vectorFile, webhookOptions, webhookRequest, type WebhookCase } from "../support/vectors.ts";

const { vectors } = vectorFile<{ vectors: WebhookCase[] }>("webhook-positive");
const { cases } = vectorFile<{ cases: WebhookCase[] }>("webhook-negative");

it.each([...vectors, ...cases.filter(({ level }) => level === "message")])("$id", (one) => {
  const verdict = verify(webhookRequest(one), webhookOptions(one));
  expect(verdictColumn.parse(JSON.stringify(verdict))).toEqual(verdict);
});
