/** `paylink bulk`, in process, at a service with an idempotency header: rows of unknown outcome are sent again by themselves. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Send, SendTimeout } from "../../src/http/exchange.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { startLinkService, type Fate } from "../support/link-service.ts";
import { openSender } from "../support/sender.ts";

const HEADER = "Idempotency-Key";
const SILENT = "created and silent";

/** A list of so many rows, and a profile with the header. `fateOf` gets the number of the row's requests before. */
async function listOf(rows: number, fateOf: (invoiceId: string, before: number) => Fate) {
  const home = temporaryHome();
  const path = join(home, "orders.csv");
  const invoices = Array.from({ length: rows }, (_, row) => `I${row}`);
  writeFileSync(path, `invoiceId,amount,customerName\n${invoices.map((id) => `${id},1,Ada\n`).join("")}`);
  const next = (invoiceId: string): Fate =>
    fateOf(invoiceId, service.arrivals.filter((id) => id === invoiceId).length);
  const service = await startLinkService(({ invoiceId }) => next(invoiceId));
  const sender = openSender();
  // Silence times out once the service has the request: on a loaded machine, a timer can fire before.
  const network: Send = async (request, options) => {
    const { invoiceId } = JSON.parse(Buffer.from(request.body).toString()) as { invoiceId: string };
    if (next(invoiceId) !== SILENT) return sender(request, options);
    const { length } = service.arrivals;
    sender(request, options).catch(() => undefined);
    await expect.poll(() => service.arrivals.includes(invoiceId, length)).toBe(true);
    throw new SendTimeout("did not answer", true);
  };
  const set = (header: string) => runCommand(["config", "set", "idempotencyHeader", header], { home });
  expect(await set(HEADER)).toMatchObject({ exit: 0 });
  const args = ["bulk", path, "--currency", "EUR", "--expires", "7d"];
  return {
    service,
    set,
    unset: () => runCommand(["config", "unset", "idempotencyHeader"], { home }),
    send: (flags: readonly string[] = [], now = new Date()) =>
      runCommand([...args, ...flags], { home, env: service.env, now: () => now, send: network }),
    results: () => readFileSync(join(home, "orders.links.csv"), "utf8"),
    /** The links and the keys of each row. */
    counts: () => invoices.map((id) => [service.links.get(id) ?? 0, service.keys.get(id)?.size ?? 0]),
  };
}

describe("a row with a key", () => {
  it("is sent again in the same run, and gets one link", async () => {
    const faults: Fate[] = [SILENT, "created and reset", "reset", { status: 502 }, "create"];
    const { send, counts, service } = await listOf(20, (id, before) =>
      before === 0 ? (faults[Number(id.slice(1)) % faults.length] ?? "create") : "create",
    );
    const run = await send();
    expect(run).toMatchObject({ exit: 0, stdout: expect.stringContaining("20 rows: 20 created\n") });
    expect(counts()).toEqual(Array.from({ length: 20 }, () => [1, 1]));
    expect(service.arrivals).toHaveLength(36);
  });

  it.each([
    ["counts from the time of sending", "7d", 2],
    ["has passed since", "2026-01-05T00:00:00Z", 10],
  ])("is sent again in the next run as it was, although its expiry %s", async (_, expires, nextDay) => {
    let isLost = true;
    const { send, counts } = await listOf(3, (id) =>
      isLost && id === "I1" ? "created and reset" : "create",
    );
    const day = (date: number): Date => new Date(Date.UTC(2026, 0, date));
    const first = await send(["--expires", expires], day(1));
    expect(first).toMatchObject({ exit: 6, stdout: expect.stringContaining("2 created, 1 unknown") });
    expect(first.stderr).toContain(
      "Run the same command again: it sends these rows again with the same keys",
    );
    isLost = false;
    const second = await send(["--expires", expires], day(nextDay));
    expect(second).toMatchObject({ exit: 0, stdout: expect.stringContaining("3 created (2 in an earlier") });
    expect(counts()).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
    ]);
  });

  it("stays unknown if the service refuses it later, until --retry-unknown", async () => {
    let fate: Fate = "created and reset";
    const { send, results, counts } = await listOf(1, () => fate);
    expect((await send()).exit).toBe(6);
    fate = { status: 409 };
    const second = await send();
    expect(second.exit).toBe(6);
    expect(results()).toContain(",unknown,The service answered 409.");
    const third = await send(["--retry-unknown"]);
    expect(third.exit).toBe(4);
    expect(results()).toContain(",refused,The service answered 409.");
    expect(counts()).toEqual([[1, 1]]);
  });

  it("gets a new one after a refusal: services repeat their answer to a known key", async () => {
    let fate: Fate = { status: 422 };
    const { send, counts } = await listOf(1, () => fate);
    expect((await send()).exit).toBe(4);
    fate = "create";
    expect((await send()).exit).toBe(0);
    expect(counts()).toEqual([[1, 2]]);
  });

  it("is not sent again without the header that carried the key", async () => {
    let fate: Fate = "created and reset";
    const { send, set, unset, service, counts } = await listOf(1, () => fate);
    expect((await send()).exit).toBe(6);
    fate = "create";
    const { length } = service.arrivals;
    expect(await unset()).toMatchObject({ exit: 0 });
    expect((await send()).exit).toBe(6);
    await set("X-Request-Id");
    expect((await send()).exit).toBe(6);
    expect(service.arrivals).toHaveLength(length);
    await set(HEADER.toLowerCase());
    expect((await send()).exit).toBe(0);
    expect(counts()).toEqual([[1, 1]]);
  });
});

describe("a row that was sent without a key", () => {
  it("is not sent again once the service has the header", async () => {
    let fate: Fate = "created and reset";
    const { send, set, unset, service } = await listOf(1, () => fate);
    await unset();
    expect((await send()).exit).toBe(6);
    fate = "create";
    await set(HEADER);
    expect((await send()).exit).toBe(6);
    expect(service.arrivals).toHaveLength(1);
    expect(service.keys.size).toBe(0);
  });
});
