/** `listen --tunnel`, in process, with stand-ins for cloudflared: each way to start, to fail and to end. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DERIVED_COVER } from "../../src/signatures/cover.ts";
import { openTunnel } from "../../src/commands/listen/tunnel.ts";
import { startProgram } from "../../src/terminal/programs.ts";
import { startCommand, startListenWith } from "../support/background-command.ts";
import { type Cloudflared, OPENS, standIn, STAYS, TUNNEL } from "../support/cloudflared.ts";
import { interrupted, runCommand } from "../support/context.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { keyFile } from "../support/keys.ts";
import { startPaylink } from "../support/paylink.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const flagsOf = (home: string): string[] => ["listen", "--port", "0", "--tunnel", "--key", keyFile(home)];

/** The part of a context that a tunnel needs, and what ends it. */
function surroundings({ env }: Cloudflared) {
  const interruption = new AbortController();
  return {
    context: {
      signal: interruption.signal,
      startProgram: async (command: string, args: readonly string[]) =>
        startProgram(command, args, { env, exiting: new AbortController().signal }),
    },
    interrupt: () => interruption.abort(interrupted()),
  };
}

it("uses the address as public URL, verifies by it, and ends the program at Ctrl-C", async () => {
  const home = temporaryHome();
  const cloudflared = standIn(OPENS, STAYS);
  const flags = ["--tunnel", "--key", keyFile(home), "--path", "/hook"];
  const listen = await startListenWith({ home, env: cloudflared.env }, ...flags);
  expect(jsonLines(listen.stdout())[0]).toEqual({
    type: "ready",
    at: expect.any(String),
    level: "info",
    url: listen.url,
    publicUrl: `${TUNNEL}/hook`,
    store: expect.any(String),
    keys: [expect.any(String)],
  });
  expect(cloudflared.args()).toBe(`tunnel --no-autoupdate --url ${new URL("/", listen.url).href}`);
  expect(await post(listen.url, webhook(`${TUNNEL}/hook`, record(), { cover: DERIVED_COVER }))).toBe(200);
  expect(await post(listen.url, webhook(listen.url, record(), { cover: DERIVED_COVER }))).toBe(401);
  expect(cloudflared.isRunning()).toBe(true);
  expect((await listen.stop()).exit).toBe(130);
  expect(cloudflared.isRunning()).toBe(false);
});

it("gives the program no secret of paylink", async () => {
  const home = temporaryHome();
  const cloudflared = standIn('env > "$0.env"', OPENS, STAYS);
  const secrets = { PAYLINK_TOKEN: "tok_1", PAYLINK_CLIENT_SECRET: "secret_1", PGPASSWORD: "secret_2" };
  const env = { ...cloudflared.env, ...secrets, PAYLINK_DB: join(home, "secret_3.db"), OTHER: "kept" };
  const running = startPaylink(["listen", "--port", "0", "--tunnel", "--key", keyFile(home), "--json"], {
    home,
    env,
  });
  await running.until(/"publicUrl"/);
  await running.stop();
  const given = readFileSync(`${cloudflared.env.PATH.split(":")[0]}/cloudflared.env`, "utf8");
  expect(given).toContain("OTHER=kept");
  expect(given).not.toMatch(/tok_1|secret_/);
});

it("prints the address and the create line of the profile", async () => {
  const home = temporaryHome();
  const cloudflared = standIn(OPENS, STAYS);
  const account = { baseUrl: "https://pay.example", terminalId: "1", customerName: "Ada", token: "token" };
  storeProfiles(home, { shop: { ...account, currency: "EUR", callbackUrl: "https://shop.example/" } });
  const listen = startCommand([...flagsOf(home), "-p", "shop"], { home, env: cloudflared.env });
  await listen.until(/Public address \S*https:\/\/calm-bird-7\.trycloudflare\.com\//);
  const { stderr } = await listen.stop();
  expect(stderr).toContain(`paylink create --amount 10 --currency EUR --callback-url ${TUNNEL}/ -p shop\n`);
});

it("waits for a slow start, and finds an address that arrives in pieces", async () => {
  const pieces = ["https://calm-", "bird-7.trycl", "oudflare.co", "m  |\\n"].map(
    (piece) => `printf '${piece}' >&2; sleep 0.1`,
  );
  const home = temporaryHome();
  const { env } = standIn("sleep 0.3", ...pieces, STAYS);
  const listen = await startListenWith({ home, env }, "--tunnel", "--key", keyFile(home));
  expect(jsonLines(listen.stdout())[0]).toMatchObject({ publicUrl: `${TUNNEL}/` });
  await listen.stop();
});

it("says that the program is missing, and does not listen", async () => {
  const home = temporaryHome();
  const { exit, stdout, stderr } = await runCommand(flagsOf(home), { home, env: { PATH: home } });
  expect({ exit, stdout }).toEqual({ exit: 5, stdout: "" });
  expect(stderr).toContain(
    "Cannot run cloudflared: it is not installed, or not in PATH. Nothing is listening.",
  );
  expect(stderr).toContain("--public-url");
});

it("says why the program failed, and does not use the address of its API as the tunnel's", async () => {
  const home = temporaryHome();
  const reason = 'ERR failed: Post "https://api.trycloudflare.com/tunnel": no route to host';
  const { env } = standIn(`echo '${reason}' >&2`, "exit 3");
  const { exit, stdout, stderr } = await runCommand(flagsOf(home), { home, env });
  expect({ exit, stdout }).toEqual({ exit: 5, stdout: "" });
  expect(stderr).toContain("cloudflared opened no tunnel: it ended (exit code 3)");
  expect(stderr).toContain(`Its last line: ${reason}`);
});

it("says what to do if the program ends while it listens", async () => {
  const home = temporaryHome();
  const over = join(home, "over");
  const waits = `until [ -e "${over}" ]; do sleep 0.1; done`;
  const { env } = standIn(OPENS, waits, "echo 'ERR connection lost' >&2", "exit 1");
  const listen = startCommand([...flagsOf(home), "--json"], { home, env });
  await listen.until(/"ready"/);
  writeFileSync(over, "");
  const { exit, stdout, stderr } = await listen.ended;
  expect(exit).toBe(5);
  expect(jsonLines(stdout).map(({ type }) => type)).toEqual(["ready", "summary"]);
  expect(JSON.parse(stderr)).toMatchObject({
    error: {
      code: "tunnel_failed",
      message:
        "The tunnel calm-bird-7.trycloudflare.com has ended (exit code 1): webhooks can no longer arrive. Nothing is listening.",
      details: { hint: expect.stringContaining("ERR connection lost") },
    },
  });
});

it("ends a program that hangs at its start, even one that ignores SIGTERM", async () => {
  const cloudflared = standIn("trap '' TERM", "sleep 600");
  const { context } = surroundings(cloudflared);
  const opening = openTunnel("http://127.0.0.1:1/", context, 2_000);
  await expect.poll(cloudflared.isRunning).toBe(true);
  await expect(opening).rejects.toThrow("cloudflared opened no tunnel: it gave no address within 2 s");
  expect(cloudflared.isRunning()).toBe(false);
});

it("ends the program at Ctrl-C during its start", async () => {
  const cloudflared = standIn(STAYS);
  const { context, interrupt } = surroundings(cloudflared);
  const opening = openTunnel("http://127.0.0.1:1/", context);
  await expect.poll(cloudflared.isRunning).toBe(true);
  interrupt();
  await expect(opening).rejects.toThrow("Interrupted.");
  expect(cloudflared.isRunning()).toBe(false);
});
