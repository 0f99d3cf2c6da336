/** `paylink sandbox` and its subcommands, in process: options, the profile that it registers, its clock, key and ledger. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import sandbox from "../../src/commands/sandbox/command.ts";
import { renderSandboxEvent, sandboxOptions } from "../../src/commands/sandbox/sandbox.ts";
import type { Send, Serve } from "../../src/http/exchange.ts";
import { serve } from "../../src/http/serve.ts";
import { formatLocal } from "../../src/render/layout.ts";
import { NO_PAINT } from "../../src/render/paint.ts";
import { startCommand, startListenCommand, startSandboxCommand } from "../support/background-command.ts";
import { optionsOf, wordsOf, type Flags } from "../support/command-options.ts";
import { runCommand } from "../support/context.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { createLink } from "../support/sandbox-link.ts";
import { KEYS, OTHER_KEYS, type Keys } from "../support/keys.ts";
import { MERCHANT } from "../support/merchant.ts";
import { keepClosed } from "../support/ports.ts";
import { post, record, webhook } from "../support/webhooks.ts";
import { openSender } from "../support/sender.ts";

const NOW = new Date("2026-01-31T12:00:00Z");

const read = async (flags: Flags = {}) =>
  sandboxOptions(await optionsOf(sandbox, wordsOf(flags), { now: () => NOW }));

describe("the options of sandbox", () => {
  it("accept a clock as a duration from now, and no retries at all", async () => {
    expect(await read({ clock: "1d", retry: "none" })).toMatchObject({
      clock: new Date("2026-02-01T12:00:00Z"),
      schedule: [],
    });
  });

  it.each(["shop:4000", "http://shop", "a b", ""])("refuse the host %j", async (name) => {
    await expect(read({ allowHost: [name] })).rejects.toThrow(
      expect.objectContaining({ problems: [expect.objectContaining({ at: "--allow-host" })] }),
    );
  });

  it("bind every address if a host is allowed", async () => {
    const flags = { host: "0.0.0.0", allowHost: ["sandbox"] };
    expect((await read(flags)).allowedHosts).toEqual(["sandbox", "0.0.0.0"]);
  });
});

describe("paylink sandbox", () => {
  it("registers the profile sandbox, makes it current if no other is, and prints JSON lines only", async () => {
    const home = temporaryHome();
    const sandbox = await startSandboxCommand(home);
    const listen = await startListenCommand(home);
    const link = await createLink(sandbox.url, { paymentSettings: { callbackUrl: listen.url } });
    await runCommand(["pay", link.url, "--amount", "3"], { home });
    await listen.until(/"type":"event"/);
    const { exit, stdout, stderr } = await sandbox.stop();
    expect(exit).toBe(130);
    for (const line of stdout.trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("type");
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "interrupted" } });
  });

  it("says which amounts a link without one takes", async () => {
    const home = temporaryHome();
    const sandbox = startCommand(["sandbox", "--port", "0"], { home });
    await sandbox.until(/^Sandbox on/m);
    await runCommand(["create", "--reusable"], { home });
    await runCommand(["create", "--reusable", "--min-amount", "5", "--max-amount", "9"], { home });
    const { stdout } = await sandbox.stop();
    expect(stdout).toMatch(/ link {6}any amount {2}http:.*\n.* link {6}EUR 5\.00 to EUR 9\.00 {2}http:/);
  });

  it("bound to every address, registers one that create accepts, and listen names other callbacks", async () => {
    const home = temporaryHome();
    const sandbox = await startSandboxCommand(home, "--host", "0.0.0.0", "--allow-host", "sandbox");
    expect((await runCommand(["create", "--reusable", "--json"], { home })).exit).toBe(0);
    const listen = await startListenCommand(home);
    const { stdout } = await listen.stop();
    expect(JSON.parse(stdout.split("\n")[0] ?? "")).toMatchObject({
      type: "ready",
      notice: expect.stringMatching(
        /^Links of profile sandbox report payments to http:\/\/.*:4000\/? \(callbackUrl\), not to this listener\. .*--callback-url/,
      ),
    });
    await sandbox.stop();
  });

  it("bound to one other address, registers no profile, since create would refuse it", async () => {
    const home = temporaryHome();
    // As if 192.0.2.1 were an address of this machine.
    const bound: Serve = async (handler, options) => {
      const server = await serve(handler, { ...options, host: "127.0.0.1" });
      return { ...server, url: server.url.replace("127.0.0.1", options.host) };
    };
    const words = ["sandbox", "--port", "0", "--host", "192.0.2.1", "--allow-remote", "--json"];
    const sandbox = startCommand(words, { home, serve: bound });
    await sandbox.until(/"type":"warning".*The profile sandbox was not changed: .* --host 0\.0\.0\.0/);
    expect(JSON.parse((await runCommand(["profiles", "list", "--json"], { home })).stdout)).toMatchObject({
      profiles: [],
    });
  });

  it("says plainly that its folder cannot be created", async () => {
    const home = join(temporaryHome(), "file");
    writeFileSync(home, "");
    const { exit, stderr } = await runCommand(["sandbox", "--port", "0"], { home });
    expect(exit).toBe(2);
    const file = join(home, "data", "sandbox", "sandbox.json");
    expect(stderr).toContain(
      `✗ Cannot write the sandbox's identity ${file}: a part of its path is a file.\n`,
    );
    expect(stderr).toContain("PAYLINK_HOME names the folder of paylink's own files.");
  });

  it("stops serving if the profile cannot be registered", async () => {
    const home = temporaryHome();
    writeFileSync(join(home, "settings.json"), '{"profiles":{"sandbox":{"baseUrl":"no address"}}}');
    const { exit, stderr } = await runCommand(["sandbox", "--port", "0", "--json"], { home });
    expect(exit).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "file_unreadable" } });
  });

  it("runs beside another sandbox with a file of its own, and not on the same file", async () => {
    const home = temporaryHome();
    const file = join(home, "first.db");
    const first = await startSandboxCommand(home, "--db", file);
    const second = await startSandboxCommand(home, "--db", join(home, "second.db"));
    const { id } = await createLink(first.url);
    expect((await fetch(new URL(`/pay?r=${id}`, first.url))).status).toBe(200);
    expect((await fetch(new URL(`/pay?r=${id}`, second.url))).status).toBe(404);
    const third = await runCommand(["sandbox", "--port", "0", "--db", file], { home });
    expect(third.exit).toBe(2);
    expect(third.stderr).toContain("Another sandbox is using");
  });

  it("keeps links between runs, and deletes them with --reset", async () => {
    const home = temporaryHome();
    const first = await startSandboxCommand(home);
    const { id } = await createLink(first.url);
    await first.stop();
    const second = await startSandboxCommand(home);
    expect((await runCommand(["pay", id, "--amount", "1"], { home })).exit).toBe(0);
    await second.stop();
    await startSandboxCommand(home, "--reset");
    expect((await runCommand(["pay", id, "--amount", "1"], { home })).exit).toBe(4);
  });

  it("keeps its clock between runs, and starts again at the present with --reset", async () => {
    const home = temporaryHome();
    const first = await startSandboxCommand(home);
    await runCommand(["sandbox", "advance", "30d"], { home });
    await first.stop();
    const month = 29 * 86_400_000;
    const time = async (): Promise<number> => {
      const { stdout } = await runCommand(["sandbox", "advance", "1s", "--json"], { home });
      return Date.parse((JSON.parse(stdout) as { now: string }).now) - Date.now();
    };
    const second = await startSandboxCommand(home);
    expect(await time()).toBeGreaterThan(month);
    await second.stop();
    await startSandboxCommand(home, "--reset");
    expect(await time()).toBeLessThan(month);
  });
});

it.each([true, false])("the line of a delivery has the address without its password (JSON: %s)", (json) => {
  const url = "https://shop:hunter2@shop.example/webhooks";
  const ids = { id: "d1", linkId: "l1", uti: "u1" };
  const delivery = { ...ids, url, body: new Uint8Array(), attempts: 0, tries: 0, due: 0 };
  const attempt = { attempt: 1, status: 200, detail: "answered 200", state: "delivered" } as const;
  const event = { type: "delivery", delivery: { ...delivery, state: attempt.state }, ...attempt } as const;
  const text = renderSandboxEvent(event, NOW, { json, isTerminal: true, paint: NO_PAINT });
  expect(text).toContain("https://shop:[redacted]@shop.example/webhooks");
});

describe("the profile of the sandbox", () => {
  it("keeps what the user has set when the sandbox starts again at another address", async () => {
    const home = temporaryHome();
    const start = async (): Promise<Record<string, unknown>> => {
      const { url, stop } = await startSandboxCommand(home);
      const stored = JSON.parse(readFileSync(join(home, "settings.json"), "utf8"));
      expect(stored.profiles.sandbox).toMatchObject({ baseUrl: url.replace(/\/$/, "") });
      await stop();
      // The system might give its port to the next one too.
      await keepClosed(Number(new URL(url).port));
      return stored.profiles.sandbox;
    };
    const first = await start();
    expect(first).toMatchObject({ currency: "EUR", callbackUrl: "http://127.0.0.1:4000/" });
    const own = { currency: "GBP", callbackUrl: "https://shop.example/hook", expires: "36h" };
    for (const [key, value] of Object.entries(own))
      await runCommand(["config", "set", key, value, "-p", "sandbox"], { home });
    await runCommand(["config", "unset", "customerName", "-p", "sandbox"], { home });
    await runCommand(["logout", "-p", "sandbox"], { home });
    const again = await start();
    expect(again).toMatchObject({ ...own, token: first["token"], clientSecret: first["clientSecret"] });
    expect(again).not.toHaveProperty("customerName");
    expect(again["webhookKey"]).toEqual([`${String(again["baseUrl"])}/.well-known/jwks.json`]);
    expect(again["baseUrl"]).not.toBe(first["baseUrl"]);
  });
});

describe("the next steps of paylink sandbox", () => {
  it("never reach the account of another profile", async () => {
    const home = temporaryHome();
    storeProfiles(home, { default: { baseUrl: "https://live.example", terminalId: "7", token: "tok" } });
    const sandbox = startCommand(["sandbox", "--port", "0"], { home });
    await sandbox.until(/Dashboard/);
    const { stderr } = await sandbox.stop();
    const steps = stderr.match(/^ {2}paylink .*$/gm);
    expect(steps).toEqual([
      "  paylink listen --port 4000 -p sandbox",
      "  paylink create --amount 10 --currency EUR -p sandbox",
    ]);
  });

  it("stay at the sandbox in a shell that is set up for a live account", async () => {
    const home = temporaryHome();
    const sandbox = startCommand(["sandbox", "--port", "0"], { home });
    await sandbox.until(/Dashboard/);
    const env = { PAYLINK_BASE_URL: "https://live.example", PAYLINK_TOKEN: "live", PAYLINK_TERMINAL_ID: "7" };
    const create = ["create", "--amount", "10", "--currency", "EUR", "-p", "sandbox"];
    const { exit, stdout } = await runCommand(create, { home, env });
    expect([exit, stdout]).toEqual([
      0,
      expect.stringMatching(/profile sandbox · 127\.0\.0\.1:\d+ · sandbox/),
    ]);
    await sandbox.stop();
  });
});

describe("create at a sandbox with its own clock", () => {
  const CREATE = ["create", "--amount", "10", "--currency", "EUR"];

  it("uses this machine's clock, and requests nothing but a token", async () => {
    const home = temporaryHome();
    await startSandboxCommand(home, "--clock", "2020-01-31T12:00:00Z");
    const requests: string[] = [];
    const network = openSender();
    const send: Send = (request, options) => {
      requests.push(`${request.method} ${request.target}`);
      return network(request, options);
    };
    const created = await runCommand(CREATE, { home, send });
    expect(created).toMatchObject({ exit: 0 });
    expect(requests).toEqual(["POST /oauth2/token", "POST /v1/payment-links"]);
    expect(created.stdout).toContain("(in 7 days)");
    expect(created.stdout).toMatch(/^ {2}profile sandbox · 127\.0\.0\.1:\d+ · sandbox$/m);
  });

  it.each([
    ["one-time", CREATE],
    ["reusable", ["create", "--reusable"]],
    ["bounded", ["create", "--reusable", "--max-amount", "3"]],
    ["filled in", ["create", "--reusable", "--amount", "7"]],
    ["subscription", ["create", "--subscription"]],
  ])("names a command that pays the link: %s", async (_, args) => {
    const home = temporaryHome();
    await startSandboxCommand(home);
    const { stderr } = await runCommand(args, { home });
    const [, words = ""] = /To pay it as the customer: paylink (.*)$/m.exec(stderr) ?? [];
    const paid = await runCommand(words.replaceAll("'", "").split(" "), { home });
    expect(paid).toMatchObject({ exit: 0, stdout: expect.stringContaining("APPROVED") });
  });

  it("shows the payments of a reusable link with their count and sum", async () => {
    const home = temporaryHome();
    await startSandboxCommand(home);
    const { stdout } = await runCommand(["create", "--reusable", "--invoice-id", "GIFT", "-q"], { home });
    const link = stdout.trim();
    const show = async (...flags: string[]) =>
      (await runCommand(["links", "show", link, ...flags], { home })).stdout;
    expect(await show()).toContain("No payments yet.");
    for (const args of [
      ["--amount", "10"],
      ["--amount", "2.50"],
      ["--amount", "9", "--outcome", "declined"],
    ])
      await runCommand(["pay", link, ...args], { home });
    const shown = await show();
    expect(shown).toMatch(/^ {2}payments {2}2 approved, 1 declined: EUR 12\.50$/m);
    expect(shown.match(/^ {4}\d{4}-.* GIFT-\w{9}$/gm)).toHaveLength(3);
    expect(await show("--json")).not.toContain("payments");
  });

  it("lists a link of a clock that was moved a few days", async () => {
    const home = temporaryHome();
    await startSandboxCommand(home);
    await runCommand(["sandbox", "advance", "6d"], { home });
    const { stdout } = await runCommand([...CREATE, "-q"], { home });
    expect((await runCommand(["links", "list", "-q"], { home })).stdout).toBe(stdout);
  });

  it.each([
    ["create", CREATE],
    ["an update", ["links", "update", "LINK", "--expires", "1d"]],
  ])("names its clock if the expiry of %s is in its past", async (_, args) => {
    const home = temporaryHome();
    await startSandboxCommand(home);
    const link = await runCommand([...CREATE, "--expires", "60d", "-q"], { home });
    await runCommand(["sandbox", "advance", "30d"], { home });
    const words = args.map((word) => (word === "LINK" ? link.stdout.trim() : word));
    const { exit, stderr } = await runCommand(words, { home });
    expect(exit).toBe(4);
    expect(stderr).toMatch(
      /the sandbox's clock shows 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d: paylink sandbox advance moves it forward/,
    );
    expect(stderr).toContain("paylink sandbox --reset");
  });
});

describe("a running sandbox", () => {
  it("moves its clock", async () => {
    const home = temporaryHome();
    await startSandboxCommand(home, "--clock", "2026-01-31T12:00:00Z");
    const advanced = await runCommand(["sandbox", "advance", "2h", "--json"], { home });
    expect(JSON.parse(advanced.stdout)).toEqual({ now: "2026-01-31T14:00:00.000Z" });
    expect((await runCommand(["sandbox", "advance", "1h"], { home })).stdout).toBe(
      `The sandbox's clock is at ${formatLocal(new Date("2026-01-31T15:00:00Z"))}.\n`,
    );
  });

  it("rotates its key, which a running listen finds, and keeps when the sandbox has gone", async () => {
    const home = temporaryHome();
    const sandbox = await startSandboxCommand(home);
    const [listen, other] = [await startListenCommand(home), await startListenCommand(home)];
    const { url } = await createLink(sandbox.url, { paymentSettings: { callbackUrl: listen.url } });
    const keyOfPayment = async (number: number): Promise<unknown> => {
      expect((await runCommand(["pay", url, "--amount", "3"], { home })).exit).toBe(0);
      const [lines] = await listen.until(new RegExp(`(?:\\{"type":"event".*\\n){${number}}`));
      const { verdict } = JSON.parse(lines.trim().split("\n").at(-1) ?? "") as { verdict: { keyid: string } };
      return verdict.keyid;
    };
    const before = await keyOfPayment(1);
    const rotated = await runCommand(["sandbox", "rotate-key"], { home });
    expect(rotated).toMatchObject({ exit: 0, stderr: "" });
    const [, keyid] = /^The sandbox signs with (sandbox-\w+) from now on\.\n$/.exec(rotated.stdout) ?? [];
    expect([before, await keyOfPayment(2)]).toEqual([MERCHANT.keyid, keyid]);
    const jwks = await (await fetch(new URL("/.well-known/jwks.json", sandbox.url))).json();
    expect(jwks).toMatchObject({ keys: [{}, {}] });
    await sandbox.stop();
    const signedBy = (name: string, { privateKey }: Keys) =>
      post(other.url, webhook(other.url, record(), { key: { keyid: name, key: privateKey } }));
    // The key of an unknown id may be at the source, which cannot be read.
    expect([await signedBy("unknown", OTHER_KEYS), await signedBy(MERCHANT.keyid, KEYS)]).toEqual([503, 200]);
    expect(other.stdout()).toMatch(/"type":"warning".*stay in use/);
  });

  it.each([
    ["advance", ["advance", "1h"]],
    ["rotate-key", ["rotate-key"]],
  ])("is needed for %s", async (_, args) => {
    const { exit, stderr } = await runCommand(["sandbox", ...args, "--json"]);
    expect(exit).toBe(3);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "no_profile" } });
  });
});
