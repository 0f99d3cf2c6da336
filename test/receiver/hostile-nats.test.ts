/** A NATS server that sends without end: paylink ends the connection instead of keeping in memory what it sends. */
import { createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { nats } from "../../src/receiver/brokers/nats.ts";
import { listenOnFreePort } from "../support/ports.ts";

const INFO = { server_id: "S", version: "2.10.0", proto: 1, headers: true, max_payload: 1_048_576 };
const BLOCK = Buffer.alloc(256 * 1024, "x");
/** Bytes after which the server would have been kept in memory. */
const TOO_MANY = 64 * 1024 * 1024;

/** Says hello, and after the first PING whatever begins with `head`, as fast as it is read. The result counts the bytes. */
async function hostileServer(head: string) {
  const sent = { bytes: 0 };
  const flood = (socket: Socket): void => {
    while (!socket.destroyed && sent.bytes < TOO_MANY) {
      sent.bytes += BLOCK.length;
      if (!socket.write(BLOCK)) return void socket.once("drain", () => flood(socket));
    }
  };
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write(`INFO ${JSON.stringify(INFO)}\r\n`);
    socket.once("data", () => {
      socket.write(`PONG\r\n${head}`);
      flood(socket);
    });
    onTestFinished(() => void socket.destroy());
  });
  return { port: await listenOnFreePort(server), sent };
}

it.each([
  ["a message of 2 GB", "MSG _INBOX.a.b 1 2000000000\r\n"],
  ["a message of 2 GB with fields", "HMSG _INBOX.a.b 1 12 2000000000\r\nNATS/1.0\r\n\r\n"],
  ["a line of a message without an end", "MSG "],
  ["a description of itself without an end", "INFO {"],
])("ends the connection at %s", async (_, head) => {
  const { port, sent } = await hostileServer(head);
  const open = await nats(new URL(`nats://127.0.0.1:${port}/payments`), {
    value: () => undefined,
    file: async () => undefined,
    tlsFiles: async () => ({}),
    insecure: false,
    timeout: 5_000,
  });
  const session = await open();
  await session.ended;
  expect(sent.bytes).toBeLessThan(TOO_MANY);
});
