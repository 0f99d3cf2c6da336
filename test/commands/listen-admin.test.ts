/** `listen --admin` and `--drain`, in process: readiness from the start to the end, metrics, and reloading. */
import { X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { request as httpsRequest } from "node:https";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import parse from "parse-prometheus-text-format";
import { describe, expect, it } from "vitest";
import { openEventDatabase } from "../../src/store/sqlite/event-file.ts";
import { startCommand, startListenWith, type ServingCommand } from "../support/background-command.ts";
import { selfSigned } from "../support/certificate.ts";
import { runCommand, terminated, type CommandOptions } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { freePort, listenOnFreePort } from "../support/ports.ts";
import { exchangeRaw, statusOf } from "../support/raw-client.ts";
import { keyFile } from "../support/keys.ts";
import { forged, post, record, startApp, webhook } from "../support/webhooks.ts";

const ask = async (admin: string, path: string): Promise<[status: number, body: string]> => {
  const reply = await fetch(new URL(path, admin));
  return [reply.status, await reply.text()];
};

/** The status of the metrics for a request to this Host. */
async function statusFor(admin: string, host: string): Promise<number> {
  const { port } = new URL(admin);
  const request = `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  return statusOf(Number(port), Buffer.from(request));
}

interface Administered extends ServingCommand {
  readonly admin: string;
}

async function listenWith(
  options: CommandOptions & { home: string },
  ...flags: string[]
): Promise<Administered> {
  const all = ["--admin", "127.0.0.1:0", "--key", keyFile(options.home), ...flags];
  const listen = await startListenWith(options, ...all);
  return { ...listen, admin: String(jsonLines(listen.stdout())[0]?.["admin"]) };
}

describe("readiness", () => {
  it("begins once webhooks are received, and not before", async () => {
    const home = temporaryHome();
    const pem = keyFile(home);
    const asked: (() => void)[] = [];
    const keys = createServer((_, response) => {
      asked.push(() => response.end(readFileSync(pem)));
    });
    const admin = `http://127.0.0.1:${await freePort()}/`;
    const url = `http://127.0.0.1:${await listenOnFreePort(keys)}/service.pem`;
    const flags = ["--port", "0", "--admin", new URL(admin).host, "--key", url];
    const listen = startCommand(["listen", ...flags, "--json"], { home });
    await expect.poll(() => asked.length).toBe(1);
    expect(await ask(admin, "/readyz")).toEqual([503, "not ready: starting\n"]);
    expect(await ask(admin, "/healthz")).toEqual([200, "ok\n"]);
    expect((await ask(admin, "/metrics"))[0]).toBe(200);
    for (const publish of asked) publish();
    await listen.until(/"type":"ready"/);
    expect(await ask(admin, "/readyz")).toEqual([200, "ready\n"]);
    await listen.stop();
  });

  it("is lost while the store cannot be written, and comes back with it", async () => {
    const home = temporaryHome();
    const db = join(home, "events.db");
    const { admin, stop } = await listenWith({ home }, "--db", db);
    expect(await ask(admin, "/readyz")).toEqual([200, "ready\n"]);
    const database = openEventDatabase(db);
    database.exec("BEGIN IMMEDIATE");
    // The second once SQLite has waited for as long as it does.
    const locked =
      /^not ready: (?:the event store does not answer|Cannot write the event store: .* is in use by another program: .*)\n$/;
    await expect.poll(() => ask(admin, "/readyz")).toEqual([503, expect.stringMatching(locked)]);
    expect(await ask(admin, "/healthz")).toEqual([200, "ok\n"]);
    database.exec("ROLLBACK");
    database.close();
    await expect.poll(() => ask(admin, "/readyz")).toEqual([200, "ready\n"]);
    await stop();
  });

  it("is lost after three webhooks that could not be stored, until one can be", async () => {
    const home = temporaryHome();
    const db = join(home, "events.db");
    const listen = await listenWith({ home }, "--db", db);
    const database = openEventDatabase(db);
    database.exec(
      "CREATE TRIGGER full BEFORE INSERT ON events WHEN NEW.key NOT LIKE '%trial' BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    for (let count = 1; count <= 3; count++) {
      expect(await post(listen.url, webhook(listen.url, record()))).toBe(503);
      const [status] = await ask(listen.admin, "/readyz");
      expect(status).toBe(count < 3 ? 200 : 503);
    }
    expect((await ask(listen.admin, "/readyz"))[1]).toBe(
      "not ready: the last 3 webhooks could not be stored\n",
    );
    database.exec("DROP TRIGGER full");
    database.close();
    expect(await post(listen.url, webhook(listen.url, record()))).toBe(200);
    expect(await ask(listen.admin, "/readyz")).toEqual([200, "ready\n"]);
    expect((await ask(listen.admin, "/metrics"))[1]).toMatch(/^paylink_store_seconds_count 1$/m);
    await listen.stop();
  });

  it("is lost at SIGTERM, while webhooks are still received for --drain", async () => {
    const { admin, url, stop } = await listenWith({ home: temporaryHome() }, "--drain", "3s");
    const ended = stop(terminated());
    expect(await ask(admin, "/readyz")).toEqual([503, "not ready: draining\n"]);
    expect(await ask(admin, "/healthz")).toEqual([200, "ok\n"]);
    expect(await post(url, webhook(url, record()))).toBe(200);
    const { exit, stdout } = await ended;
    expect(exit).toBe(143);
    expect(jsonLines(stdout).at(-1)).toMatchObject({ type: "summary", received: 1, verified: 1 });
    await expect(post(url, webhook(url, record()))).rejects.toThrow("fetch failed");
    await expect(ask(admin, "/healthz")).rejects.toThrow("fetch failed");
  });

  it("does not delay the end at Ctrl-C", async () => {
    const { stop } = await listenWith({ home: temporaryHome() }, "--drain", "1h");
    expect((await stop()).exit).toBe(130);
  });
});

describe("the admin listener", () => {
  it("shows what was received, stored and forwarded, to a Prometheus parser", async () => {
    const app = await startApp(() => 200);
    const { admin, url, stop } = await listenWith({ home: temporaryHome() }, "--forward-to", app.url);
    const one = webhook(url, record());
    expect(await post(url, one)).toBe(200);
    expect(await post(url, one)).toBe(200);
    expect(await post(url, forged(one))).toBe(401);
    const reply = await fetch(new URL("/metrics", admin));
    expect(reply.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const families = parse(await reply.text()).map(({ name, metrics }) => [name, metrics] as const);
    expect(Object.fromEntries(families)).toMatchObject({
      paylink_webhooks_received_total: [{ value: "3" }],
      paylink_received_bytes_total: [{ value: String(3 * one.body.length) }],
      paylink_webhooks_verified_total: [{ value: "2" }],
      paylink_webhooks_repeated_total: [{ value: "1" }],
      paylink_webhooks_rejected_total: [{ value: "1", labels: { reason: "content_digest_mismatch" } }],
      paylink_forwards_total: [
        { value: "1", labels: { status: "200", key: expect.stringMatching(/^[\w-]{8}$/) } },
      ],
      paylink_forwards_failed_total: [{ value: "0" }],
      paylink_backlog_events: [{ value: "0" }],
      paylink_store_seconds: [{ count: "2" }],
      paylink_forward_seconds: [{ count: "1" }],
      paylink_store_info: [{ value: "1", labels: { store: expect.stringMatching(/./) } }],
      paylink_connections: [{ value: expect.stringMatching(/^[1-9]/) }],
    });
    await stop();
  });

  it("answers nothing else", async () => {
    const { admin, stop } = await listenWith({ home: temporaryHome() });
    expect(await ask(admin, "/")).toEqual([404, "/healthz\n/readyz\n/metrics\n"]);
    expect(await ask(admin, "/constructor")).toMatchObject([404, expect.anything()]);
    const posted = await fetch(new URL("/readyz", admin), { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect((await fetch(new URL("/readyz", admin), { method: "OPTIONS" })).status).toBe(204);
    expect((await fetch(new URL("/readyz", admin), { method: "HEAD" })).status).toBe(200);
    await stop();
  });

  it("on loopback answers only to loopback names, so that no web page reads it by DNS rebinding", async () => {
    const { admin, stop } = await listenWith({ home: temporaryHome() });
    for (const host of ["127.0.0.1:9100", "localhost", "[::1]:9100"])
      expect([host, await statusFor(admin, host)]).toEqual([host, 200]);
    for (const host of ["evil.example", "127.0.0.1.evil.example:9100", "a b"])
      expect([host, await statusFor(admin, host)]).toEqual([host, 421]);
    expect(await exchangeRaw(admin, "GET /healthz HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 /);
    await stop();
  });

  it("warns if other machines can read it, by any name", async () => {
    const home = temporaryHome();
    const listen = startCommand(
      ["listen", "--port", "0", "--admin", "0.0.0.0:0", "--key", keyFile(home), "--json"],
      { home },
    );
    await listen.until(/"type":"ready"/);
    const admin = String(jsonLines(listen.stdout()).find(({ type }) => type === "ready")?.["admin"]);
    expect(await statusFor(admin.replace("0.0.0.0", "127.0.0.1"), "metrics.example")).toBe(200);
    const { stdout } = await listen.stop();
    expect(jsonLines(stdout)[0]).toMatchObject({
      type: "warning",
      message: expect.stringContaining("Other machines can read the health and the metrics"),
    });
  });

  it("names --admin if its port is in use", async () => {
    const home = temporaryHome();
    const { admin, stop } = await listenWith({ home });
    const flags = ["--port", "0", "--key", keyFile(home), "--admin", new URL(admin).host];
    const { exit, stderr } = await runCommand(["listen", ...flags]);
    expect(exit).toBe(2);
    expect(stderr).toContain("Use another port in --admin");
    await stop();
  });
});

it("serves with a renewed certificate, and keeps the old one if a file is invalid", async () => {
  const home = temporaryHome();
  const { cert, key } = selfSigned(home, "first");
  const listen = await listenWith({ home }, "--tls-cert", cert, "--tls-key", key);
  await listen.until(/"type":"warning".*The certificate expires on/);
  const { validTo } = new X509Certificate(readFileSync(cert));
  expect((await ask(listen.admin, "/metrics"))[1]).toContain(
    `\npaylink_certificate_expiry_timestamp_seconds ${Date.parse(validTo) / 1000}\n`,
  );
  selfSigned(home, "second");
  await expect.poll(() => certificateName(listen.url)).toBe("second");
  writeFileSync(cert, "no certificate");
  await listen.until(/"type":"warning".*The previous certificate stays in use/);
  expect(await certificateName(listen.url)).toBe("second");
  await listen.stop();
});

const certificateName = (url: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    httpsRequest(url, { rejectUnauthorized: false, agent: false }, (reply) => {
      resolve((reply.socket as TLSSocket).getPeerCertificate().subject.CN);
      reply.resume();
    })
      .on("error", reject)
      .end();
  });
