/** One event store, two keys: what one key has verified is shown, and is not touched by a run of the other. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { thumbprintOf } from "../../src/signatures/thumbprint.ts";
import { startCommand, startListenWith, type ServingCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines, linesOf } from "../support/json-lines.ts";
import { KEYS, OTHER_KEYS } from "../support/keys.ts";
import { openSqlite } from "../support/event-stores.ts";
import { rejection } from "../support/stored-events.ts";
import { post, record, startApp, webhook } from "../support/webhooks.ts";

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
      `3 events (EUR 30.50, GBP 10.50) in ${join(home, "data", "events.db")} wait for another key, so this run does not forward them. If it is an earlier key of your service, add --key ${ofSandbox}. Else skip them: paylink events list --pending shows what waits, paylink events skip <uti> skips it.`,
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

  it("verifies with the profile's key beside a thumbprint, which is no key by itself", async () => {
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

describe("events list and show", () => {
  it("keep the events of each key in a block of their own, and name the key", async () => {
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
