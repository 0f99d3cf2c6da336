/** `--timeout` bounds the whole command: its retries and waits, and not only each exchange. `-q` prints ids or URLs alone. */
import { createServer } from "node:net";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Timers } from "../../src/values/timers.ts";
import { type Send, type SendOptions, SendTimeout } from "../../src/http/exchange.ts";
import type { HttpReply } from "../../src/http/message.ts";
import { ACCOUNT, answering, CREATE } from "../support/account.ts";
import { startListenCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { keyFile, privateKeyFile, KEY_ENV } from "../support/keys.ts";
import { MAINTENANCE } from "../support/raw-server.ts";
import { post, record, startApp, webhook } from "../support/webhooks.ts";

const overloaded = (retryAfter: string): HttpReply => ({
  status: 503,
  headers: [["Retry-After", retryAfter]],
  body: new TextEncoder().encode(MAINTENANCE),
});

it("does not wait for a retry that would come too late", async () => {
  let sent = 0;
  const { exit, stderr } = await runCommand([...CREATE, "--timeout", "20s"], {
    env: ACCOUNT,
    send: async () => (sent++, overloaded("40")),
  });
  expect({ exit, sent }).toEqual({ exit: 5, sent: 1 });
  expect(stderr).toContain("The service answered 503");
});

it("gives each exchange only the time that is left", async () => {
  let time = 0;
  const given: (number | undefined)[] = [];
  const { exit } = await runCommand([...CREATE, "--timeout", "20s"], {
    env: ACCOUNT,
    timers: timersAt(() => time),
    send: async (_, { timeout }: SendOptions = {}) => {
      given.push(timeout);
      time += 15_000;
      return overloaded("0");
    },
  });
  expect({ exit, given }).toEqual({ exit: 5, given: [20_000, 5_000] });
});

/** A clock that the test sets, and whose time no timer waits for: on a slow machine, the limit would end the run too early. */
const timersAt = (elapsed: () => number): Timers => ({ elapsed, after: () => () => undefined });

/** A service that never answers, by a clock of its own: each exchange takes all of its time. */
function silence() {
  let time = 0;
  let requests = 0;
  const send: Send = async (_, { timeout = 0 } = {}) => {
    requests += 1;
    time += timeout;
    throw new SendTimeout("the service did not answer", true);
  };
  return {
    options: { send, timers: timersAt(() => time) },
    requests: () => requests,
    passed: () => time,
  };
}

const URL_OF_SERVICE = "http://127.0.0.1:1";

/** A home with the profile of a sandbox at this address, a private key, and two stored events. */
async function homeAt(url: string) {
  const home = temporaryHome();
  const sandbox = { baseUrl: new URL(url).origin, token: "secret-token", terminalId: "1234567890" };
  storeProfiles(home, { sandbox });
  const listen = await startListenCommand(home, "--key", keyFile(home));
  const utis: string[] = [];
  for (const one of [record(), record()]) {
    utis.push(String(one["uti"]));
    expect(await post(listen.url, webhook(listen.url, one))).toBe(200);
  }
  await listen.stop();
  return { home, key: privateKeyFile(home), utis };
}

describe("a command at a server that is silent", () => {
  it.each([
    ["trigger", ["trigger", "approved", "--to", "URL", "--sign-with", "KEY"], 8],
    ["check", ["check", "URL", "--sign-with", "KEY"], 8],
    ["events replay", ["events", "replay", "--all", "--to", "URL"], 8],
    // What was asked for may have been done.
    ["sandbox advance", ["sandbox", "advance", "30s"], 6],
    ["sandbox rotate-key", ["sandbox", "rotate-key"], 6],
    ["pay", ["pay", "URL/pay?r=1"], 6],
    ["transaction", ["transaction", "u-1"], 8],
  ])("%s ends with --timeout", async (_, words, code) => {
    const { options, requests, passed } = silence();
    const { home, key } = await homeAt(URL_OF_SERVICE);
    const argv = words.map((word) => word.replace("URL", URL_OF_SERVICE).replace("KEY", key));
    const { exit, stdout, stderr } = await runCommand([...argv, "--timeout", "6s"], {
      home,
      env: KEY_ENV,
      ...options,
    });
    expect({ exit, requests: requests(), passed: passed() }).toEqual({
      exit: code,
      requests: 1,
      passed: 6_000,
    });
    if (code === 8) expect(stderr).toMatch(/Timed out after 6s\. |Timed out: the service did not answer/);
    if (words[0] !== "events") expect(stdout).toBe("");
  });

  it("keeps the attempt of events replay that was cut short", async () => {
    const { home, utis } = await homeAt(URL_OF_SERVICE);
    const [uti = ""] = utis;
    const argv = ["events", "replay", uti, "--to", URL_OF_SERVICE, "--timeout", "6s"];
    await runCommand(argv, { home, env: KEY_ENV, ...silence().options });
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
    const { home, utis } = await homeAt(URL_OF_SERVICE);
    const port = await listenOnFreePort(broker);
    const argv = ["events", "replay", utis[0] ?? "", "--to", `nats://127.0.0.1:${port}/payments`];
    const { exit, stderr } = await runCommand([...argv, "--timeout", "5s"], { home, env: KEY_ENV });
    expect({ exit, published: published.length }).toEqual({ exit: 8, published: 1 });
    expect(stderr).toContain("Not every event was sent and answered; the last one may have arrived.");
    expect(stderr).not.toContain("Nothing was sent.");
  });

  it("continues with the next event of a replay after --forward-timeout", async () => {
    const { options, requests, passed } = silence();
    const { home } = await homeAt(URL_OF_SERVICE);
    const argv = ["events", "replay", "--all", "--to", URL_OF_SERVICE, "--forward-timeout", "200ms"];
    const { exit, stderr } = await runCommand(argv, { home, env: KEY_ENV, ...options });
    expect({ exit, requests: requests(), passed: passed() }).toEqual({ exit: 4, requests: 2, passed: 400 });
    expect(stderr).toContain("did not accept 2 of 2 events");
  });
});

it.each([
  ["a key", ["trigger", "approved", "--sign-with", "-", "--to", URL_OF_SERVICE]],
  ["a list", ["bulk", "-"]],
])("says that nothing was sent while %s was read", async (_, argv) => {
  const { options, requests } = silence();
  const stdin = new Readable({ read: () => undefined });
  const run = await runCommand([...argv, "--timeout", "100ms"], { env: ACCOUNT, stdin, send: options.send });
  expect({ exit: run.exit, requests: requests() }).toEqual({ exit: 8, requests: 0 });
  expect(run.stderr).toContain("Timed out after 100ms. Nothing was sent.");
});

describe("-q", () => {
  it("prints the uti of each webhook of trigger", async () => {
    const app = await startApp(() => 200);
    const { home, key } = await homeAt(app.url);
    const argv = ["trigger", "approved", "--to", app.url, "--sign-with", key, "--count", "2"];
    const { exit, stdout, stderr } = await runCommand([...argv, "-q"], { home });
    const utis = app.taken.map(({ body }): string => JSON.parse(body.toString()).uti);
    expect(utis).toHaveLength(2);
    expect({ exit, stdout, stderr }).toEqual({ exit: 0, stdout: `${utis.join("\n")}\n`, stderr: "" });
  });

  it("prints the utis that events replay sent", async () => {
    const app = await startApp(() => 200);
    const { home, utis } = await homeAt(app.url);
    const run = await runCommand(["events", "replay", "--all", "--to", app.url, "-q"], {
      home,
      env: KEY_ENV,
    });
    expect(run).toMatchObject({ exit: 0, stdout: `${utis.join("\n")}\n`, stderr: "" });
  });

  it("prints the uti of a transaction", async () => {
    const service = answering(200, '{"uti":"u-1","transApproved":true,"transCancelled":false}');
    const run = await runCommand(["transaction", "u-1", "-q"], service);
    expect(run).toMatchObject({ exit: 0, stdout: "u-1\n", stderr: "" });
  });
});
