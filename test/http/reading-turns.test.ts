/** Large bodies over real sockets: a few are read at a time, in turns, and small requests never wait for them. */
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { serve } from "../../src/http/serve.ts";

const LARGE = 200_000;
const SIGNED = "Signature: sig1=:AA==:\r\n";

async function startServer() {
  const received: string[] = [];
  const server = await serve(
    async ({ target }) => {
      received.push(target.slice(1));
      return { status: 204, headers: [], body: new Uint8Array() };
    },
    {
      host: "127.0.0.1",
      port: 0,
      maxBody: 1024 * 1024,
      prefers: ({ headers }) => headers.some(([name]) => name === "Signature"),
    },
  );
  onTestFinished(() => server.close());
  /** Sends all but the last `missing` bytes of a body. */
  const begin = async (name: string, length: number, missing: number, header = ""): Promise<Socket> => {
    const socket = connect(server.port, "127.0.0.1").on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    socket.write(`POST /${name} HTTP/1.1\r\nHost: x\r\n${header}Content-Length: ${length}\r\n\r\n`);
    await new Promise((written) => socket.write(Buffer.alloc(length - missing), written));
    await pause(30);
    return socket;
  };
  return { received, begin };
}

it("lets a large body wait while four others are read, and reads small ones at once", async () => {
  const { received, begin } = await startServer();
  const stalled: Socket[] = [];
  for (let index = 0; index < 4; index++) stalled.push(await begin(`stalled-${index}`, LARGE, 1));
  await begin("large", LARGE, 0);
  await begin("small", 1000, 0);
  await expect.poll(() => received).toEqual(["small"]);
  stalled[0]?.write("x");
  await expect.poll(() => received).toEqual(["small", "stalled-0", "large"]);
});

it("ends the turn of a sender that stalls, and prefers signed bodies", async () => {
  const { received, begin } = await startServer();
  const first = await begin("first", LARGE, 1, SIGNED);
  await pause(300);
  for (const name of ["second", "third", "fourth"]) await begin(name, LARGE, 1);
  await begin("unsigned", LARGE, 0);
  await begin("signed", LARGE, 0, SIGNED);
  expect(received).toEqual([]);
  await expect.poll(() => received).toEqual(["signed", "unsigned"]);
  first.write("x");
  await expect.poll(() => received).toEqual(["signed", "unsigned", "first"]);
});
