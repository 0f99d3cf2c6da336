/** HTTPS_PROXY and NO_PROXY, with a real proxy that says whom it was asked for. */
import { describe, expect, it, onTestFinished } from "vitest";
import { SendError } from "../../src/http/exchange.ts";
import { createSender } from "../../src/http/send.ts";
import { rawServer } from "../support/raw-server.ts";

const REQUEST = {
  method: "POST",
  scheme: "https",
  authority: "service.invalid",
  target: "/v1/payment-links",
  headers: [["Authorization", "Bearer token-1"]],
  body: new TextEncoder().encode("{}"),
} as const;

async function attempt(noProxy: string | undefined) {
  const proxy = await rawServer((socket) =>
    socket.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"),
  );
  const sender = createSender({ httpsProxy: proxy.url, noProxy });
  onTestFinished(() => sender.close());
  const error: unknown = await sender.send(REQUEST, { timeout: 5000 }).catch((thrown: unknown) => thrown);
  return { error, requests: proxy.requests };
}

describe("a proxy", () => {
  it("is asked for a tunnel, hears nothing of the token, and where it refuses nothing has left", async () => {
    const { error, requests } = await attempt(undefined);
    expect(requests[0]).toMatch(/^CONNECT service\.invalid:443 HTTP\/1\.1\r\n/);
    expect(requests.join()).not.toContain("token-1");
    expect(error).toBeInstanceOf(SendError);
    expect((error as SendError).sent).toBe(false);
  });

  it("is passed by for what NO_PROXY names", async () => {
    const { error, requests } = await attempt("service.invalid");
    expect(requests).toEqual([]);
    expect(error).toBeInstanceOf(SendError);
  });
});
