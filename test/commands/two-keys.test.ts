/** One event store, two keys: what one key has verified is shown, and is not touched by a run of the other. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { thumbprintOf } from "../../src/signatures/thumbprint.ts";
import { startCommand, startListenWith, type ServingCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { freePort, listenOnFreePort } from "../support/ports.ts";
import { usePostgres } from "../support/postgres.ts";
import { jsonLines, linesOf } from "../support/json-lines.ts";
import { KEYS, OTHER_KEYS } from "../support/keys.ts";
import { openSqlite } from "../support/event-stores.ts";
import { rejection } from "../support/stored-events.ts";
import { post, record, startApp, webhook } from "../support/webhooks.ts";

const server = usePostgres();

/** The keys of a sandbox and of a live service. */
const [SANDBOX, LIVE] = [OTHER_KEYS, KEYS];
const [ofSandbox, ofLive] = [SANDBOX, LIVE].map(({ publicKey }) => thumbprintOf(publicKey)) as [
  string,
  string,
];

function homeWithKeys() {
  const home = temporaryHome();
  const [sandbox, live] = [join(home, "sandbox.pem"), join(home, "live.pem")];
  writeFileSync(sandbox, SANDBOX.publicPem);
  writeFileSync(live, LIVE.publicPem);
  return { home, sandbox, live };
}

const pay = (
  { url }: ServingCommand,
  { privateKey: key }: typeof KEYS,
  one: Readonly<Record<string, unknown>> = {},
) => post(url, webhook(url, record(one), { key: { keyid: "k", key } }));

const warningsOf = (listen: ServingCommand): unknown[] =>
  linesOf("warning", listen.stdout()).map(({ message }) => message);

describe("listen", () => {
  it("says what waits for another key, and forwards it once that key is named by its thumbprint", async () => {
    const { home, sandbox, live } = homeWithKeys();
    const app = await startApp(() => 200);
    const queue = ["--forward-to", app.url, "--ack", "stored"];
    const down = ["--forward-to", "1", "--ack", "stored", "--retry", "1h"];
    const sandboxListener = await startListenWith({ home }, "--key", sandbox, ...down);
    for (const one of [{ amountTrans: 10 }, { amountTrans: 20.5 }, { transCurrencyCode: "GBP" }])
      expect(await pay(sandboxListener, SANDBOX, one)).toBe(200);
    await sandboxListener.stop();

    const signWith = ["--sign-with", join(home, "forward.pem")];
    const other = await startListenWith({ home }, "--key", live, ...queue, ...signWith);
    expect(jsonLines(other.stdout())[0]).toMatchObject({ keys: [ofLive] });
    await other.until(/"type":"warning".*\n/);
    expect(warningsOf(other)).toEqual([
      `3 events (EUR 30.50, GBP 10.50) in ${join(home, "data", "events.db")} wait for another key, so this run does not forward them. If it is an earlier key of your service, add --key ${ofSandbox}. Otherwise skip them: paylink events list --pending shows what waits, paylink events skip <uti> skips it.`,
    ]);
    expect(await pay(other, LIVE)).toBe(200);
    await expect.poll(() => app.taken.length).toBe(1);
    expect((await other.stop()).stdout).not.toContain("not forwarded yet");
    expect(app.taken).toHaveLength(1);

    const without = await startListenWith({ home }, "--key", live);
    await without.until(/"type":"warning".*\n/);
    expect(warningsOf(without)).toMatchObject([
      expect.stringContaining(`start with --ack stored, --forward-to and --key ${ofSandbox}`),
    ]);
    await without.stop();

    const both = await startListenWith({ home }, "--key", live, "--key", ofSandbox, ...queue);
    expect(jsonLines(both.stdout())[0]).toMatchObject({ keys: [ofSandbox, ofLive] });
    // A thumbprint moves what was verified before, and verifies nothing itself.
    expect(await pay(both, SANDBOX)).toBe(401);
    await runCommand(["events", "retry", "--all", "--key", ofSandbox], { home });
    await expect.poll(() => app.taken.length).toBe(4);
    expect(warningsOf(both).filter((words) => String(words).includes("another key"))).toEqual([]);
  });

  it("verifies with the profile's key beside a thumbprint, which is not a key by itself", async () => {
    const { home, live } = homeWithKeys();
    const alone = await runCommand(["listen", "--port", "0", "--key", ofSandbox], { home });
    expect(alone).toMatchObject({ exit: 2, stderr: expect.stringContaining("No key is configured") });
    const listen = startCommand(["listen", "--port", "0", "--key", ofSandbox, "--json"], {
      home,
      env: { PAYLINK_WEBHOOK_KEY: live },
    });
    const [ready] = await listen.until(/"type":"ready".*\n/);
    expect(ready).toContain(`"keys":["${ofSandbox}","${ofLive}"]`);
  });
});

const stores: readonly (readonly [name: string, place: (home: string) => Promise<string>])[] = [
  ["SQLite", async (home) => join(home, "shared.db")],
  ["PostgreSQL", async () => server().createDatabase()],
];

describe.each(stores)("a store in %s that two profiles share", (_, placeIn) => {
  async function twoProfiles() {
    const { home, sandbox, live } = homeWithKeys();
    storeProfiles(home, { test: { webhookKey: [sandbox] }, live: { webhookKey: [live] } });
    const db = ["--db", await placeIn(home)];
    const app = await startApp(() => 200);
    const forwarding = ["--forward-to", app.url, "--ack", "stored", "--sign-with", join(home, "forward.pem")];
    return { home, db, app, liveFlags: ["-p", "live", ...db, ...forwarding] };
  }

  it("keeps a sandbox's payment from the application of the live profile", async () => {
    const { home, db, app, liveFlags } = await twoProfiles();
    const down = ["--forward-to", "1", "--ack", "stored", "--retry", "1s"];
    const test = await startListenWith({ home }, "-p", "test", ...db, ...down);
    expect(await pay(test, SANDBOX)).toBe(200);
    const live = await startListenWith({ home }, ...liveFlags);
    // Both run: neither claims what is the other's.
    expect(await pay(live, LIVE, { uti: "live" })).toBe(200);
    await live.until(/"state":"delivered"/);
    await test.stop();
    const retried = await runCommand(["events", "retry", "--all", "-p", "live", ...db, "--json"], { home });
    expect(JSON.parse(retried.stdout)).toEqual({ due: 0, unchanged: 0, otherKey: 1 });
    const again = ["events", "replay", "--all", "--to", app.url, "-p", "live", ...db];
    expect((await runCommand(again, { home })).stderr).toContain("1 event was left out");
    await live.stop();
    expect(app.taken.map(({ body }) => String(body).includes('"uti":"live"'))).toEqual([true, true]);
  });

  it("keeps a webhook that the test profile accepts later from the live listener", async () => {
    const { home, db, app, liveFlags } = await twoProfiles();
    const live = await startListenWith({ home }, ...liveFlags);
    expect(await pay(live, SANDBOX)).toBe(401);
    const rejected = () => runCommand(["events", "list", "--rejected", "-q", ...db], { home });
    await expect.poll(async () => (await rejected()).stdout).not.toBe("");
    const accepted = await runCommand(["events", "accept", "--all", "-p", "test", ...db, "--json"], { home });
    expect(JSON.parse(accepted.stdout)).toMatchObject({ accepted: [expect.any(String)] });
    expect(await pay(live, LIVE)).toBe(200);
    await live.until(/"state":"delivered"/);
    await live.stop();
    expect(app.taken).toHaveLength(1);
    const stats = await runCommand(["events", "stats", ...db, "--json"], { home });
    expect(JSON.parse(stats.stdout)).toMatchObject({
      keys: expect.arrayContaining([
        expect.objectContaining({ key: ofSandbox, pending: { events: 1, sums: ["EUR 10.50"] } }),
        expect.objectContaining({ key: ofLive, delivered: { events: 1, sums: ["EUR 10.50"] } }),
      ]),
    });
  });
});

describe("a rotation of the key", () => {
  it("keeps forwarding what the old key has verified, while its listener runs", async () => {
    const { home } = homeWithKeys();
    const jwk = ({ publicKey }: typeof KEYS, kid: string) => ({
      ...publicKey.export({ format: "jwk" }),
      kid,
    });
    let served = [jwk(SANDBOX, "old")];
    const jwks = createServer((_, response) => response.end(JSON.stringify({ keys: served })));
    const url = `http://127.0.0.1:${await listenOnFreePort(jwks)}/jwks.json`;
    let status = 503;
    const app = await startApp(() => status);
    const flags = ["--key", url, "-f", app.url, "--ack", "stored", "--retry", "10x200ms"];
    const listen = await startListenWith({ home }, ...flags);
    const posted = (keys: typeof KEYS, keyid: string) =>
      post(listen.url, webhook(listen.url, record(), { key: { keyid, key: keys.privateKey } }));
    expect(await posted(SANDBOX, "old")).toBe(200);
    served = [jwk(LIVE, "new")];
    expect(await posted(LIVE, "new")).toBe(200);
    status = 200;
    await expect
      .poll(() => linesOf("forward", listen.stdout()).filter((line) => line["status"] === 200).length)
      .toBe(2);
  });

  it("names the thumbprint if the address of the key does not answer", async () => {
    const { home, sandbox } = homeWithKeys();
    const listen = await startListenWith(
      { home },
      "--key",
      sandbox,
      "-f",
      "1",
      "--ack",
      "stored",
      "--retry",
      "1h",
    );
    expect(await pay(listen, SANDBOX, { uti: "waits" })).toBe(200);
    await listen.until(/"type":"forward"/);
    await listen.stop();
    const away = { home, env: { PAYLINK_WEBHOOK_KEY: `http://127.0.0.1:${await freePort()}/jwks.json` } };
    for (const command of [
      ["retry", "--all"],
      ["retry", "waits"],
      ["replay", "waits", "--to", "1"],
    ]) {
      const { exit, stderr } = await runCommand(["events", ...command], away);
      expect([exit, stderr]).toEqual([5, expect.stringContaining(`These events have: --key ${ofSandbox}`)]);
    }
    const named = await runCommand(["events", "retry", "--all", "--key", ofSandbox, "--json"], away);
    expect(JSON.parse(named.stdout)).toMatchObject({ due: 1, otherKey: 0 });
  });
});

describe("events list and show", () => {
  it("show the events of each key in a block of their own, and name the key", async () => {
    const { home, sandbox, live } = homeWithKeys();
    const both = await startListenWith({ home }, "--key", live, "--key", sandbox);
    for (const [key, uti] of [
      [LIVE, "live-1"],
      [SANDBOX, "sandbox-1"],
      [LIVE, "live-2"],
    ] as const)
      expect(await pay(both, key, { uti })).toBe(200);
    await both.stop();
    const { stdout } = await runCommand(["events", "list"], { home });
    const blocks = stdout.split(/^Verified by the key /m).slice(1);
    expect(blocks.map((block) => block.split("\n")[0])).toEqual([ofLive, ofSandbox]);
    expect(blocks.map((block) => block.match(/(?:live|sandbox)-\d/g))).toEqual([
      ["live-2", "live-1"],
      ["sandbox-1"],
    ]);
    const shown = await runCommand(["events", "show", "sandbox-1"], { home });
    expect(shown.stdout).toContain(`verified by the key ${ofSandbox}\n`);
  });
});

describe("events accept", () => {
  it("recovers a webhook that was refused for its key, after 10,000 junk requests with a signature", async () => {
    const { home, sandbox, live } = homeWithKeys();
    const listen = await startListenWith({ home }, "--key", sandbox);
    expect(await pay(listen, LIVE, { uti: "genuine" })).toBe(401);
    await listen.stop();
    const store = openSqlite(join(home, "data", "events.db"));
    for (let round = 0; round < 41; round++)
      await Promise.all(
        Array.from({ length: 250 }, (_, index) => store.reject(rejection(`j${round}-${index}`))),
      );
    await store.close();
    const accepted = await runCommand(["events", "accept", "--all", "--key", live, "--json"], { home });
    expect(JSON.parse(accepted.stdout)).toMatchObject({ accepted: [expect.any(String)], refused: 9_999 });
    const { stdout } = await runCommand(["events", "list", "--quiet"], { home });
    expect(stdout).toBe("genuine\n");
  }, 60_000);
});
