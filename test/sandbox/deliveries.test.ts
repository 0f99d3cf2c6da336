/** Deliveries of webhooks: their addresses, order, schedule and faults, with a clock that the tests move. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PaylinkError } from "../../src/domain/errors.ts";
import { SendTimeout } from "../../src/http/exchange.ts";
import { fieldLines } from "../../src/http/message.ts";
import { readKeys } from "../../src/signatures/keys.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { verify } from "../../src/signatures/verify.ts";
import { openLedger } from "../../src/sandbox/store/ledger.ts";
import { temporaryHome } from "../support/home.ts";
import {
  CALLBACK,
  FAILURE_CALLBACK,
  linkId,
  NOW,
  oneTime,
  openTestSandbox,
  reusable,
  type TestSandboxOptions,
  paidRecord,
} from "../support/sandbox.ts";

describe("Events", () => {
  it.each([
    ["approved", CALLBACK],
    ["declined", FAILURE_CALLBACK],
    ["cancelled", FAILURE_CALLBACK],
  ])("posts a payment that was %s to %s", async (outcome, url) => {
    const service = openTestSandbox();
    await paidRecord(service, outcome);
    expect(service.posted.map(({ authority, target }) => `http://${authority}${target}`)).toEqual([url]);
  });

  it("3: sends nothing if the link has no address for the outcome", async () => {
    const service = openTestSandbox();
    await paidRecord(service, "declined", { paymentSettings: { callbackUrl: CALLBACK } });
    expect(service.posted).toEqual([]);
  });

  it("carries the specification's headers and a signature that verifies with the served key", async () => {
    const service = openTestSandbox();
    await paidRecord(service);
    const [webhook] = service.posted;
    if (webhook === undefined) throw new Error("no webhook");
    expect(fieldLines(webhook.headers, "content-type")).toEqual(["application/json; charset=utf-8"]);
    expect(fieldLines(webhook.headers, "accept")).toEqual(["application/json"]);
    const jwks = (await service.request("GET", "/.well-known/jwks.json")).text;
    expect(jwks).not.toContain('"d"');
    const { keys } = readKeys(jwks);
    expect(verify(webhook, { keys, policy: DEFAULT_POLICY, now: NOW.getTime() / 1000 }).verdict).toBe(
      "valid",
    );
  });
});

describe("the schedule", () => {
  it("repeats after 5 s, 30 s, 2 min, 10 min and 1 h, then fails, and can be resent", async () => {
    const service = openTestSandbox({ answer: () => 500 });
    await paidRecord(service);
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
      await service.control("/sandbox/advance", { when: wait });
      expect([wait, service.posted.length]).toEqual([wait, total]);
    }
    const page = (await service.browse("GET", "/deliveries?state=failed")).text;
    const [, id = ""] = /data-row="([^"]+)"/.exec(page) ?? [];
    expect((await service.control(`/sandbox/deliveries/${id}/resend`)).status).toBe(303);
    await service.sandbox.idle();
    expect(service.posted).toHaveLength(7);
  });

  it("is not ended by an attempt that was under way when it was resent", async () => {
    let answer = (): void => undefined;
    const first = new Promise<number>((resolve) => (answer = () => resolve(200)));
    const service = openTestSandbox({ answer: (_, count) => (count === 1 ? first : 200) });
    await service.pay(await linkId(service, oneTime()), { outcome: "approved" });
    await expect.poll(() => service.posted.length).toBe(1);
    const [, id = ""] = /data-row="([^"]+)"/.exec((await service.browse("GET", "/deliveries")).text) ?? [];
    expect((await service.control(`/sandbox/deliveries/${id}/resend`)).status).toBe(303);
    answer();
    await service.sandbox.idle();
    expect(service.posted).toHaveLength(2);
  });

  it("makes every due attempt when the clock moves past several, and stops at the first 2xx", async () => {
    const service = openTestSandbox({ answer: (_, count) => (count < 4 ? 503 : 204) });
    await service.pay(await linkId(service, oneTime()), { outcome: "approved" });
    await service.control("/sandbox/advance", { when: "1d" });
    expect(service.posted).toHaveLength(4);
    expect(service.clock.now().toISOString()).toBe("2026-02-01T12:00:00.000Z");
  });

  it("posts to a host that is allowed, with insecure only there and on this machine", async () => {
    const posted = async (callbackUrl: string, setup: TestSandboxOptions): Promise<unknown[]> => {
      const service = openTestSandbox({ schedule: [], insecure: true, ...setup });
      await paidRecord(service, "approved", { paymentSettings: { callbackUrl } });
      return service.options.map(({ insecure }) => insecure);
    };
    expect(await posted("https://shop/hook", { allowedHosts: ["shop"] })).toEqual([true]);
    expect(await posted("https://localhost/hook", {})).toEqual([true]);
    expect(await posted("https://localhost/hook", { insecure: false })).toEqual([false]);
    expect(await posted("https://other/hook", { allowedHosts: ["shop"] })).toEqual([]);
    expect(await posted("https://other/hook", { allowRemote: true })).toEqual([false]);
  });
});

describe("order and timeouts", () => {
  const amounts = (bodies: readonly { readonly body: Uint8Array }[]): number[] =>
    bodies.map(
      ({ body }) => (JSON.parse(Buffer.from(body).toString()) as { amountTrans: number }).amountTrans,
    );

  it("posts the webhooks of a link in order, one at a time", async () => {
    let running = 0;
    let most = 0;
    const service = openTestSandbox({
      answer: async () => {
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        running--;
        return 200;
      },
    });
    const id = await linkId(service, reusable());
    for (let amount = 1; amount <= 10; amount++)
      await service.pay(id, { outcome: "approved", amount: String(amount) });
    await service.sandbox.idle();
    expect(amounts(service.posted)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(most).toBe(1);
  });

  it("times out after ten seconds, and repeats the attempt", async () => {
    const service = openTestSandbox({
      answer: (_, count) => {
        if (count === 1) throw new SendTimeout("no answer within 10000 ms", true);
        return 200;
      },
    });
    await paidRecord(service);
    const waiting = (await service.browse("GET", "/deliveries?state=pending")).text;
    expect(waiting).toContain("no answer");
    const detail = `/deliveries/${/data-row="([^"]+)"/.exec(waiting)?.[1]}`;
    expect((await service.browse("GET", detail)).text).toContain("no answer within 10000 ms");
    await service.control("/sandbox/advance", { when: "5s" });
    expect(service.options.map(({ timeout }) => timeout)).toEqual([10_000, 10_000]);
    expect((await service.browse("GET", detail)).text).toContain("2 attempts");
  });

  it("delivers to other receivers while one hangs", async () => {
    const hanging: (() => void)[] = [];
    const service = openTestSandbox({
      answer: ({ authority }) =>
        authority === "127.0.0.1:1" ? new Promise((resolve) => hanging.push(() => resolve(200))) : 200,
    });
    for (let count = 0; count < 20; count++) {
      const id = await linkId(service, oneTime({ paymentSettings: { callbackUrl: "http://127.0.0.1:1/" } }));
      await service.pay(id, { outcome: "approved" });
    }
    await service.pay(await linkId(service, oneTime()), { outcome: "approved" });
    await new Promise(setImmediate);
    expect(hanging).toHaveLength(20);
    expect(service.posted.filter(({ authority }) => authority === "127.0.0.1:4000")).toHaveLength(1);
    for (const release of hanging) release();
    await service.sandbox.idle();
    expect(service.posted).toHaveLength(21);
  });
});

describe("simulated faults", () => {
  const twoPaid = async (service: ReturnType<typeof openTestSandbox>): Promise<string[]> => {
    const id = await linkId(service, reusable());
    for (const amount of ["1", "2"]) await service.pay(id, { outcome: "approved", amount });
    await service.sandbox.idle();
    await service.control("/sandbox/advance", { when: "1m" });
    return service.posted.map(({ body }) =>
      String((JSON.parse(Buffer.from(body).toString()) as { amountTrans: number }).amountTrans),
    );
  };

  it("duplicate: posts each webhook twice", async () =>
    expect(await twoPaid(openTestSandbox({ fault: "duplicate" }))).toEqual(["1", "1", "2", "2"]));
  it("out-of-order: posts the second webhook before the first", async () =>
    expect(await twoPaid(openTestSandbox({ fault: "out-of-order" }))).toEqual(["2", "1"]));
  it("drop-first: posts nothing at the first attempt, and succeeds at the second", async () =>
    expect(await twoPaid(openTestSandbox({ fault: "drop-first" }))).toEqual(["1", "2"]));
  it("same-signature: posts each further attempt as the first was signed", async () => {
    const service = openTestSandbox({
      fault: "same-signature",
      answer: (_, count) => (count < 3 ? 500 : 200),
    });
    await service.pay(await linkId(service, oneTime()), { outcome: "approved" });
    await service.control("/sandbox/advance", { when: "1h" });
    const [first, ...others] = service.posted;
    expect(others.map(({ headers }) => headers)).toEqual([first?.headers, first?.headers]);
  });
  it("late: posts after 30 seconds", async () => {
    const service = openTestSandbox({ fault: "late" });
    await service.pay(await linkId(service, oneTime()), { outcome: "approved" });
    await service.control("/sandbox/advance", { when: "29s" });
    expect(service.posted).toEqual([]);
    await service.control("/sandbox/advance", { when: "1s" });
    expect(service.posted).toHaveLength(1);
  });
});

it("delivers after a restart the webhooks that waited before it", async () => {
  const path = join(temporaryHome(), "sandbox.db");
  const before = openTestSandbox({ path, answer: () => 500 });
  const id = await linkId(before, oneTime());
  await before.pay(id, { outcome: "approved" });
  await before.sandbox.idle();
  await before.sandbox.close();
  const after = openTestSandbox({ path });
  await after.control("/sandbox/advance", { when: "5s" });
  expect(after.posted.map(({ body }) => body.length)).toEqual(before.posted.map(({ body }) => body.length));
  expect((await after.request("GET", `/pay?r=${id}`)).text).toContain("This link has been paid");
});

describe("a ledger that fails", () => {
  it("does not post a webhook in a loop while its attempts cannot be stored, and posts it after a restart", async () => {
    const path = join(temporaryHome(), "sandbox.db");
    const ledger = openLedger(path);
    const faults: unknown[] = [];
    const service = openTestSandbox({
      ledger: {
        ...ledger,
        addAttempt: () => {
          throw new Error("the disk is full");
        },
      },
      faulted: (error) => void faults.push(error),
    });
    await paidRecord(service);
    expect([faults.length, service.posted.length]).toEqual([1, 1]);
    const refused = await service.control("/sandbox/advance", { when: "1h" });
    expect([refused.status, refused.json()["detail"]]).toEqual([
      503,
      "the ledger cannot be written: the disk is full; start the sandbox again once it can be",
    ]);
    expect(service.posted).toHaveLength(1);
    await service.sandbox.close();
    const again = openTestSandbox({ path });
    expect((await again.control("/sandbox/advance", { when: "1s" })).status).toBe(200);
    expect(again.posted).toHaveLength(1);
    expect((await again.browse("GET", "/deliveries?state=delivered")).text).toContain("data-row=");
  });

  it("refuses what it cannot store with 503 in the service's own words, which say that nothing was done", async () => {
    const ledger = openLedger(join(temporaryHome(), "sandbox.db"));
    const full = new PaylinkError("file_unwritable", "The database cannot be written: the disk is full.");
    const faults: unknown[] = [];
    const service = openTestSandbox({
      ledger: {
        ...ledger,
        addLink: () => {
          throw full;
        },
      },
      faulted: (error) => void faults.push(error),
    });
    const refused = await service.create(oneTime());
    expect(refused.status).toBe(503);
    expect(refused.json()).toMatchObject({ code: 503, message: expect.stringContaining("the disk is full") });
    expect(faults).toEqual([full]);
  });

  it("reports a failure to read the next delivery, and answers the customer whose payment was stored", async () => {
    const ledger = openLedger(join(temporaryHome(), "sandbox.db"));
    let isDamaged = false;
    const faults: unknown[] = [];
    const service = openTestSandbox({
      ledger: {
        ...ledger,
        nextDelivery: (...query) => {
          if (isDamaged) throw new Error("the database is damaged");
          return ledger.nextDelivery(...query);
        },
      },
      answer: () => {
        isDamaged = true;
        return 200;
      },
      faulted: (error) => void faults.push(error),
    });
    const answer = await service.pay(await linkId(service, oneTime()), { outcome: "approved" });
    expect(answer.status).toBe(200);
    await service.sandbox.idle();
    expect(faults).toContainEqual(expect.objectContaining({ message: "the database is damaged" }));
  });
});

it("keeps the verdict of the time when a webhook was sent", async () => {
  const service = openTestSandbox();
  await paidRecord(service);
  const [delivery] = service.ledger.deliveries({ limit: 1, now: NOW }).rows;
  await service.control("/sandbox/rotate-key");
  await service.control("/sandbox/advance", { when: "2d" });
  const page = (await service.browse("GET", `/deliveries/${delivery?.id}`)).text;
  for (const step of ["✓ Signed parts", "✓ Time", "✓ Key", "✓ Signature", "✓ Digest"])
    expect(page).toContain(step);
});

it("refuses to move the clock to a date that links cannot have", async () => {
  const service = openTestSandbox();
  for (const [when, message] of [
    ["273000y", "must be within the years 0000 to 9999"],
    ["9990-06-01", "must not be after the year 9989"],
    ["2020-01-01", "must not be before 2026-01-31T12:00:00Z: the clock only moves forward"],
  ] as const) {
    const answer = await service.control("/sandbox/advance", { when });
    expect([answer.status, answer.json()["detail"]]).toEqual([422, `the time ${message}`]);
  }
  expect((await service.create(oneTime())).status).toBe(200);
});
