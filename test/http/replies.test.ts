/** The replies of real services, over real sockets: interim responses and certificates. */
import { describe, expect, it } from "vitest";
import type { HeaderLine } from "../../src/http/message.ts";
import { sendFailure } from "../../src/http/send-failure.ts";
import { rawServer } from "../support/raw-server.ts";
import { openSender, USER_AGENT } from "../support/sender.ts";

const TEXT = JSON.stringify({ words: "ünï ".repeat(100) });

const requestTo = (port: number, headers: readonly HeaderLine[] = []) => ({
  method: "POST",
  scheme: "http" as const,
  authority: `127.0.0.1:${port}`,
  target: "/",
  headers,
  body: new TextEncoder().encode("{}"),
});

const serverOf = (body: Uint8Array) =>
  rawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body);
  });

describe("a reply of which only the beginning is kept", () => {
  const LONG = Buffer.from("x".repeat(3_000_000));
  it("is read to its end", async () => {
    const server = await serverOf(LONG);
    const reply = await openSender()(requestTo(server.port), { keep: 1000 });
    expect([reply.status, Buffer.from(reply.body).toString()]).toEqual([200, "x".repeat(1000)]);
    expect(reply.body.buffer.byteLength).toBeLessThan(100_000);
  });

  it("counts even if it is longer than any reply may be", async () => {
    const server = await serverOf(LONG);
    const reply = await openSender()(requestTo(server.port), { keep: 1000, maxReply: 1_000_000 });
    expect([reply.status, reply.body.length]).toEqual([200, 1000]);
    // The next one has a connection of its own.
    expect((await openSender()(requestTo(server.port), { keep: 1000 })).status).toBe(200);
  });
});

describe("each request", () => {
  it("is not sent once its signal is aborted, even during preparation", async () => {
    const server = await serverOf(Buffer.from(TEXT));
    const abort = new AbortController();
    const exchange = openSender()(requestTo(server.port), { signal: abort.signal, finish: true });
    abort.abort(new Error("interrupted"));
    await expect(exchange).rejects.toThrow("interrupted");
    expect(server.requests).toEqual([]);
  });

  it("names paylink, and the codings that it can read", async () => {
    const server = await serverOf(Buffer.from(TEXT));
    await openSender()(requestTo(server.port));
    expect(server.requests[0]).toContain(`\r\nUser-Agent: ${USER_AGENT}\r\n`);
    expect(server.requests[0]).toContain("\r\nAccept-Encoding: gzip, deflate, br\r\n");
  });

  it("keeps the User-Agent of a forwarded webhook", async () => {
    const server = await serverOf(Buffer.from(TEXT));
    await openSender()(requestTo(server.port, [["user-agent", "Service/1"]]));
    expect(server.requests[0]).toMatch(/\r\nuser-agent: Service\/1\r\n/);
    expect(server.requests[0]).not.toContain(USER_AGENT);
  });
});

it.each(["000 Nothing", "042 Answer"])(
  "says that %s is not HTTP, like any other status that is none",
  async (status) => {
    const server = await rawServer((socket) =>
      socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`),
    );
    const failure: unknown = await openSender()(requestTo(server.port)).catch((error: unknown) => error);
    expect([sendFailure(failure), String(failure)]).toEqual([
      "not_http",
      expect.stringContaining("does not match the HTTP/1.1 protocol"),
    ]);
  },
);

it("skips interim responses, also on a connection that is used again", async () => {
  const server = await rawServer((socket) => {
    socket.write("HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n");
    setTimeout(() => socket.write("HTTP/1.1 200 OK\r\nX-Last: yes\r\nContent-Length: 2\r\n\r\nok"), 10);
  });
  const headers = [
    ["X-Last", "yes"],
    ["Content-Length", "2"],
  ];
  const send = openSender();
  for (let request = 0; request < 2; request++)
    expect(await send(requestTo(server.port))).toMatchObject({ status: 200, headers });
});
