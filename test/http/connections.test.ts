/** Connections that are opened at the same time: each is read, a few in each round of the event loop. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectSecurely } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import type { TlsFiles } from "../../src/http/exchange.ts";
import { serve } from "../../src/http/serve.ts";
import { selfSigned } from "../support/certificate.ts";

const COUNT = 100;

function certificate(): TlsFiles {
  const folder = mkdtempSync(join(tmpdir(), "paylink-connections-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { cert, key } = selfSigned(folder, "localhost");
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
