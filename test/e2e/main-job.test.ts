/** The main job with the real binary: create a link, let it be paid, receive the webhook, verify it, show the record. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";

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
