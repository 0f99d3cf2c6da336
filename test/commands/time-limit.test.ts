/** `--timeout` bounds the whole command: its retries and waits, and not only each exchange. `-q` prints ids or URLs alone. */
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SendOptions } from "../../src/http/exchange.ts";
import type { HttpReply } from "../../src/http/message.ts";
import { startListenCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { rawServer, reply } from "../support/raw-server.ts";
import { keyFile, KEYS } from "../support/keys.ts";
import { MAINTENANCE } from "../support/raw-server.ts";
import { post, record, startApp, webhook } from "../support/webhooks.ts";

const CREATE = ["create", "--amount", "10", "--currency", "EUR", "--customer-name", "Ada Lovelace"];
const ACCOUNT = {
  PAYLINK_BASE_URL: "https://pay.example",
  PAYLINK_TOKEN: "token-1",
  PAYLINK_TERMINAL_ID: "1234567890",
};

const overloaded = (retryAfter: string): HttpReply => ({
  status: 503,
  headers: [["Retry-After", retryAfter]],
  body: new TextEncoder().encode(MAINTENANCE),
});

it("does not wait for a retry that would be too late", async () => {
  let sent = 0;
  const { exit, stderr } = await runCommand([...CREATE, "--timeout", "20s"], {
    env: ACCOUNT,
    send: async () => (sent++, overloaded("40")),
  });
  expect({ exit, sent }).toEqual({ exit: 5, sent: 1 });
  expect(stderr).toContain("The service answered 503");
});

it("gives each exchange only the time that is left", async () => {
  let time = Date.parse("2026-03-01T12:00:00Z");
  const given: (number | undefined)[] = [];
  const { exit } = await runCommand([...CREATE, "--timeout", "20s"], {
    env: ACCOUNT,
    now: () => new Date(time),
    send: async (_, { timeout }: SendOptions = {}) => {
      given.push(timeout);
      time += 15_000;
      return overloaded("0");
    },
  });
  expect({ exit, given }).toEqual({ exit: 5, given: [20_000, 5_000] });
});

/** Accepts connections and requests, and never answers. `closed` resolves when nothing is connected any more. */
async function silentServer() {
  const open = new Set<Promise<unknown>>();
  const server = await rawServer(
    () => undefined,
    (socket: Socket) => void open.add(new Promise((closed) => socket.once("close", closed))),
  );
  return { ...server, closed: () => Promise.all(open) };
}

/** A home with the profile of a sandbox at this address, a private key, and two stored events. */
async function homeAt(url: string) {
  const home = temporaryHome();
  const sandbox = { baseUrl: new URL(url).origin, token: "secret-token", terminalId: "1234567890" };
  storeProfiles(home, { sandbox });
  const key = join(home, "private.pem");
  writeFileSync(key, KEYS.privatePem);
  const listen = await startListenCommand(home, "--key", keyFile(home));
  const utis: string[] = [];
  for (const one of [record(), record()]) {
    utis.push(String(one["uti"]));
    expect(await post(listen.url, webhook(listen.url, one))).toBe(200);
  }
  await listen.stop();
  return { home, key, utis };
}

describe("a command at a server that is silent", () => {
  it.each([
    ["trigger", ["trigger", "approved", "--to", "URL", "--sign-with", "KEY"], 8],
    ["check", ["check", "URL", "--sign-with", "KEY"], 8],
    ["events replay", ["events", "replay", "--all", "--to", "URL"], 8],
    ["sandbox advance", ["sandbox", "advance", "30s"], 8],
    ["sandbox rotate-key", ["sandbox", "rotate-key"], 8],
    // The payment may have been made.
    ["pay", ["pay", "URL/pay?r=1"], 6],
    ["transaction", ["transaction", "u-1"], 8],
  ])("%s ends with --timeout, and leaves no connection open", async (_, words, code) => {
    const server = await silentServer();
    const { home, key } = await homeAt(server.url);
    const argv = words.map((word) => word.replace("URL", server.url).replace("KEY", key));
    const start = performance.now();
    const { exit, stdout, stderr } = await runCommand([...argv, "--timeout", "2s"], { home });
    expect({ exit, requests: server.requests.length }).toEqual({ exit: code, requests: 1 });
    // Without it, an exchange may take 30 s.
    expect(performance.now() - start).toBeLessThan(25_000);
    if (code === 8)
      expect(stderr).toMatch(/The time of --timeout has passed\. |Timed out: .* did not answer within /);
    if (words[0] !== "events") expect(stdout).toBe("");
    await server.closed();
  });

  it("keeps the attempt of events replay that was cut short", async () => {
    const server = await silentServer();
    const { home, utis } = await homeAt(server.url);
    const [uti = ""] = utis;
    await runCommand(["events", "replay", uti, "--to", server.url, "--timeout", "200ms"], { home });
    const shown = await runCommand(["events", "show", uti, "--json"], { home });
    expect(shown.exit).toBe(0);
    expect(shown.stdout).toContain("timed out");
  });

  it("never says that nothing was sent after events replay has published", async () => {
    // NATS, as far as a client needs it before it publishes; no message is acknowledged.
    const published: string[] = [];
    const broker = createServer((socket) => {
      socket.write(
        'INFO {"server_id":"1","version":"2.10.0","proto":1,"headers":true,"max_payload":1048576}\r\n',
      );
      socket.on("data", (chunk) => {
        const text = chunk.toString();
        if (text.includes("PING\r\n")) socket.write("PONG\r\n");
        if (/^H?PUB payments /m.test(text)) published.push(text);
      });
    });
    const { home, utis } = await homeAt("http://127.0.0.1:1");
    const port = await new Promise<number>((resolve) => {
      broker.listen(0, "127.0.0.1", () => resolve((broker.address() as AddressInfo).port));
    });
    onTestFinished(() => void broker.close());
    const argv = ["events", "replay", utis[0] ?? "", "--to", `nats://127.0.0.1:${port}/payments`];
    const { exit, stderr } = await runCommand([...argv, "--timeout", "2s"], { home });
    expect({ exit, published: published.length }).toEqual({ exit: 8, published: 1 });
    expect(stderr).toContain("Not every event was sent and answered; the last one may have arrived.");
    expect(stderr).not.toContain("Nothing was sent.");
  });

  it("goes on with the next event of a replay after --forward-timeout", async () => {
    const server = await silentServer();
    const { home } = await homeAt(server.url);
    const argv = ["events", "replay", "--all", "--to", server.url, "--forward-timeout", "200ms"];
    const { exit, stderr } = await runCommand(argv, { home });
    expect({ exit, requests: server.requests.length }).toEqual({ exit: 4, requests: 2 });
    expect(stderr).toContain("did not accept 2 of 2 events");
  });
});

it("says that nothing was sent while a key was read", async () => {
  const server = await silentServer();
  const never = new Readable({ read: () => undefined });
  const argv = ["trigger", "approved", "--sign-with", "-", "--to", server.url, "--timeout", "100ms"];
  const { exit, stderr } = await runCommand(argv, { stdin: never });
  expect({ exit, requests: server.requests }).toEqual({ exit: 8, requests: [] });
  expect(stderr).toContain("The time of --timeout has passed. Nothing was sent.");
});

describe("-q", () => {
  it("prints the uti of each webhook of trigger", async () => {
    const app = await startApp(() => 200);
    const { home, key } = await homeAt(app.url);
    const argv = ["trigger", "approved", "--to", app.url, "--sign-with", key, "--count", "2"];
    const { exit, stdout, stderr } = await runCommand([...argv, "-q"], { home });
    const utis = app.taken.map(({ body }): unknown => JSON.parse(body.toString()).uti);
    expect(utis).toHaveLength(2);
    expect({ exit, lines: stdout.trim().split("\n"), stderr }).toEqual({
      exit: 0,
      lines: utis,
      stderr: "",
    });
  });

  it("prints the utis that events replay sent", async () => {
    const app = await startApp(() => 200);
    const { home, utis } = await homeAt(app.url);
    const run = await runCommand(["events", "replay", "--all", "--to", app.url, "-q"], { home });
    expect(run).toMatchObject({ exit: 0, stdout: `${utis.join("\n")}\n`, stderr: "" });
  });

  it("prints the uti of a transaction", async () => {
    const server = await rawServer(reply(200, '{"uti":"u-1","transApproved":true,"transCancelled":false}'));
    const env = { PAYLINK_BASE_URL: server.url, PAYLINK_TOKEN: "token" };
    expect(await runCommand(["transaction", "u-1", "-q"], { env })).toMatchObject({
      exit: 0,
      stdout: "u-1\n",
      stderr: "",
    });
  });
});
