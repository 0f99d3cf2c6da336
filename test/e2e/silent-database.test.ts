/** Ctrl-C and SIGTERM while PostgreSQL is silent, in process and of the built program: the command ends with the code of the signal, and waits for nothing. */
import { createServer, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { startCommand } from "../support/background-command.ts";
import { interrupted, terminated } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { keyFile } from "../support/keys.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { useOwnPostgres } from "../support/postgres.ts";
import { post, record, webhook } from "../support/webhooks.ts";

/** Bytes of the first message of a client of PostgreSQL, which asks for TLS. */
const SSL_REQUEST_LENGTH = 8;

/** Takes connections, and says nothing. Resolves with its URL, and with a promise of the first connection. */
async function silentServer(): Promise<{ readonly url: string; readonly reached: Promise<void> }> {
  const sockets: Socket[] = [];
  let accept = (): void => undefined;
  const reached = new Promise<void>((resolve) => (accept = resolve));
  const server = createServer((socket) => {
    sockets.push(socket.on("error", () => undefined));
    // What another test still looks for at this port speaks another language than PostgreSQL.
    socket.once("data", (first: Buffer) => {
      if (first.length === SSL_REQUEST_LENGTH) accept();
    });
  });
  const port = await listenOnFreePort(server);
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  return { url: `postgres://me@127.0.0.1:${port}/shop`, reached };
}

describe.each([
  ["SIGINT", interrupted(), 130],
  ["SIGTERM", terminated(), 143],
] as const)("%s", (_, reason, exit) => {
  it.each([
    ["events", "list"],
    ["events", "stats", "--json"],
    ["events", "tail"],
    ["events", "retry", "--all", "--key", "{key}"],
    ["verify", "--event", "x", "--key", "{key}"],
    ["listen", "--port", "0", "--key", "{key}"],
  ])("ends %s %s at once while the server has not answered yet", async (...words) => {
    const home = temporaryHome();
    const { url, reached } = await silentServer();
    const args = words.map((word) => word.replace("{key}", keyFile(home)));
    const { stop } = startCommand(args, { home, env: { PAYLINK_DB: url } });
    await reached;
    // One that waits for its database ends with 5.
    expect(await stop(reason)).toMatchObject({ exit });
  });
});

describe("a server that hangs", () => {
  const server = useOwnPostgres();
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("does not hold up the end of listen after %s", async (signal, code) => {
    const home = temporaryHome();
    const flags = ["--forward-to", "127.0.0.1:1/hook", "--ack", "stored", "--retry", "1s"];
    const database = await server().createDatabase();
    const listen = startPaylink(["listen", "--port", "0", "--json", "--key", keyFile(home), ...flags], {
      home,
      env: { PAYLINK_DB: database },
    });
    const url = await readyUrl(listen);
    expect(await post(url, webhook(url, record()))).toBe(200);
    const resume = await server().suspend();
    onTestFinished(resume);
    const unanswered = post(url, webhook(url, record())).catch(() => undefined);
    // What it is measured with: a command that waits for this server as long as any does.
    const waiting = runPaylink(["events", "list", "--db", database], { home: temporaryHome() });
    const ends = [listen.stop(signal), waiting];
    expect(await Promise.race(ends)).toMatchObject({ code });
    expect(await waiting).toMatchObject({ code: 5 });
    expect(await unanswered).not.toBe(200);
    resume();
  });
});
