/** The main job with the real binary: create a link, let it be paid, receive the webhook, verify it, show the record. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink, startSandbox } from "../support/paylink.ts";

describe("the main job", () => {
  it("creates, pays, receives, verifies and shows a one-time link", async () => {
    const home = temporaryHome();
    const sandbox = startPaylink(["sandbox", "--port", "0", "--json"], { home });
    await readyUrl(sandbox);
    const listen = startPaylink(["listen", "--port", "0", "--json"], { home });
    const callback = await readyUrl(listen);
    const created = await runPaylink(
      ["create", "--amount", "10", "--currency", "EUR", "--callback-url", callback, "--quiet"],
      { home },
    );
    expect(created).toMatchObject({ code: 0, stderr: "" });
    const paid = await runPaylink(["pay", created.stdout.trim()], { home });
    expect(paid.code).toBe(0);
    const [line = ""] = await listen.until(/\{"type":"event".*\n/);
    const event: unknown = JSON.parse(line);
    expect(event).toMatchObject({
      repeated: false,
      verdict: { verdict: "valid", code: "ok", warnings: ["method_not_covered", "target_not_covered"] },
      record: { transApproved: true, amountTrans: 10, transCurrencyCode: "EUR" },
      violations: [],
    });
    const { code, stdout } = await listen.stop();
    expect(code).toBe(130);
    expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({
      type: "summary",
      received: 1,
      verified: 1,
      rejected: 0,
      forwarded: 0,
      failed: 0,
    });
    expect((await sandbox.stop("SIGTERM")).code).toBe(143);
  });

  it("shows an approved record for people", async () => {
    const home = temporaryHome();
    await startSandbox(home);
    const listen = startPaylink(["listen", "--port", "0", "--full"], { home });
    const [, callback = ""] = await listen.until(/Listening on (\S+)/);
    const create = ["create", "--reusable", "--callback-url", callback, "--invoice-id", "INV-1", "-q"];
    const link = await runPaylink(create, { home });
    await runPaylink(["pay", link.stdout.trim(), "--amount", "10"], { home });
    await listen.until(/APPROVED {2}EUR 10\.00/);
    const [, base, suffix] = await listen.until(/base (\S+), suffix (\S+)\)/);
    expect(base).toBe("INV-1");
    expect(suffix).toMatch(/^[A-Z0-9]{9}$/);
    expect((await listen.stop()).stderr).toContain("1 received, 1 verified, 0 rejected");
  });
});

describe("without what it needs", () => {
  it.each([[["create", "--amount", "10", "--currency", "EUR"]], [["create", "--reusable"]]])(
    "names two commands that set an account up if there is no profile: %j",
    async (args) => {
      const { code, stderr } = await runPaylink(args, { home: temporaryHome() });
      expect(code).toBe(3);
      expect(stderr).toContain("paylink sandbox");
      expect(stderr).toContain("paylink login");
    },
  );

  it.each(["no account", "an account without a key"])("says how to give a key: %s", async (account) => {
    const home = temporaryHome();
    const place = ["--base-url", "https://pay.example", "--terminal-id", "1", "--no-check"];
    const login = ["login", ...place, "--token-stdin"];
    if (account !== "no account") expect((await runPaylink(login, { home, input: "token" })).code).toBe(0);
    const { code, stderr } = await runPaylink(["listen", "--port", "0"], { home });
    expect(code).toBe(2);
    for (const way of ["--key", "paylink sandbox", "paylink login"]) expect(stderr).toContain(way);
  });
});

it("keeps Node's own warnings out of what scripts read", async () => {
  const home = temporaryHome();
  const preload = join(home, "warn.cjs");
  writeFileSync(preload, 'process.emitWarning("something is experimental", "ExperimentalWarning");');
  const env = { NODE_OPTIONS: `--require ${preload}` };
  const { code, stderr } = await runPaylink(["create", "--amount", "x", "--json"], { home, env });
  expect(code).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: "usage" } });
});
