/** Bodies as they arrive over real sockets: in chunks of any size, of any length, or more than there is memory for. */
import { connect } from "node:net";
import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { serve } from "../../src/http/serve.ts";
import { exchangeRaw } from "../support/raw-client.ts";

async function startServer(maxHeld?: number, maxBody = 1024 * 1024) {
  const bodies: string[] = [];
  const server = await serve(
    async ({ body }) => {
      bodies.push(Buffer.from(body).toString());
      return { status: 204, headers: [], body: new Uint8Array() };
    },
    { host: "127.0.0.1", port: 0, maxBody, ...(maxHeld === undefined ? {} : { maxHeld }) },
  );
  onTestFinished(() => server.close());
  return { url: server.url, port: server.port, bodies };
}

const HEAD = "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";

it("is read whole from chunks of any size", async () => {
  const { url, bodies } = await startServer();
  await fc.assert(
    fc.asyncProperty(fc.array(fc.stringMatching(/^[a-z]{1,9000}$/), { maxLength: 30 }), async (chunks) => {
      const wire = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
      const answer = await exchangeRaw(url, `${HEAD}Transfer-Encoding: chunked\r\n\r\n${wire}0\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 204 /);
      expect(bodies.at(-1)).toBe(chunks.join(""));
    }),
    { numRuns: 20 },
  );
  await exchangeRaw(url, `${HEAD}Transfer-Encoding: chunked\r\n\r\n${"1\r\na\r\n".repeat(4000)}0\r\n\r\n`);
  expect(bodies.at(-1)).toBe("a".repeat(4000));
});

it("has the same limit in chunks as with Content-Length", async () => {
  const { url, bodies } = await startServer(undefined, 64 * 1024);
  const framed = (body: string) => `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;
  const inChunks = (size: number) => (body: string) => {
    const chunks = body.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
    const wire = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
    return `${HEAD}Transfer-Encoding: chunked\r\n\r\n${wire}0\r\n\r\n`;
  };
  for (const send of [framed, inChunks(65_536), inChunks(1000), inChunks(16), inChunks(9)]) {
    expect(await exchangeRaw(url, send("a".repeat(65_536)))).toMatch(/^HTTP\/1\.1 204 /);
    expect(bodies.at(-1)).toHaveLength(65_536);
    expect(await exchangeRaw(url, send("a".repeat(65_537)))).toMatch(/^HTTP\/1\.1 413 /);
  }
});

it("makes room by closing the requests that have been incomplete for longest", async () => {
  const { url, port, bodies } = await startServer(4 * 1024 * 1024);
  let closed = 0;
  for (let index = 0; index < 100; index++) {
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    socket.on("close", () => (closed += 1));
    socket.write(`${HEAD}Content-Length: 200000\r\n\r\n`);
    await new Promise((written) => socket.write(Buffer.alloc(199_999), written));
  }
  await expect.poll(() => closed).toBeGreaterThan(70);
  expect(await exchangeRaw(url, `${HEAD}Content-Length: 2\r\n\r\nok`)).toMatch(/^HTTP\/1\.1 204 /);
  expect(bodies).toEqual(["ok"]);
  expect(closed).toBeLessThan(100);
});

it("of pipelined requests are answered in order, one at a time", async () => {
  const { url, bodies } = await startServer();
  const requests = Array.from({ length: 50 }, (_, index) => {
    const close = index === 49 ? "Connection: close\r\n" : "";
    return `POST / HTTP/1.1\r\nHost: x\r\n${close}Content-Length: 2\r\n\r\n${10 + index}`;
  });
  const answers = await exchangeRaw(url, requests.join(""));
  expect(answers.match(/HTTP\/1\.1 204 /g)).toHaveLength(50);
  expect(bodies).toEqual(Array.from({ length: 50 }, (_, index) => String(10 + index)));
});

it("of endless one-byte chunks is refused, and its sender waits for the answer", async () => {
  const { port, bodies } = await startServer();
  const started = performance.now();
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  const answer = new Promise((resolve) => socket.once("data", (bytes) => resolve(String(bytes))));
  socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${"1\r\na\r\n".repeat(200_000)}`);
  expect(await answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(performance.now() - started).toBeGreaterThan(900);
  expect(bodies).toEqual([]);
});
