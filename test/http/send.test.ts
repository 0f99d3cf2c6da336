/** Sending, over real sockets: what a failed exchange leaves behind. */
import { describe, expect, it } from "vitest";
import { SendTimeout } from "../../src/http/exchange.ts";
import { createSender } from "../../src/http/send.ts";
import { rawServer } from "../support/raw-server.ts";

describe("an exchange that timed out", () => {
  it.each(["http", "https"] as const)("leaves no open connection: a silent %s port", async (scheme) => {
    const silent = await rawServer(() => undefined);
    const sender = createSender({
      httpsProxy: undefined,
      noProxy: undefined,
      nodeVersion: process.versions.node,
      userAgent: "paylink/0.0.0",
    });
    const started = performance.now();
    const authority = `127.0.0.1:${silent.port}`;
    const request = { method: "GET", scheme, authority, target: "/", headers: [], body: new Uint8Array() };
    await expect(sender.send(request, { timeout: 200 })).rejects.toThrow(SendTimeout);
    await sender.close();
    // Far below undici's own limit for a TLS handshake, 10 s.
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
