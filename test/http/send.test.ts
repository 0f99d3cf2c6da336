/** Sending, over real sockets: what a failed exchange leaves behind. */
import { readFileSync } from "node:fs";
import { createSecureServer } from "node:http2";
import { createServer } from "node:https";
import * as undici from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import type { PaylinkError } from "../../src/domain/errors.ts";
import { ClosedWithoutAnswer, ProxyFailed, SendError, SendTimeout } from "../../src/http/exchange.ts";
import type { HttpRequest } from "../../src/http/message.ts";
import { createSender } from "../../src/http/send.ts";
import { selfSigned } from "../support/certificate.ts";
import { connectionHint } from "../../src/service/failures.ts";
import { adviceOf } from "../support/failure.ts";
import { temporaryHome } from "../support/home.ts";
import { freePort, listenOnFreePort } from "../support/ports.ts";
import { rawServer } from "../support/raw-server.ts";
import { startProxy, UNRESOLVABLE } from "../support/secure-service.ts";
import { openSender } from "../support/sender.ts";

it("takes from single modules of undici what its index exports", async () => {
  const { default: Agent } = await import("undici/lib/dispatcher/agent.js");
  const { default: EnvHttpProxyAgent } = await import("undici/lib/dispatcher/env-http-proxy-agent.js");
  const { default: Pool } = await import("undici/lib/dispatcher/pool.js");
  const { default: connect } = await import("undici/lib/api/api-connect.js");
  const { default: buildConnector } = await import("undici/lib/core/connect.js");
  expect(Agent).toBe(undici.Agent);
  expect(EnvHttpProxyAgent).toBe(undici.EnvHttpProxyAgent);
  expect(Pool).toBe(undici.Pool);
  expect(Pool.prototype).toHaveProperty("connect", connect);
  expect(buildConnector).toBe(undici.buildConnector);
});

it.each([
  ["with the bytes at once", "Content-Length: 2\r\n\r\n{}"],
  ["without them", "Content-Length: 2\r\n\r\n"],
  ["in chunks", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"],
])("takes a 204 that promises a body as the answer that it is, %s", async (_, rest) => {
  const server = await rawServer((socket) => void socket.write(`HTTP/1.1 204 No Content\r\nX: 1\r\n${rest}`));
  const send = openSender();
  const authority = `127.0.0.1:${server.port}`;
  const head = { method: "POST", scheme: "http", authority, target: "/", headers: [] } as const;
  for (let attempt = 0; attempt < 3; attempt++) {
    const reply = await send({ ...head, body: Buffer.from("{}") }, { timeout: 5000 });
    expect(reply).toMatchObject({ status: 204, headers: expect.arrayContaining([["X", "1"]]) });
    expect(reply.body).toHaveLength(0);
  }
});

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
    const authority = `127.0.0.1:${await listenOnFreePort(server)}`;
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

describe("a proxy", () => {
  const request: HttpRequest = {
    method: "GET",
    scheme: "https",
    authority: UNRESOLVABLE,
    target: "/",
    headers: [],
    body: new Uint8Array(),
  };
  const failureThrough = (httpsProxy: string): Promise<unknown> => {
    const sender = createSender({
      httpsProxy,
      noProxy: undefined,
      nodeVersion: process.versions.node,
      userAgent: "paylink/0.0.0",
    });
    onTestFinished(() => sender.close());
    return sender.send(request).catch((error: unknown) => error);
  };

  it("is named if it is not reached, or does not connect, and nothing was sent", async () => {
    const port = await freePort();
    const dead = await failureThrough(`http://me:secret@127.0.0.1:${port}`);
    expect(dead).toBeInstanceOf(ProxyFailed);
    expect(dead).toMatchObject({
      sent: false,
      message: `https://${UNRESOLVABLE}: the proxy http://127.0.0.1:${port} was not reached: connection refused`,
    });
    const { url } = await startProxy({ to: 0, refuse: 407 });
    expect(await failureThrough(url)).toMatchObject({
      sent: false,
      message: `https://${UNRESOLVABLE}: the proxy ${url} answered 407`,
    });
  });

  it.each(["socks5://127.0.0.1:1080", "ftp://proxy"])("of another kind is refused: %s", async (address) => {
    const refused = await failureThrough(address);
    expect(refused).toMatchObject({ code: "usage" });
    expect(adviceOf(refused as PaylinkError)).toContain("http:// or https:// only");
  });
});

describe("an https service that speaks HTTP/2 alone", () => {
  it("is reached, at once again, and gives its body in full", async () => {
    const home = temporaryHome();
    const { cert, key } = selfSigned(home, "localhost");
    const sessions: unknown[] = [];
    const server = createSecureServer({ cert: readFileSync(cert), key: readFileSync(key) });
    server.on("session", (session) => sessions.push(session));
    server.on("stream", (stream, headers) => {
      stream.respond({ ":status": 201, "x-method": String(headers[":method"]) });
      stream.pipe(stream);
    });
    const authority = `localhost:${await listenOnFreePort(server)}`;
    const send = openSender();
    const request: HttpRequest = {
      method: "POST",
      scheme: "https",
      authority,
      target: "/a?b=c",
      headers: [["Content-Type", "application/json"]],
      body: Buffer.from("{}"),
    };
    for (let time = 0; time < 2; time++) {
      const reply = await send(request, { insecure: true });
      expect([reply.status, new TextDecoder().decode(reply.body)]).toEqual([201, "{}"]);
      expect(reply.headers).toContainEqual(["x-method", "POST"]);
    }
    expect(sessions).toHaveLength(1);
  });

  it("is named as such where it does not negotiate", async () => {
    const server = await rawServer((socket) => socket.end("\0\0\x12\x04\0\0\0\0\0"));
    const authority = `127.0.0.1:${server.port}`;
    const request = {
      method: "GET",
      scheme: "http",
      authority,
      target: "/",
      headers: [],
      body: new Uint8Array(),
    } as const;
    const error = await openSender()(request).catch((failure: unknown) => failure);
    expect(connectionHint(error)?.[0]).toContain("does not speak HTTP/1.1");
  });
});
