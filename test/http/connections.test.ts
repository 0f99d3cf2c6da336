/** Which connections are closed where there are too many, and that all are read where there are not. */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import type { TlsFiles } from "../../src/http/exchange.ts";
import type { HttpServer } from "../../src/http/exchange.ts";
import { serve } from "../../src/http/serve.ts";
import { selfSigned } from "../support/certificate.ts";
import { temporaryHome } from "../support/home.ts";

const COUNT = 100;

function certificate(): TlsFiles {
  const { cert, key } = selfSigned(temporaryHome(), "localhost");
  return { cert: readFileSync(cert), key: readFileSync(key) };
}

it.each(["http", "https"])("answers all of 100 connections that open at once over %s", async (scheme) => {
  const tls = scheme === "https" ? certificate() : undefined;
  const server = await serve(
    async ({ target }) => ({ status: 200, headers: [], body: Buffer.from(target) }),
    { host: "127.0.0.1", port: 0, maxBody: 100, tls },
  );
  onTestFinished(() => server.close());
  const post = (index: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const address = { port: server.port, host: "127.0.0.1" };
      const socket =
        tls === undefined
          ? connect(address)
          : connectSecurely({ ...address, ca: Buffer.from(tls.cert), checkServerIdentity: () => undefined });
      let answer = "";
      socket.on("data", (chunk) => void (answer += String(chunk)));
      socket.on("error", reject).on("close", () => resolve(answer));
      socket.write(`POST /${index} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx`);
    });
  const answers = await Promise.all(Array.from({ length: COUNT }, (_, index) => post(index)));
  expect(answers.map((answer) => answer.split("\r\n\r\n")[1])).toEqual(
    answers.map((_, index) => `/${index}`),
  );
  expect(answers).toHaveLength(COUNT);
});

const REQUEST = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx";

/** 16 KiB are held for each connection, and some for bodies. */
const serveAtMost = async (connections: number): Promise<HttpServer> => {
  const server = await serve(async () => ({ status: 200, headers: [], body: Buffer.from("ok") }), {
    host: "127.0.0.1",
    port: 0,
    maxBody: 100,
    maxHeld: connections * 16 * 1024 + 100,
  });
  onTestFinished(() => server.close());
  return server;
};

/** Connects and sends the text; the connection is open at the server once another one has been answered. */
async function open(server: HttpServer, text: string): Promise<{ socket: Socket; closed: () => boolean }> {
  const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  let closed = false;
  socket.on("error", () => undefined).on("end", () => (closed = true));
  socket.on("close", () => (closed = true)).resume();
  await new Promise((resolve) => socket.once("connect", resolve));
  if (text !== "") await new Promise((resolve) => socket.write(text, resolve));
  return { socket, closed: () => closed };
}

const answerTo = (socket: Socket): Promise<string> =>
  new Promise((resolve) => socket.once("data", (bytes) => resolve(String(bytes))));

it.each([
  { flood: "silent", sent: "", other: "POST / HTTP/1.1\r\n" },
  { flood: "incomplete", sent: "P", other: "" },
])("closes the oldest of a flood of $flood connections, and no other", async ({ sent, other }) => {
  const server = await serveAtMost(12);
  const slow = await open(server, other);
  const attackers: Awaited<ReturnType<typeof open>>[] = [];
  while (attackers.length < 15) attackers.push(await open(server, sent));
  const honest = await open(server, "");
  const closed = () => attackers.map((attacker) => attacker.closed());
  await expect.poll(closed).toEqual([...Array(5).fill(true), ...Array(10).fill(false)]);
  expect(slow.closed()).toBe(false);
  const answer = answerTo(honest.socket);
  honest.socket.write(REQUEST);
  expect(await answer).toMatch(/^HTTP\/1.1 200/);
});

it("closes the connection that has been idle for longest since its answer", async () => {
  const server = await serveAtMost(2);
  const slow = await open(server, "P");
  const idle = await open(server, "");
  const answer = answerTo(idle.socket);
  idle.socket.write(REQUEST);
  await answer;
  await open(server, "");
  await expect.poll(() => idle.closed()).toBe(true);
  expect(slow.closed()).toBe(false);
});

it("does not keep a refused connection that its sender leaves half open", async () => {
  const server = await serveAtMost(10);
  const { socket, closed } = await open(server, "NONSENSE\r\n\r\n");
  // The server has closed its side, and waits for the sender's.
  await expect.poll(closed).toBe(true);
  await expect.poll(() => server.connections()).toBe(0);
  expect(socket.writable).toBe(true);
});
