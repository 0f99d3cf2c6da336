/** Brokers that send without end: paylink ends the connection instead of keeping in memory what they send. */
import { createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { amqp } from "../../src/receiver/brokers/amqp.ts";
import type { BrokerLogin, Connector } from "../../src/receiver/brokers/broker.ts";
import { nats } from "../../src/receiver/brokers/nats.ts";
import { listenOnFreePort } from "../support/ports.ts";

const LOGIN: BrokerLogin = {
  value: () => undefined,
  file: async () => undefined,
  tlsFiles: async () => ({}),
  insecure: false,
  timeout: 5_000,
};

/** Bytes after which the server would have been kept in memory. */
const TOO_MANY = 64 * 1024 * 1024;

/** A server that answers each piece of a client's text in turn, and then sends its flood as fast as it is read. */
async function hostileServer(answers: readonly Uint8Array[], flood: Uint8Array, greeting?: string) {
  const sent = { bytes: 0 };
  const send = (socket: Socket): void => {
    while (!socket.destroyed && sent.bytes < TOO_MANY) {
      sent.bytes += flood.length;
      if (!socket.write(flood)) return void socket.once("drain", () => send(socket));
    }
  };
  const server = createServer((socket) => {
    const left = [...answers];
    socket.on("error", () => undefined);
    if (greeting !== undefined) socket.write(greeting);
    socket.on("data", () => {
      const answer = left.shift();
      if (answer !== undefined) socket.write(answer);
      if (left.length === 0) send(socket);
    });
    onTestFinished(() => void socket.destroy());
  });
  return { port: await listenOnFreePort(server), sent };
}

async function expectEnded(connector: Connector, url: string, sent: { readonly bytes: number }) {
  const open = await connector(new URL(url), LOGIN);
  const session = await open();
  await session.ended;
  expect(sent.bytes).toBeLessThan(TOO_MANY);
}

const INFO = { server_id: "S", version: "2.10.0", proto: 1, headers: true, max_payload: 1_048_576 };

it.each([
  ["a message of 2 GB", "MSG _INBOX.a.b 1 2000000000\r\n"],
  ["a message of 2 GB with fields", "HMSG _INBOX.a.b 1 12 2000000000\r\nNATS/1.0\r\n\r\n"],
  ["a line of a message without an end", "MSG "],
  ["a description of itself without an end", "INFO {"],
])("ends the connection of a NATS server that sends %s", async (_, head) => {
  const { port, sent } = await hostileServer(
    [Buffer.from(`PONG\r\n${head}`)],
    Buffer.alloc(256 * 1024, "x"),
    `INFO ${JSON.stringify(INFO)}\r\n`,
  );
  await expectEnded(nats, `nats://127.0.0.1:${port}/payments`, sent);
});

/** A frame of AMQP 0-9-1 (2.3.5). */
function frame(type: number, channel: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(7);
  head.writeUInt8(type, 0);
  head.writeUInt16BE(channel, 1);
  head.writeUInt32BE(payload.length, 3);
  return Buffer.concat([head, payload, Buffer.from([0xce])]);
}

const method = (channel: number, classId: number, id: number, args = ""): Buffer =>
  frame(1, channel, Buffer.from([0, classId, 0, id, ...Buffer.from(args, "hex")]));

/** What a server answers until paylink may publish: the connection, and a channel that looks for the exchange. */
const UNTIL_PUBLISHING = [
  method(0, 10, 10, "00090000000000000005504c41494e00000005656e5f5553"),
  method(0, 10, 30, "0000000200000000"),
  method(0, 10, 41, "00"),
  method(1, 20, 11, "00000000"),
  method(1, 40, 11),
  method(1, 20, 41),
  method(1, 20, 11, "00000000"),
  method(1, 85, 11),
];

/** A message that comes back: its head, which says how long it is. `0080` is its messageId, `a`. */
const comesBack = (size: bigint): Buffer => {
  const head = Buffer.alloc(14);
  head.writeUInt16BE(60, 0);
  head.writeBigUInt64BE(size, 4);
  head.writeUInt16BE(0x0080, 12);
  return Buffer.concat([
    method(1, 60, 50, "0138000000"),
    frame(2, 1, Buffer.concat([head, Buffer.from([1, 0x61])])),
  ]);
};

it("ends the connection of an AMQP server that returns a message of 2 GB", async () => {
  const last = Buffer.concat([UNTIL_PUBLISHING.at(-1) ?? Buffer.alloc(0), comesBack(2_000_000_000n)]);
  const { port, sent } = await hostileServer(
    [...UNTIL_PUBLISHING.slice(0, -1), last],
    frame(3, 1, Buffer.alloc(64 * 1024)),
  );
  await expectEnded(amqp, `amqp://127.0.0.1:${port}/exchange?key=k`, sent);
});

it("ends the connection of an AMQP server that sends a frame of 2 GB", async () => {
  const head = Buffer.from([3, 0, 1, 0x77, 0x35, 0x94, 0]);
  const last = Buffer.concat([UNTIL_PUBLISHING.at(-1) ?? Buffer.alloc(0), head]);
  const { port, sent } = await hostileServer(
    [...UNTIL_PUBLISHING.slice(0, -1), last],
    Buffer.alloc(256 * 1024),
  );
  await expectEnded(amqp, `amqp://127.0.0.1:${port}/exchange?key=k`, sent);
});
