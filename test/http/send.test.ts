/** Sending, over real sockets: what a failed exchange leaves behind. */
import { describe, expect, it } from "vitest";
import { SendError, SendTimeout } from "../../src/http/exchange.ts";
import type { HttpRequest } from "../../src/http/message.ts";
import { createSender } from "../../src/http/send.ts";
import { freePort } from "../support/ports.ts";
import { rawServer } from "../support/raw-server.ts";
import { startProxy, UNRESOLVABLE } from "../support/secure-service.ts";
import { openSender, USER_AGENT } from "../support/sender.ts";

it.each([
  ["with the bytes at once", "Content-Length: 2\r\n\r\n{}"],
  ["without them", "Content-Length: 2\r\n\r\n"],
  ["in chunks", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"],
])("accepts a 204 that announces a body, %s", async (_, rest) => {
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

const getFrom = (authority: string, scheme: HttpRequest["scheme"] = "https"): HttpRequest => ({
  method: "GET",
  scheme,
  authority,
  target: "/",
  headers: [],
  body: new Uint8Array(),
});

describe("the status of an answer", () => {
  const answering = async (head: string) => {
    const server = await rawServer((socket) => void socket.write(head));
    // As an application's answer is read, of which the beginning is enough.
    return openSender()(getFrom(`127.0.0.1:${server.port}`, "http"), { timeout: 500, keep: 64 });
  };

  it.each(["103 Early Hints", "199 Soon", "102 Processing"])(
    "is not %s, after which nothing comes",
    async (line) => {
      await expect(answering(`HTTP/1.1 ${line}\r\nLink: </a.css>\r\n\r\n`)).rejects.toThrow(SendTimeout);
    },
  );

  it("is the final one, after any number of interim ones", async () => {
    const hints = "HTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n".repeat(3);
    const reply = await answering(`${hints}HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n`);
    expect(reply).toMatchObject({ status: 201, headers: [["Content-Length", "0"]] });
  });

  it.each([600, 799, 999])("is not %i, which HTTP does not have", async (status) => {
    const failure = answering(`HTTP/1.1 ${status} Odd\r\nContent-Length: 0\r\n\r\n`);
    await expect(failure).rejects.toMatchObject({ name: "SendError", sent: true });
    await expect(failure).rejects.toThrow(`answered with the status ${status}, which HTTP does not have`);
  });
});

describe("an exchange that timed out", () => {
  it.each(["http", "https"] as const)("leaves no open connection: a silent %s port", async (scheme) => {
    const silent = await rawServer(() => undefined);
    const sender = createSender({ httpsProxy: undefined, noProxy: undefined, userAgent: USER_AGENT });
    const started = performance.now();
    const request = getFrom(`127.0.0.1:${silent.port}`, scheme);
    await expect(sender.send(request, { timeout: 200 })).rejects.toThrow(SendTimeout);
    await sender.close();
    // Below undici's own limit for a TLS handshake.
    expect(performance.now() - started).toBeLessThan(10_000);
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
    const failure = await send(getFrom("service.invalid")).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "usage", message: expect.stringContaining("HTTPS_PROXY") });
    expect(String(failure)).not.toMatch(/s3|cr3t/);
  });
});

describe("a proxy", () => {
  const failureThrough = (httpsProxy: string): Promise<unknown> =>
    openSender({ httpsProxy })(getFrom(UNRESOLVABLE)).catch((error: unknown) => error);

  it("is named if it is not reached, or does not connect, and nothing was sent", async () => {
    const port = await freePort();
    const dead = await failureThrough(`http://me:secret@127.0.0.1:${port}`);
    expect(dead).toBeInstanceOf(SendError);
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
});
