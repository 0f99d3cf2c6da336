/** Deliveries: to whom, in which order, how often and until when, over a clock that tests move. */
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { SendTimeout } from "../../src/http/exchange.ts";
import { fieldLines } from "../../src/http/message.ts";
import { readKeys } from "../../src/signatures/keys.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { verify } from "../../src/signatures/verify.ts";
import { temporaryHome } from "../support/home.ts";
import { CALLBACK, FAILURE_CALLBACK, linkId, NOW, oneTime, openStage, reusable } from "../support/sandbox.ts";

describe("Events", () => {
  it.each([
    ["approved", CALLBACK],
    ["declined", FAILURE_CALLBACK],
    ["cancelled", FAILURE_CALLBACK],
  ])("a payment that was %s is told to %s", async (outcome, url) => {
    const stage = openStage();
    await stage.pay(await linkId(stage, oneTime(stage)), { outcome });
    await stage.sandbox.idle();
    expect(stage.posted.map(({ authority, target }) => `http://${authority}${target}`)).toEqual([url]);
  });

  it("3: nothing is sent without the matching address", async () => {
    const stage = openStage();
    const id = await linkId(stage, oneTime(stage, { paymentSettings: { callbackUrl: CALLBACK } }));
    await stage.pay(id, { outcome: "declined" });
    await stage.sandbox.idle();
    expect(stage.posted).toEqual([]);
  });

  it("carries the specification's headers and a signature that verifies with the served key", async () => {
    const stage = openStage();
    await stage.pay(await linkId(stage, oneTime(stage)), { outcome: "approved" });
    await stage.sandbox.idle();
    const [webhook] = stage.posted;
    if (webhook === undefined) throw new Error("no webhook");
    expect(fieldLines(webhook.headers, "content-type")).toEqual(["application/json; charset=utf-8"]);
    expect(fieldLines(webhook.headers, "accept")).toEqual(["application/json"]);
    const jwks = (await stage.ask("GET", "/.well-known/jwks.json")).text;
    expect(jwks).not.toContain('"d"');
    const keys = readKeys(jwks);
    if (!keys.ok) throw new Error(keys.reason);
    expect(
      verify(webhook, { keys: keys.keys, policy: DEFAULT_POLICY, now: NOW.getTime() / 1000 }).verdict,
    ).toBe("valid");
  });
});

describe("the schedule", () => {
  it("tries after 5 s, 30 s, 2 min, 10 min and 1 h, then has failed, and can be resent", async () => {
    const stage = openStage({ answer: () => 500 });
    await stage.pay(await linkId(stage, oneTime(stage)), { outcome: "approved" });
    await stage.sandbox.idle();
    for (const [wait, total] of [
      ["4s", 1],
      ["1s", 2],
      ["30s", 3],
      ["2m", 4],
      ["10m", 5],
      ["59m", 5],
      ["1m", 6],
      ["7d", 6],
    ] as const) {
      await stage.turn("/sandbox/advance", { duration: wait });
      expect([wait, stage.posted.length]).toEqual([wait, total]);
    }
    const page = (await stage.ask("GET", "/?state=failed")).text;
    const [, id = ""] = /id="delivery-([^"]+)"/.exec(page) ?? [];
    expect((await stage.turn(`/sandbox/deliveries/${id}/resend`)).status).toBe(303);
    await stage.sandbox.idle();
    expect(stage.posted).toHaveLength(7);
  });

  it("goes through all of it in one step of the clock, and ends at the first 2xx", async () => {
    const stage = openStage({ answer: (_, count) => (count < 4 ? 503 : 204) });
    await stage.pay(await linkId(stage, oneTime(stage)), { outcome: "approved" });
    await stage.turn("/sandbox/advance", { duration: "1d" });
    expect(stage.posted).toHaveLength(4);
    expect(stage.clock.now().toISOString()).toBe("2026-02-01T12:00:00.000Z");
  });

  it("posts to this machine only, unless it may go further", async () => {
    const request = { paymentSettings: { callbackUrl: "https://shop.example/hook" } };
    const local = openStage({ schedule: [] });
    await local.pay(await linkId(local, oneTime(local, request)), { outcome: "approved" });
    await local.sandbox.idle();
    expect(local.posted).toEqual([]);
    const remote = openStage({ schedule: [], allowRemote: true });
    await remote.pay(await linkId(remote, oneTime(remote, request)), { outcome: "approved" });
    await remote.sandbox.idle();
    expect(remote.posted).toHaveLength(1);
  });
});

describe("order and patience", () => {
  const amounts = (bodies: readonly { readonly body: Uint8Array }[]): number[] =>
    bodies.map(
      ({ body }) => (JSON.parse(Buffer.from(body).toString()) as { amountTrans: number }).amountTrans,
    );

  it("keeps the order of a link, one at a time", async () => {
    let running = 0;
    let most = 0;
    const stage = openStage({
      answer: async () => {
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running--;
        return 200;
      },
    });
    const id = await linkId(stage, reusable(stage));
    for (let amount = 1; amount <= 10; amount++)
      await stage.pay(id, { outcome: "approved", amount: String(amount) });
    await stage.sandbox.idle();
    expect(amounts(stage.posted)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(most).toBe(1);
  });

  it("gives each receiver ten seconds, and tries again where they have passed", async () => {
    const stage = openStage({
      answer: (_, count) => {
        if (count === 1) throw new SendTimeout("no answer within 10000 ms", true);
        return 200;
      },
    });
    await stage.pay(await linkId(stage, oneTime(stage)), { outcome: "approved" });
    await stage.sandbox.idle();
    const waiting = (await stage.ask("GET", "/?state=waiting")).text;
    expect(waiting).toContain("no answer within 10000 ms");
    await stage.turn("/sandbox/advance", { duration: "5s" });
    expect(stage.patience).toEqual([10_000, 10_000]);
    expect((await stage.ask("GET", "/?state=delivered")).text).toContain("2 attempts");
  });

  it("a receiver that hangs holds up nobody else", async () => {
    const hanging: (() => void)[] = [];
    const stage = openStage({
      answer: ({ authority }) =>
        authority === "127.0.0.1:1" ? new Promise((resolve) => hanging.push(() => resolve(200))) : 200,
    });
    for (let count = 0; count < 20; count++) {
      const id = await linkId(
        stage,
        oneTime(stage, { paymentSettings: { callbackUrl: "http://127.0.0.1:1/" } }),
      );
      await stage.pay(id, { outcome: "approved" });
    }
    await stage.pay(await linkId(stage, oneTime(stage)), { outcome: "approved" });
    await new Promise(setImmediate);
    expect(hanging).toHaveLength(8);
    expect(stage.posted.filter(({ authority }) => authority === "127.0.0.1:4000")).toHaveLength(1);
    for (let released = 0; released < 20; released++) {
      while (hanging[released] === undefined) await new Promise(setImmediate);
      hanging[released]?.();
    }
    await stage.sandbox.idle();
    expect(stage.posted).toHaveLength(21);
  });
});

describe("receivers", () => {
  const paidBy = async (stage: ReturnType<typeof openStage>, paymentSettings: object): Promise<string> => {
    const id = await linkId(stage, reusable(stage, {}, { paymentSettings }));
    await stage.pay(id, { outcome: "approved", amount: "1" });
    return id;
  };

  it("keeps no receiver in memory once its deliveries are done", async () => {
    const stage = openStage({ schedule: [] });
    for (let port = 1; port <= 20; port++) await paidBy(stage, { callbackUrl: `http://127.0.0.1:${port}/` });
    await stage.sandbox.idle();
    const lookUps = vi.spyOn(stage.ledger, "nextFor");
    await paidBy(stage, { callbackUrl: "http://127.0.0.1:21/" });
    await stage.sandbox.idle();
    expect(stage.posted).toHaveLength(21);
    expect(new Set(lookUps.mock.calls.map(([origin]) => origin))).toEqual(new Set(["http://127.0.0.1:21"]));
  });

  it("keeps a receiver whose delivery waits for another receiver of the same link", async () => {
    const stage = openStage();
    const callbackUrl = "http://127.0.0.1:1/";
    const id = await paidBy(stage, { callbackUrl, failureCallbackUrl: "http://127.0.0.1:2/" });
    await stage.pay(id, { outcome: "declined", amount: "1" });
    await stage.pay(id, { outcome: "approved", amount: "1" });
    await stage.sandbox.idle();
    expect(stage.posted.map(({ authority }) => authority)).toEqual([
      "127.0.0.1:1",
      "127.0.0.1:2",
      "127.0.0.1:1",
    ]);
  });
});

describe("faults on request", () => {
  const twoPaid = async (stage: ReturnType<typeof openStage>): Promise<string[]> => {
    const id = await linkId(stage, reusable(stage));
    for (const amount of ["1", "2"]) await stage.pay(id, { outcome: "approved", amount });
    await stage.sandbox.idle();
    await stage.turn("/sandbox/advance", { duration: "1m" });
    return stage.posted.map(({ body }) =>
      String((JSON.parse(Buffer.from(body).toString()) as { amountTrans: number }).amountTrans),
    );
  };

  it("duplicate: each webhook twice", async () =>
    expect(await twoPaid(openStage({ fault: "duplicate" }))).toEqual(["1", "1", "2", "2"]));
  it("out-of-order: the second before the first", async () =>
    expect(await twoPaid(openStage({ fault: "out-of-order" }))).toEqual(["2", "1"]));
  it("drop-first: the first attempt never arrives, the second does", async () =>
    expect(await twoPaid(openStage({ fault: "drop-first" }))).toEqual(["1", "2"]));
  it("late: nothing for 30 seconds", async () => {
    const stage = openStage({ fault: "late" });
    await stage.pay(await linkId(stage, oneTime(stage)), { outcome: "approved" });
    await stage.turn("/sandbox/advance", { duration: "29s" });
    expect(stage.posted).toEqual([]);
    await stage.turn("/sandbox/advance", { duration: "1s" });
    expect(stage.posted).toHaveLength(1);
  });
});

it("delivers after a restart what waited before it", async () => {
  const path = join(temporaryHome(), "sandbox.db");
  const before = openStage({ path, answer: () => 500 });
  const id = await linkId(before, oneTime(before));
  await before.pay(id, { outcome: "approved" });
  await before.sandbox.idle();
  await before.sandbox.close();
  const after = openStage({ path });
  await after.turn("/sandbox/advance", { duration: "5s" });
  expect(after.posted.map(({ body }) => body.length)).toEqual(before.posted.map(({ body }) => body.length));
  expect((await after.ask("GET", `/pay?r=${id}`)).text).toContain("This link has been paid");
});
