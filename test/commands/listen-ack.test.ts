/** `listen --ack stored`, in process: what the service is answered, and what people see of attempts, retries and failures. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Serve } from "../../src/http/exchange.ts";
import { serve } from "../../src/http/serve.ts";
import { openEventDatabase } from "../../src/store/sqlite/event-file.ts";
import { startCommand, startListenWith, type ServingCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines, linesOf } from "../support/json-lines.ts";
import { keyFile, KEY_ENV } from "../support/keys.ts";
import { post, record, startApp, webhook } from "../support/webhooks.ts";

const listenTo = (home: string, app: string, ...more: string[]): Promise<ServingCommand> => {
  const flags = ["--key", keyFile(home), "--forward-to", app, "--ack", "stored"];
  return startListenWith({ home }, ...flags, "--sign-with", join(home, "forward.pem"), ...more);
};

const deliver = ({ url }: ServingCommand, one = record()): Promise<number> => post(url, webhook(url, one));

describe("listen --ack stored", () => {
  it("answers 200 before the application does, and reports each attempt", async () => {
    let answer = (_status: number): void => undefined;
    const app = await startApp((_, index) =>
      index === 0 ? new Promise((resolve) => (answer = resolve)) : 200,
    );
    const listen = await listenTo(temporaryHome(), app.url, "--retry", "50ms", "--admin", "127.0.0.1:0");
    expect(await deliver(listen)).toBe(200);
    await expect.poll(() => app.taken.length).toBe(1);
    const admin = String(jsonLines(listen.stdout())[0]?.["admin"]);
    const metrics = async (): Promise<string> => (await fetch(new URL("/metrics", admin))).text();
    expect(await metrics()).toMatch(/^paylink_backlog_events\{key="[\w-]{8}"\} 1$/m);
    expect(linesOf("forward", listen.stdout())).toEqual([]);
    answer(500);
    await expect.poll(() => linesOf("forward", listen.stdout()).length).toBe(2);
    expect(linesOf("forward", listen.stdout())).toMatchObject([
      { status: 500, attempt: 1, state: "pending", next: expect.stringMatching(/^\d{4}-.*Z$/) },
      { status: 200, attempt: 2, state: "delivered", next: null },
    ]);
    const text = await metrics();
    for (const line of [
      /^paylink_forwards_total\{status="500",key="[\w-]{8}"\} 1$/m,
      /^paylink_forwards_total\{status="200",key="[\w-]{8}"\} 1$/m,
      /^paylink_forwards_failed_total\{key="[\w-]{8}"\} 0$/m,
      /^paylink_backlog_events\{key="[\w-]{8}"\} 0$/m,
      /^paylink_backlog_age_seconds\{key="[\w-]{8}"\} 0$/m,
    ])
      expect(text).toMatch(line);
    await listen.stop();
    expect(linesOf("summary", listen.stdout())).toMatchObject([{ received: 1, forwarded: 1, failed: 0 }]);
    expect(linesOf("warning", listen.stdout())).toEqual([]);
  });

  it("ends its queue and prints its counts although its server fails while it is closed", async () => {
    const home = temporaryHome();
    const app = await startApp(() => 200);
    const failing: Serve = async (handler, options) => {
      const server = await serve(handler, options);
      const close = async (): Promise<void> => {
        await server.close();
        throw new Error("the server failed at its end");
      };
      return { ...server, close };
    };
    const flags = ["--key", keyFile(home), "--forward-to", app.url, "--ack", "stored"];
    const listen = await startListenWith({ home, serve: failing }, ...flags);
    expect(await deliver(listen)).toBe(200);
    await listen.until(/"type":"forward"/);
    await listen.stop();
    expect(linesOf("summary", listen.stdout())).toMatchObject([{ received: 1, forwarded: 1, failed: 0 }]);
  });

  it("forwards what an earlier run announced that it left", async () => {
    const home = temporaryHome();
    const app = await startApp((_, index) => (index === 0 ? 500 : 200));
    const first = await listenTo(home, app.url, "--retry", "1s");
    const one = record();
    expect(await deliver(first, one)).toBe(200);
    await first.until(/"type":"forward"/);
    await first.stop();
    expect(linesOf("warning", first.stdout())).toMatchObject([
      { message: "1 event not forwarded yet: the next listen --ack stored forwards it." },
    ]);
    const shown = async (...flags: string[]): Promise<string> =>
      (await runCommand(["events", "show", String(one["uti"]), ...flags], { home })).stdout;
    expect(JSON.parse(await shown("--json"))).toMatchObject({
      delivery: { state: "pending", attempts: 1, next: expect.any(String) },
    });
    expect(await shown()).toMatch(/Attempt 2 at \d{4}-/);
    const second = await listenTo(home, app.url);
    await second.until(/"state":"delivered"/);
    await second.stop();
    expect(app.taken.map(({ body }) => (JSON.parse(body.toString()) as { uti: string }).uti)).toEqual([
      one["uti"],
      one["uti"],
    ]);
    expect(JSON.parse(await shown("--json"))).toMatchObject({ delivery: { state: "delivered" } });
  });

  it("says at the start of a run that does not forward what waits, and advises to skip only what nobody forwards", async () => {
    const home = temporaryHome();
    const app = await startApp(() => 500);
    const queued = await listenTo(home, app.url, "--retry", "1h");
    for (const _ of [1, 2]) expect(await deliver(queued)).toBe(200);
    await expect.poll(() => linesOf("forward", queued.stdout()).length).toBe(2);
    await queued.stop();
    const notices = async (now = new Date()): Promise<unknown[]> => {
      const listen = await startListenWith({ home, now: () => now }, "--key", keyFile(home));
      await listen.stop();
      return linesOf("warning", listen.stdout()).map(({ message }) => message);
    };
    const waits = "2 events wait to be forwarded, and this run does not forward them.";
    const other = `${waits} If no other paylink listen --ack stored does, start with --ack stored and --forward-to.`;
    expect(await notices()).toEqual([other]);
    const database = openEventDatabase(join(home, "data", "events.db"));
    database.exec("UPDATE deliveries SET due = 1");
    database.close();
    // Another receiver has just made an attempt.
    expect(await notices()).toEqual([other]);
    expect(await notices(new Date(Date.now() + 120_000))).toEqual([
      `${waits} Start with --ack stored and --forward-to, or skip them: paylink events skip <uti>`,
    ]);
  });

  it("lists what failed, and replays it", async () => {
    const home = temporaryHome();
    let status = 500;
    const app = await startApp(() => status);
    const flags = ["--key", keyFile(home), "-f", app.url, "--ack", "stored", "--retry", "none"];
    const listen = startCommand(["listen", "--port", "0", ...flags], { home });
    const [, url = ""] = await listen.until(/Listening on (\S+)/);
    const [failed, fine] = [record(), record()];
    expect(await post(url, webhook(url, failed))).toBe(200);
    await listen.until(/500 in \d+ ms.*failed after 1 attempt\n/);
    status = 200;
    expect(await post(url, webhook(url, fine))).toBe(200);
    await listen.until(/200 in \d+ ms/);
    await listen.stop();
    const events = (...args: string[]) => runCommand(["events", ...args], { home, env: KEY_ENV });
    expect((await events("list", "--failed", "-q")).stdout).toBe(`${String(failed["uti"])}\n`);
    expect((await events("list")).stdout).toMatch(
      new RegExp(`${String(failed["uti"])} +order paid twice, failed after 1 attempt\n`),
    );
    expect(jsonLines((await events("list", "--json")).stdout)).toMatchObject([
      { delivery: { state: "delivered" } },
      { delivery: { state: "failed", attempts: 1, next: null } },
    ]);
    expect((await events("show", String(failed["uti"]))).stdout).toMatch(
      /It is not sent again by itself\.\n {2}paylink events retry \w+ {3}lets a listen --ack stored forward it/,
    );
    expect((await events("replay", "--all", "--failed", "--settle", "--to", app.url)).exit).toBe(0);
    expect(app.taken).toHaveLength(3);
    expect((await events("list", "--failed")).stderr).toContain("No failed events found in ");
    expect((await events("list", "-q")).stdout.split("\n")).toHaveLength(3);
  });
});

describe("listen --forward-to", () => {
  it("counts events that the service may deliver again as failed, until the application accepts them", async () => {
    const home = temporaryHome();
    let status = 500;
    const app = await startApp(() => status);
    const listen = await startListenWith({ home }, "--key", keyFile(home), "-f", app.url);
    const { url } = listen;
    const [one, other] = [record(), record()];
    for (const refused of [one, other, other]) expect(await post(url, webhook(url, refused))).toBe(500);
    const events = (...args: string[]) => runCommand(["events", ...args], { home, env: KEY_ENV });
    const utis = [other, one].map(({ uti }) => `${String(uti)}\n`);
    expect((await events("list", "--failed", "-q")).stdout).toBe(utis.join(""));
    expect((await events("list", "--failed")).stdout).toMatch(
      /(?:refused; the service sends it again\n.*){2}/,
    );
    const [id = ""] = jsonLines((await events("list", "--failed", "--json")).stdout).map((line) =>
      String(line["id"]),
    );
    expect((await events("show", id)).stdout).toMatch(
      /The service was told, and will send it again\.\n {2}paylink events retry/,
    );
    const stats = await events("stats");
    expect(stats.stdout).toMatch(/^2 failed.*\(the service sends 2 again\)/);
    expect(stats.stdout).toMatch(/of these, the service sends again +2 /);
    status = 200;
    expect(await post(url, webhook(url, one))).toBe(200);
    await listen.stop();
    expect(linesOf("summary", listen.stdout())).toMatchObject([{ forwarded: 1, failed: 1 }]);
    expect((await events("list", "--failed", "-q")).stdout).toBe(utis[0]);
  });
});

describe("a webhook that is repeated with its first signature an hour later", () => {
  const HOUR = 3_600_000;

  it.each([
    ["is known, and is not forwarded again", [], 200],
    ["is refused where nothing is stored, so that the service sends it again", ["--no-store"], 401],
  ])("%s: %j", async (_, flags, late) => {
    const home = temporaryHome();
    const clock = { now: new Date() };
    let status = 500;
    const app = await startApp(() => status);
    const listen = await startListenWith(
      { home, now: () => clock.now },
      "--key",
      keyFile(home),
      "--forward-to",
      app.url,
      ...flags,
    );
    const [one, other] = [webhook(listen.url, record()), webhook(listen.url, record())];
    expect(await post(listen.url, one)).toBe(500);
    const failed = async () => (await runCommand(["events", "list", "--failed"], { home })).stdout;
    if (late === 200) expect(await failed()).toContain("refused; the service sends it again");
    clock.now = new Date(clock.now.getTime() + HOUR);
    status = 200;
    expect(await post(listen.url, one)).toBe(late);
    // Its signature proves no more than that it was sent once: nothing goes out by it.
    expect(app.taken).toHaveLength(1);
    // The service was told 200, and sends it no more.
    if (late === 200) expect(await failed()).toMatch(/ failed after 1 attempt\n/);
    // What was never stored may be an old webhook that somebody sends again.
    expect(await post(listen.url, other)).toBe(401);
    await listen.stop();
    const rejected = linesOf("rejected", listen.stdout());
    expect(rejected).toHaveLength(late === 200 ? 1 : 2);
    expect(rejected[0]).toMatchObject({
      code: "signature_too_old",
      hint: expect.stringContaining("--tolerance"),
    });
    if (late === 200)
      expect(linesOf("event", listen.stdout())[1]).toMatchObject({
        repeated: true,
        verdict: { code: "ok", warnings: expect.arrayContaining(["duplicate_delivery"]) },
      });
  });
});
