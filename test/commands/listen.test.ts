/** `listen`: kept before acknowledged, forwarded in order, ended as a script expects; killed and crowded, it is the real binary. */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { DERIVED_COVER, SERVICE_COVER } from "../../src/signatures/cover.ts";
import { selfSigned } from "../support/certificate.ts";
import { type ServingCommand, startListenCommand } from "../support/background-command.ts";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { readyUrl, startPaylink, type Running } from "../support/paylink.ts";
import { keyFile, KEY_ENV } from "../support/keys.ts";
import { answerOf, forged, post, record, startApp, webhook } from "../support/webhooks.ts";

async function startBinary(home: string, ...flags: string[]): Promise<{ running: Running; url: string }> {
  const running = startPaylink(["listen", "--port", "0", "--json", "--key", keyFile(home), ...flags], {
    home,
  });
  return { running, url: await readyUrl(running) };
}

const listen = (home: string, ...flags: string[]): Promise<ServingCommand> =>
  startListenCommand(home, "--key", keyFile(home), ...flags);

const send = (url: string, changes?: Readonly<Record<string, unknown>>): Promise<number> =>
  post(url, webhook(url, record(changes)));

describe("listen", () => {
  it("keeps what it acknowledged through SIGKILL, and each event once", async () => {
    const home = temporaryHome();
    const { running, url } = await startBinary(home);
    const acknowledged: string[] = [];
    const sent = Array.from({ length: 300 }, () => record());
    let killed = false;
    await Promise.all(
      sent.map(async (one, index) => {
        const status = await post(url, webhook(url, one)).catch(() => 0);
        if (status === 200) acknowledged.push(String(one["uti"]));
        if (!killed && acknowledged.length >= 50 && index % 2 === 0) {
          killed = true;
          await running.stop("SIGKILL");
        }
      }),
    );
    expect(killed).toBe(true);
    const again = await startBinary(home);
    const { code } = await again.running.stop("SIGTERM");
    expect(code).toBe(143);
    const kept = jsonLines((await runStep(["events", "list", "--all", "--json"], { home })).stdout).map(
      ({ record }) => (record as { uti: string }).uti,
    );
    expect(kept).toEqual(expect.arrayContaining(acknowledged));
    expect(new Set(kept).size).toBe(kept.length);
  });

  it("ends with 0 once everything expected has arrived", async () => {
    const flags = ["--expect", "approved:2", "--expect", "declined:1", "--timeout", "50s"];
    const { running, url } = await startBinary(temporaryHome(), ...flags);
    const twice = record();
    const statuses = [
      await post(url, webhook(url, twice)),
      await post(url, webhook(url, twice)),
      await send(url),
      await send(url, { transApproved: false }),
    ];
    expect(statuses).toEqual([200, 200, 200, 200]);
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(jsonLines(stdout).map(({ type, repeated }) => [type, repeated])).toEqual([
      ["ready", undefined],
      ["event", false],
      ["event", true],
      ["event", false],
      ["event", false],
      ["summary", undefined],
    ]);
  });

  it("ends with 8 when it times out, naming what did not arrive", async () => {
    const home = temporaryHome();
    const flags = ["--key", keyFile(home), "--expect", "approved:2", "--timeout", "5s"];
    const { url, ended } = await startListenCommand(home, ...flags);
    await send(url);
    const { exit, stderr } = await ended;
    expect(exit).toBe(8);
    expect(stderr).toContain("1 of 2 approved");
  });

  it("ends with 7 at the first rejected one, and says how to have it explained", async () => {
    const home = temporaryHome();
    const { url, ended } = await listen(home, "--expect", "1");
    const genuine = webhook(url, record());
    expect(await post(url, forged(genuine))).toBe(401);
    const { exit, stdout, stderr } = await ended;
    expect(exit).toBe(7);
    expect(jsonLines(stdout)[1]).toMatchObject({ type: "rejected", code: "content_digest_mismatch" });
    const [, id = ""] = /paylink verify --event ([\w-]+)/.exec(stderr) ?? [];
    const explained = await runStep(["verify", "--event", id, "--key", keyFile(home), "--json"], {
      home,
    });
    expect(JSON.parse(explained.stdout)).toMatchObject({ code: "content_digest_mismatch" });
  });

  it("continues after health checks, scanners and other methods", async () => {
    const { url, ended } = await listen(temporaryHome(), "--expect", "1");
    for (const [path, method] of Object.entries({ "/": "GET", "/.env": "POST", "": "PUT" }))
      await fetch(new URL(path, url), { method });
    await send(url);
    const { exit, stdout } = await ended;
    expect(exit).toBe(0);
    expect(jsonLines(stdout).at(-1)).toMatchObject({ received: 4, verified: 1, rejected: 3 });
  });

  it("names no command that explains a webhook it does not store", async () => {
    const { url, ended } = await listen(temporaryHome(), "--expect", "1", "--no-store");
    expect(await post(url, forged(webhook(url, record())))).toBe(401);
    const { exit, stderr } = await ended;
    expect(exit).toBe(7);
    expect(stderr).toContain("It was not stored");
  });
});

describe("forwarding", () => {
  it("forwards bytes and signature headers in order of arrival, and answers with the application's status", async () => {
    const app = await startApp((_, index) => [200, 500, 204][index] ?? 200);
    const home = temporaryHome();
    const { url, stop } = await listen(home, "-f", app.url, "-H", "X-Env: test");
    const requests = [SERVICE_COVER, DERIVED_COVER, SERVICE_COVER].map((cover) =>
      webhook(url, record(), { cover }),
    );
    const statuses: number[] = [];
    for (const one of requests) statuses.push(await post(url, one));
    expect(statuses).toEqual([200, 500, 200]);
    expect(app.taken.map(({ body }) => body)).toEqual(requests.map(({ body }) => body));
    const [first] = app.taken;
    for (const name of ["Signature", "Signature-Input", "Content-Digest"])
      expect(first?.headers[name.toLowerCase()]).toBe(
        requests[0]?.headers.find(([spelled]) => spelled === name)?.[1],
      );
    expect(first).toMatchObject({
      url: "/hook?a=b",
      headers: { "x-env": "test", host: new URL(app.url).host },
    });
    // The first was accepted and is not sent again, the second was refused and is.
    expect(await post(url, requests[0] ?? webhook(url, {}))).toBe(200);
    expect(await post(url, requests[1] ?? webhook(url, {}))).toBe(200);
    expect(app.taken).toHaveLength(4);
    const { stdout } = await stop();
    const forwards = jsonLines(stdout).filter(({ type }) => type === "forward");
    expect(forwards.map(({ status }) => status)).toEqual([200, 500, 204, 200]);
    expect(forwards[1]).toMatchObject({ detail: "x".repeat(500) });
    // The event that was refused has been accepted since.
    expect(jsonLines(stdout).at(-1)).toMatchObject({ received: 5, forwarded: 3, failed: 0 });
    const ids = jsonLines(stdout)
      .filter(({ type }) => type === "event")
      .map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(forwards.map(({ id }) => id)));
  });

  it("satisfies an Express application that verifies the same webhook itself", async () => {
    const home = temporaryHome();
    const script = join(import.meta.dirname, "../support/express-app.mjs");
    const app = spawn(process.execPath, [script, keyFile(home)], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void app.kill());
    const port = await new Promise((resolve) =>
      app.stdout.once("data", (text) => resolve(String(text).trim())),
    );
    const { url, stop } = await listen(home, "--forward-to", String(port));
    for (const cover of [SERVICE_COVER, DERIVED_COVER])
      expect(await post(url, webhook(url, record(), { cover }))).toBe(200);
    const forwards = jsonLines((await stop()).stdout).filter(({ type }) => type === "forward");
    expect(forwards.map(({ status }) => status)).toEqual([200, 200]);
  });

  it("answers 502 if the application is not reached, and replays the event when it is back", async () => {
    const home = temporaryHome();
    const { url, stop } = await listen(home, "--forward-to", "1");
    const one = record();
    expect(await post(url, webhook(url, one))).toBe(502);
    const app = await startApp(() => 200);
    const uti = String(one["uti"]).slice(0, 12);
    const replay = await runStep(["events", "replay", uti, "--settle", "--to", app.url], {
      home,
      env: KEY_ENV,
    });
    expect(replay.code).toBe(0);
    expect(app.taken.map(({ body }) => JSON.parse(body.toString()))).toEqual([one]);
    // Accepted meanwhile: the service's next try is answered without another attempt.
    expect(await post(url, webhook(url, one))).toBe(200);
    await stop();
  });

  it("waits for a slow application without delaying others, and forwards a repeated webhook once", async () => {
    let release = (): void => undefined;
    const app = await startApp(() => new Promise((resolve) => (release = () => resolve(200))));
    const { url, stop, until } = await listen(temporaryHome(), "-f", app.url);
    const slow = webhook(url, record());
    const answers = [post(url, slow), post(url, slow)];
    await until(/"repeated":true/);
    expect(await post(url, forged(slow))).toBe(401);
    expect(app.taken).toHaveLength(1);
    release();
    expect(await Promise.all(answers)).toEqual([200, 200]);
    const { headers } = await answerOf(url, slow);
    expect(headers.get("proxy-status")).toBe('paylink; details="the application accepted it before"');
    await stop();
    expect(app.taken).toHaveLength(1);
  });
});

describe("hostile senders", () => {
  it("end their connection with a refusal, and are shown at a bounded rate", async () => {
    const { running, url } = await startBinary(temporaryHome());
    const { port, hostname, host } = new URL(url);
    const unsigned = `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    const post = (): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect(Number(port), hostname).on("error", () => undefined);
        let answers = "";
        socket.on("data", (chunk) => (answers += String(chunk))).on("close", () => resolve(answers));
        socket.write(unsigned.repeat(50));
      });
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(Array.from({ length: 100 }, post));
      for (const answer of answers) expect(answer.match(/HTTP\/1\.1 401 /g)).toHaveLength(1);
    }
    const { stdout } = await running.stop();
    const shown = jsonLines(stdout).filter(({ type }) => type === "rejected");
    const hidden = jsonLines(stdout)
      .filter(({ type }) => type === "warning")
      .map(({ message }) => Number.parseInt(String(message), 10));
    expect(shown.length + hidden.reduce((sum, count) => sum + count, 0)).toBe(300);
    expect(jsonLines(stdout).at(-1)).toMatchObject({ type: "summary", rejected: 300 });
  });

  it.each(["http", "https"])(
    "leave room for genuine senders among 5,000 connections that send nothing: %s",
    async (scheme) => {
      const home = temporaryHome();
      const { cert, key } = selfSigned(home, "localhost");
      const tls = scheme === "https" ? ["--tls-cert", cert, "--tls-key", key] : [];
      const args = ["listen", "--port", "0", "--json", "--key", keyFile(home), ...tls];
      const running = startPaylink(args, { home });
      const url = await readyUrl(running);
      const { port, hostname } = new URL(url);
      // Over https they never so much as begin a handshake.
      const idle = Array.from({ length: 5000 }, () =>
        connect(Number(port), hostname).on("error", () => undefined),
      );
      // All of them have been accepted or refused before the honest one arrives.
      await Promise.all(
        idle.map(
          (socket) => new Promise((resolve) => void socket.on("connect", resolve).on("close", resolve)),
        ),
      );
      const { method, headers, body } = webhook(url, record());
      const status = await new Promise((resolve, reject) => {
        const options = { method, headers: headers.flat(), rejectUnauthorized: false, agent: false };
        (scheme === "https" ? httpsRequest : httpRequest)(url, options, (reply) =>
          resolve(reply.resume().statusCode),
        )
          .on("error", reject)
          .end(body);
      });
      expect(status).toBe(200);
      for (const socket of idle) socket.destroy();
      await running.stop();
    },
  );
});
