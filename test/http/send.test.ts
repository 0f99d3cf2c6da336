/** Sending, over real sockets: what a failed exchange leaves behind. */
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { ClosedWithoutAnswer, SendError, SendTimeout } from "../../src/http/exchange.ts";
import type { HttpRequest } from "../../src/http/message.ts";
import { createSender } from "../../src/http/send.ts";
import { selfSigned } from "../support/certificate.ts";
import { temporaryHome } from "../support/home.ts";
import { rawServer } from "../support/raw-server.ts";
import { openSender } from "../support/sender.ts";

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

describe("an https server that closes the connection", () => {
  const files = () => {
    const { cert, key } = selfSigned(temporaryHome(), "localhost");
    return { cert: readFileSync(cert), key: readFileSync(key) };
  };

  /** Its failure for a client that accepts its certificate. */
  async function failureAt(server: ReturnType<typeof createServer>, certificate?: ReturnType<typeof files>) {
    await new Promise<void>((bound) => server.listen(0, "127.0.0.1", bound));
    onTestFinished(() => void server.close());
    const authority = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const request: HttpRequest = {
      method: "GET",
      scheme: "https",
      authority,
      target: "/",
      headers: [],
      body: new Uint8Array(),
    };
    const options = { insecure: true, clientCertificate: certificate };
    return openSender()(request, options).catch((error: unknown) => error);
  }

  it("may want a client certificate, if it gave no answer to a client without one", async () => {
    const mutual = () => createServer({ ...files(), requestCert: true });
    expect(await failureAt(mutual())).toBeInstanceOf(ClosedWithoutAnswer);
    const refused = await failureAt(mutual(), files());
    expect(refused).toBeInstanceOf(SendError);
    expect(refused).not.toBeInstanceOf(ClosedWithoutAnswer);
  });

  it("has answered where its reply breaks off", async () => {
    const broken = createServer(files(), (_, response) => {
      response.writeHead(200, { "Content-Length": "10" }).write("half", () => response.destroy());
    });
    const failure = await failureAt(broken);
    expect(failure).toBeInstanceOf(SendError);
    expect(failure).not.toBeInstanceOf(ClosedWithoutAnswer);
  });
});

describe("a proxy whose address cannot be read", () => {
  it.each([
    "http://me:s3cr3t@proxy:99999",
    "http://me:s3#cr3t@proxy:3128",
    "http://me:12/s3cr3t@proxy:3128",
    "http://me:s3%cr3t@proxy:3128",
    "me:s3/cr3t@proxy",
    "socks5://me:s3cr3t@proxy",
  ])("is a usage error without the password: %s", async (httpsProxy) => {
    const send = openSender({ httpsProxy });
    const request: HttpRequest = {
      method: "GET",
      scheme: "https",
      authority: "service.invalid",
      target: "/",
      headers: [],
      body: new Uint8Array(),
    };
    const failure = await send(request).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "usage", message: expect.stringContaining("HTTPS_PROXY") });
    expect(String(failure)).not.toMatch(/s3|cr3t/);
  });
});
