/** The lines of `paylink sandbox`: what they do not show. */
import { expect, it } from "vitest";
import { NO_PAINT } from "../../src/render/paint.ts";
import { renderSandboxEvent } from "../../src/commands/sandbox/sandbox.ts";

it.each([true, false])("a delivery has the address without its password (JSON: %s)", (json) => {
  const url = "https://shop:hunter2@shop.example/webhooks";
  const state = "delivered";
  const schedule = { attempts: 0, tries: 0, due: 0 };
  const delivery = {
    id: "d1",
    linkId: "l1",
    uti: "u1",
    url,
    body: new Uint8Array(),
    state,
    ...schedule,
  } as const;
  const attempt = { attempt: 1, status: 200, detail: "answered 200", state } as const;
  const text = renderSandboxEvent({ type: "delivery", delivery, ...attempt }, new Date(0), {
    json,
    paint: NO_PAINT,
  });
  expect(text).toContain("https://shop:[redacted]@shop.example/webhooks");
});
