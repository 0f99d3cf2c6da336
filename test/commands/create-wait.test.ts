/** `paylink create --wait`, in process: where it receives, which payment it takes, and how it ends. */
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { DERIVED_COVER, SERVICE_COVER } from "../../src/signatures/cover.ts";
import { serve } from "../../src/http/serve.ts";
import { interrupted, runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { type Link, waitWith } from "../support/create-wait.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const pay = ({ invoiceId, paymentSettings }: Link, changes: Readonly<Record<string, unknown>> = {}) =>
  post(
    paymentSettings.callbackUrl,
    webhook(paymentSettings.callbackUrl, record({ reference: invoiceId, ...changes })),
  );

describe("create --wait", () => {
  it.each([
    ["approved", { transApproved: true, transCancelled: false }, 0],
    ["partially_approved", { transApproved: true, transPartiallyApproved: true }, 9],
    ["declined", { transApproved: false, transCancelled: false }, 9],
    ["cancelled", { transApproved: false, transCancelled: true }, 9],
    ["unclear", { transApproved: true, transCancelled: true }, 9],
  ])("ends with the link's payment: %s", async (name, changes, exit) => {
    const run = await waitWith((link) => pay(link, changes));
    expect(run.exit).toBe(exit);
    expect(run.lines.at(-1)).toMatchObject({ outcome: name.toUpperCase(), record: changes });
    expect(run.stderr === "" ? { outcome: "APPROVED" } : JSON.parse(run.stderr).error.details).toMatchObject({
      outcome: name.toUpperCase(),
    });
  });

  it("receives both callbacks on a free port, and stops receiving when it ends", async () => {
    let callback = "";
    const run = await waitWith((link) => {
      const { callbackUrl, failureCallbackUrl } = link.paymentSettings;
      expect(failureCallbackUrl).toBe(callbackUrl);
      callback = callbackUrl;
      return pay(link);
    });
    expect(run.exit).toBe(0);
    await expect(post(callback, webhook(callback, record()))).rejects.toThrow("fetch failed");
  });

  it("recognises a reusable link's payment by its base reference, and no other payment", async () => {
    const run = await waitWith(
      async (link) => {
        await pay(link, { reference: "SHOP-2-ABC123XYZ", amountTrans: 1 });
        await pay(link, { reference: "SHOP-ABC123XYZ", amountTrans: 2 });
      },
      { flags: ["--reusable", "--invoice-id", "SHOP", "--expires", "7d"] },
    );
    expect(run).toMatchObject({ exit: 0, stderr: "" });
    expect(run.lines.at(-1)).toMatchObject({ amount: 2 });
  });

  it("does not accept a forged webhook as the payment", async () => {
    const statuses: number[] = [];
    const run = await waitWith(async (link) => {
      const { callbackUrl } = link.paymentSettings;
      const signed = webhook(callbackUrl, record({ reference: link.invoiceId }));
      const forged = JSON.stringify(record({ reference: link.invoiceId, amountTrans: 1 }));
      statuses.push(await post(callbackUrl, { ...signed, body: Buffer.from(forged) }));
      statuses.push(await pay(link, { amountTrans: 2 }));
    });
    expect(statuses).toEqual([401, 200]);
    expect(run.exit).toBe(0);
    expect(run.lines.at(-1)).toMatchObject({ amount: 2 });
  });

  it("ends with 8 when it times out, and says that the link can still be paid", async () => {
    const run = await waitWith(() => undefined, { flags: ["--timeout", "3s"] });
    expect(run.exit).toBe(8);
    expect(JSON.parse(run.stderr)).toMatchObject({
      error: { code: "timed_out", details: { hint: expect.stringContaining("can still be paid") } },
    });
  });

  it("stops waiting at Ctrl-C", async () => {
    const control = new AbortController();
    const run = await waitWith(() => control.abort(interrupted()), { signal: control.signal });
    expect(run.exit).toBe(130);
    expect(run.created).toBe(1);
  });

  it("warns if the customer can change the reference", async () => {
    const run = await waitWith((link) => pay(link, { reference: `${link.invoiceId}-ABC123XYZ` }), {
      flags: ["--reusable", "--reference-mode", "CUSTOM", "--expires", "7d"],
    });
    expect(JSON.parse(run.stderr)).toMatchObject({
      warnings: [expect.any(String), expect.stringContaining("With reference mode CUSTOM")],
    });
  });

  it("receives through the tunnel of publicUrl on the default port of listen", async () => {
    const busy = createServer().listen(4000, "127.0.0.1");
    await new Promise((ready) => busy.once("listening", ready).once("error", ready));
    onTestFinished(() => void busy.close());
    const home = temporaryHome();
    await runCommand(["config", "set", "publicUrl", "https://tunnel.example/hook"], { home });
    const run = await waitWith(() => undefined, { home });
    expect(run).toMatchObject({ exit: 2, created: 0 });
    expect(JSON.parse(run.stderr)).toMatchObject({ error: { code: "port_in_use" } });
  });

  it.each([
    ["header fields only", SERVICE_COVER],
    ["derived components", DERIVED_COVER],
  ])("receives behind a proxy that strips a prefix of publicUrl: %s", async (_, cover) => {
    const home = temporaryHome();
    const publicUrl = "https://tunnel.example/pay/hook";
    await runCommand(["config", "set", "publicUrl", publicUrl], { home });
    let bound = "";
    const run = await waitWith(
      ({ invoiceId, paymentSettings }) => {
        expect(paymentSettings.callbackUrl).toBe(publicUrl);
        const payment = record({ reference: invoiceId });
        return post(new URL("/hook", bound).href, webhook(publicUrl, payment, { cover }));
      },
      {
        home,
        serve: async (handle, options) => {
          const server = await serve(handle, { ...options, port: 0 });
          bound = server.url;
          return server;
        },
      },
    );
    expect(run).toMatchObject({ exit: 0, stderr: "" });
  });

  it.each([
    [
      "a callback elsewhere",
      ["--callback-url", "https://shop.example/hook"],
      {},
      "does not lead to this receiver",
    ],
    ["a service elsewhere", [], { PAYLINK_BASE_URL: "https://service.example" }, "cannot post to a receiver"],
    [
      "two callbacks",
      ["--callback-url", "http://127.0.0.1:1/a", "--failure-callback-url", "http://127.0.0.1:1/b"],
      {},
      "are different",
    ],
  ])("refuses %s, and sends nothing", async (_, flags, env, words) => {
    const run = await waitWith(() => undefined, { flags, env });
    expect(run).toMatchObject({ exit: 2, stdout: "", created: 0 });
    expect(JSON.parse(run.stderr)).toMatchObject({
      error: { code: "usage", message: expect.stringContaining(words) },
    });
    expect(run.stderr).toContain("Nothing was sent.");
  });

  it("needs a key, and sends nothing without one", async () => {
    const run = await waitWith(() => undefined, { env: { PAYLINK_WEBHOOK_KEY: "" } });
    expect(run).toMatchObject({ exit: 2, created: 0 });
    expect(JSON.parse(run.stderr)).toMatchObject({ error: { code: "key_required" } });
  });
});
