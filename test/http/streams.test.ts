/** Replies that are streamed, to readers that read slowly or not at all. */
import { connect, Server as NetServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import type { Handler } from "../../src/http/exchange.ts";
import { serve } from "../../src/http/serve.ts";

const CHUNK = new Uint8Array(64 * 1024);
/** 64 MiB: far more than the buffers of a connection hold. */
const CHUNKS = 1000;

const open = (handler: Handler) => serve(handler, { host: "127.0.0.1", port: 0, maxBody: 100 });

/** Sends a request and does not read its reply. */
async function stalledReader(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1" });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined).pause();
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  return socket;
}

/** A server of one stream, and the number of chunks that were taken from it. */
async function streamingServer() {
  let taken = 0;
  const body = async function* () {
    for (; taken < CHUNKS; taken++) {
      yield CHUNK;
      await pause(0);
    }
    await new Promise(() => undefined);
  };
  const server = await open(async () => ({ status: 200, headers: [], body: body() }));
  return { server, taken: () => taken };
}

it("takes no more from a stream than its reader has room for", async () => {
  const { server, taken } = await streamingServer();
  onTestFinished(() => server.close());
  await stalledReader(server.port);
  await expect.poll(taken).toBeGreaterThan(0);
  let before = -1;
  for (; taken() > before; await pause(300)) before = taken();
  expect(taken()).toBeLessThan(CHUNKS / 2);
});

it("closes a server although nobody reads its stream", async () => {
  const { server, taken } = await streamingServer();
  await stalledReader(server.port);
  await expect.poll(taken).toBeGreaterThan(0);
  await server.close();
});

it("survives connections that the system cannot accept", async () => {
  const listen = vi.spyOn(NetServer.prototype, "listen");
  onTestFinished(() => listen.mockRestore());
  const server = await open(async () => ({ status: 200, headers: [], body: new Uint8Array() }));
  onTestFinished(() => server.close());
  const [nodeServer] = listen.mock.contexts;
  if (!(nodeServer instanceof NetServer)) throw new Error("nothing listens");
  for (const attempt of [1, 2]) nodeServer.emit("error", new Error(`accept EMFILE, attempt ${attempt}`));
  expect((await fetch(server.url)).status).toBe(200);
});
