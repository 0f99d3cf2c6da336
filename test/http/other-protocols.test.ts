/** What a listener says of senders that speak something else than it does: proxies that are set up for HTTP/2, TLS or the PROXY protocol. */
import { execFile } from "node:child_process";
import type { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import type { TlsFiles } from "../../src/http/exchange.ts";
import { serve } from "../../src/http/serve.ts";
import { selfSigned } from "../support/certificate.ts";
import { temporaryHome } from "../support/home.ts";
import { exchangeRaw } from "../support/raw-client.ts";

/** A server, and what it refuses: a code and its detail each. */
async function refusing(tls?: TlsFiles) {
  const refused: string[] = [];
  const server = await serve(
    async ({ target }) => ({ status: 200, headers: [], body: Buffer.from(target) }),
    {
      host: "127.0.0.1",
      port: 0,
      maxBody: 100,
      tls,
      refused: ({ code, detail }) => void refused.push(`${code}: ${detail}`),
    },
  );
  onTestFinished(() => server.close());
  return { server, refused };
}

/** Resolves once the server has closed the connection. */
const closed = (connection: EventEmitter): Promise<void> =>
  new Promise((resolve) => {
    connection.on("error", () => undefined).on("data", () => undefined);
    connection.on("close", () => resolve());
  });

it("names HTTP/2, TLS and both versions of the PROXY protocol", async () => {
  const { server, refused } = await refusing();
  const session = connectHttp2(server.url);
  session
    .request({ ":method": "POST" })
    .on("error", () => undefined)
    .end("x");
  await closed(session);
  await closed(connectSecurely({ port: server.port, host: "127.0.0.1" }));
  const post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx";
  const binary = Buffer.from("0d0a0d0a000d0a515549540a2111000c7f0000017f00000100010002", "hex");
  for (const prefix of [Buffer.from("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n"), binary])
    expect(await exchangeRaw(server.url, Buffer.concat([prefix, Buffer.from(post)]))).toMatch(
      /^HTTP\/1.1 400/,
    );
  expect(refused).toEqual([
    expect.stringContaining("http_parse_error: the sender speaks HTTP/2"),
    expect.stringContaining("http_parse_error: the sender speaks TLS"),
    expect.stringContaining("http_parse_error: the sender speaks the PROXY protocol"),
    expect.stringContaining("http_parse_error: the sender speaks the PROXY protocol"),
  ]);
});

it("names what keeps a sender from a TLS connection", async () => {
  const { cert, key } = selfSigned(temporaryHome(), "localhost");
  const { server, refused } = await refusing({ cert: readFileSync(cert), key: readFileSync(key) });
  const address = { port: server.port, host: "127.0.0.1" };
  const plain = connect(address, () => plain.write("POST / HTTP/1.1\r\nHost: x\r\n\r\n"));
  await closed(plain);
  const distrusting = ["s_client", "-connect", `127.0.0.1:${server.port}`, "-verify_return_error"];
  await new Promise((resolve) => execFile("openssl", distrusting, resolve).stdin?.end());
  await closed(
    connectSecurely({ ...address, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL@SECLEVEL=0" }),
  );
  // A health check of a load balancer only connects.
  const silent = connect(address, () => silent.end());
  await closed(silent);
  expect(refused).toEqual([
    "tls_failed: the sender speaks http, and this address is https",
    expect.stringContaining("tls_failed: the sender does not accept the certificate"),
    expect.stringContaining("tls_failed: the TLS handshake failed"),
  ]);
});

it("answers a request that ends its connection, whatever follows it", async () => {
  const { server, refused } = await refusing();
  const post = (path: string, line = ""): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${line}Content-Length: 1\r\n\r\nx`;
  const answer = await exchangeRaw(server.url, post("/first", "Connection: close\r\n") + post("/second"));
  expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\n\/first$/);
  expect(refused).toEqual([expect.stringContaining("dropped the Content-Length")]);
});
