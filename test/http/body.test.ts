/** Bodies as they arrive over real sockets: in chunks of any size, of any length, or more than there is memory for. */
import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { serve } from "../../src/http/serve.ts";
import { exchangeRaw } from "../support/post.ts";

async function startServer() {
  const bodies: Uint8Array[] = [];
  const refusals: string[] = [];
  const server = await serve(
    async ({ body }) => {
      bodies.push(body);
      return { status: 204, headers: [], body: new Uint8Array() };
    },
    {
      host: "127.0.0.1",
      port: 0,
      maxBody: 1024 * 1024,
      prefers: ({ headers }) => headers.some(([name]) => name === "Signature"),
      refused: ({ code }) => void refusals.push(code),
    },
  );
  onTestFinished(() => server.close());
  return { url: server.url, bodies, refusals };
}

const HEAD = "POST / HTTP/1.1\r\nHost: x\r\n";
const chunked = (count: number): string =>
  `${HEAD}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\na\r\n".repeat(count)}0\r\n\r\n`;

it("reads a body of a few thousand one-byte chunks", async () => {
  const { url, bodies } = await startServer();
  expect(await exchangeRaw(url, chunked(4000))).toMatch(/^HTTP\/1\.1 204 /);
  expect(bodies.map((body) => Buffer.from(body).toString())).toEqual(["a".repeat(4000)]);
});

it("cuts off a sender of more one-byte chunks than that", async () => {
  const { url, bodies, refusals } = await startServer();
  expect(await exchangeRaw(url, chunked(9000))).toMatch(/^HTTP\/1\.1 400 /);
  expect({ bodies, refusals }).toEqual({ bodies: [], refusals: ["chunks_too_small"] });
});

it("lets a sender of endless one-byte chunks wait for its answer", async () => {
  const { url, refusals } = await startServer();
  const started = performance.now();
  const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  const answer = new Promise((resolve) => socket.once("data", (bytes) => resolve(String(bytes))));
  // Never complete, and more than is read at once.
  socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${"1\r\na\r\n".repeat(100_000)}`);
  await expect.poll(() => refusals).toEqual(["chunks_too_small"]);
  expect(await answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(performance.now() - started).toBeGreaterThan(1_900);
});

it("refuses the unsigned first where unfinished bodies take too much memory, and says when to try again", async () => {
  const { url, bodies, refusals } = await startServer();
  const { port, hostname } = new URL(url);
  const declared = "Content-Length: 1048576\r\n\r\n";
  const part = Buffer.alloc(1_000_000);
  const smallPart = part.subarray(0, 200_000);
  const answers: string[] = [];
  /** Leaves the last bytes unsent. */
  const begin = (name: string, header: string, bytes: Buffer) => {
    const socket = connect(Number(port), hostname).on("error", () => undefined);
    onTestFinished(() => void socket.destroy());
    socket.on("data", (chunk) => answers.push(`${name}: ${String(chunk)}`));
    socket.write(`${HEAD}${header}${declared}`);
    socket.write(bytes);
    return socket;
  };
  const signed = Array.from({ length: 10 }, () => begin("signed", "Signature: sig1=:AA==:\r\n", part));
  for (let index = 0; index < 200; index++) begin("unsigned", "", smallPart);
  await expect.poll(() => answers.length).toBeGreaterThanOrEqual(6);
  expect(answers.every((answer) => /^unsigned: HTTP\/1\.1 503 [^]*Retry-After: 1\r\n/.test(answer))).toBe(
    true,
  );
  expect(new Set(refusals)).toEqual(new Set(["overloaded"]));
  for (const socket of signed) socket.write(Buffer.alloc(48_576));
  await expect.poll(() => bodies.length).toBe(10);
});
