/** The journey of a merchant at the documented service, by configuration alone, against a strict imitation of it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CLIENT, startDocumentedService } from "../support/documented-service.ts";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { freePort } from "../support/ports.ts";
import { readyUrl, startPaylink } from "../support/paylink.ts";

it("creates links, receives both outcomes and verifies a captured webhook", async () => {
  const port = await freePort();
  const callback = `http://127.0.0.1:${port}/`;
  const home = temporaryHome();
  const service = await startDocumentedService();
  const run = (...words: string[]) => runStep(words, { home });
  const login = ["login", ...service.login, "--callback-url", callback, "--webhook-key", service.keyFile];
  expect((await runStep(login, { home, input: CLIENT.secret })).code).toBe(0);
  expect(await run("config", "set", "failureCallbackUrl", callback)).toMatchObject({ code: 0 });
  const status = await run("status");
  expect(status.code).toBe(0);
  expect(status.stdout).toMatch(/^✓ webhook key .*RSA 2048 bits/im);
  const listen = startPaylink(["listen", "--port", port, "--json"], { home });
  expect(await readyUrl(listen)).toBe(callback);

  const created = await run("create", "--amount", "10", "--currency", "GBP", "--json");
  expect(created).toMatchObject({ code: 0, stderr: "" });
  const link: { id: string } = JSON.parse(created.stdout);
  const reusable = await run("create", "--reusable", "--invoice-id", "SHOP-1");
  expect(reusable.code).toBe(0);
  expect(reusable.stdout).toContain("https://checkout.service.example/?r=");
  expect(service.requests).toContain("POST /v1/payment-links");

  const approved = await service.pay(link.id, "approved");
  const declined = await service.pay(link.id, "declined");
  expect([approved?.status, declined?.status]).toEqual([200, 200]);
  const { stdout } = await listen.stop();
  const events = jsonLines(stdout).filter(({ type }) => type === "event");
  expect(events).toMatchObject([
    { verdict: { verdict: "valid" }, record: { transApproved: true }, violations: [] },
    { verdict: { verdict: "valid" }, record: { transApproved: false }, violations: [] },
  ]);

  const capture = join(home, "webhook.http");
  writeFileSync(capture, approved?.message ?? "");
  const verified = await run("verify", capture, "--json");
  expect(verified.code).toBe(0);
  expect(JSON.parse(verified.stdout)).toMatchObject({ verdict: "valid", record: { amountTrans: 10 } });
  writeFileSync(capture, (approved?.message ?? "").replace('"amountTrans":10', '"amountTrans":99'));
  expect((await run("verify", capture)).code).toBe(7);
});
