/** The pass that sends, without a network: what stops it, what makes it wait, and how much is in the air at once. */
import { describe, expect, it } from "vitest";
import { openLocalMemory } from "../../src/bulk/local-memory.ts";
import { Pace } from "../../src/bulk/pace.ts";
import { readList } from "../../src/lists/read-list.ts";
import { requestOf, type RowContext } from "../../src/bulk/row.ts";
import { sendRows, type DueRow, type SentAnswer } from "../../src/bulk/send.ts";
import type { RowOutcome } from "../../src/bulk/outcome.ts";
import { SYSTEM_TIMERS } from "../../src/values/timers.ts";
import { PaylinkError, type FailureCode } from "../../src/domain/errors.ts";
import { LEASE, type SentClaim, type Memory } from "../../src/store/sent-rows.ts";
import { requestBuilder } from "../../src/service/request.ts";
import { resolveSettings } from "../../src/settings/resolved-settings.ts";
import { temporaryHome } from "../support/home.ts";

interface Case {
  readonly rows: number;
  readonly concurrency?: number;
  readonly rate?: number;
  /** Milliseconds on the run's clock that each exchange takes. */
  readonly latency?: number;
  /** What the run takes for random. */
  readonly random?: number;
  /** What another run has done with the memory after this one has looked into it. */
  readonly meanwhile?: (memory: Memory, rows: readonly DueRow[]) => Promise<void>;
  /** The rows that another run had in flight when this one was planned, and has given back since. */
  readonly elsewhere?: (rows: readonly DueRow[]) => readonly DueRow[];
  /** Answers the request of a customer; `time` is what the run's clock shows. */
  readonly create: (customer: string, time: number) => Promise<SentAnswer>;
}

const failure = (code: FailureCode, retryAfter?: number): PaylinkError =>
  new PaylinkError(code, code, { details: { retryAfter } });
const created = (id: string): Promise<SentAnswer> =>
  Promise.resolve({ link: { id, url: `https://x/${id}` }, violations: [], asksForOther: false });

/** Runs a list on a clock of its own, which leaps whenever the run waits. */
async function run({
  rows: count,
  concurrency = 4,
  rate,
  latency = 0,
  random = 0.5,
  meanwhile,
  elsewhere,
  create,
}: Case) {
  const text = `customerName,amount\n${Array.from({ length: count }, (_, row) => `c${row},1\n`).join("")}`;
  const list = await readList(Buffer.from(text));
  let time = 1_000_000;
  const now = (): Date => new Date(time);
  const settings = resolveSettings({ env: { PAYLINK_TERMINAL_ID: "1" } });
  const context: RowContext = {
    build: requestBuilder({ flags: { currency: "EUR" }, base: undefined, settings }),
    service: "http://x",
    currency: undefined,
    defaults: new Set(),
    list,
  };
  const halt = new AbortController();
  const memory = openLocalMemory(temporaryHome(), { isDryRun: false });
  const rowAt = (at: number) => list.rows.at(at) ?? { line: 0, columns: [], values: [], problems: [] };
  const rows = [...list.rows].map((row, at): DueRow => {
    const { key = "", payment = "", content = "" } = requestOf(row, context, now()).identity() ?? {};
    const sent = { key, payment, content, orderNumber: "", occurrence: 1, attempt: 1 };
    return { at, sent, cancels: [], isCorrection: false };
  });
  await meanwhile?.(memory, rows);
  const outcomes = new Map<number, RowOutcome>();
  const pauses: number[] = [];
  let inTheAir = 0;
  let most = 0;
  /** Claims that are not settled, as another run would find them. */
  const claimed = new Set<string>();
  let mostClaimed = 0;
  const watched = {
    ...memory,
    claim: async (claim: SentClaim) => {
      const isOwn = await memory.claim(claim);
      if (isOwn) claimed.add(claim.key);
      mostClaimed = Math.max(mostClaimed, claimed.size);
      return isOwn;
    },
    settle: async (...settled: Parameters<typeof memory.settle>) => {
      claimed.delete(settled[0].key);
      await memory.settle(...settled);
    },
  };
  const stopped = (): boolean => halt.signal.aborted;
  const sleep = async (milliseconds: number): Promise<void> => {
    // Those that wait at the same time wait together.
    const end = time + milliseconds;
    await new Promise(setImmediate);
    time = Math.max(time, end);
  };
  const pace = new Pace({
    rate,
    clock: () => time,
    sleep,
    stopped,
    random: () => random,
    paused: (milliseconds) => pauses.push(milliseconds),
  });
  await sendRows({
    rows: elsewhere === undefined ? rows : [],
    elsewhere: elsewhere?.(rows) ?? [],
    memory: watched,
    pace,
    timers: SYSTEM_TIMERS,
    requestOf: ({ at }) => requestOf(rowAt(at), context, now()),
    create: async ({ customerName }) => {
      most = Math.max(most, ++inTheAir);
      await new Promise(setImmediate);
      time += latency;
      try {
        return await create(customerName, time);
      } finally {
        inTheAir--;
      }
    },
    cancel: () => Promise.resolve(undefined),
    concurrency,
    sleep,
    stop: (reason) => halt.abort(reason),
    stopped,
    violated: () => undefined,
    settled: ({ at }, outcome) => outcomes.set(at, outcome),
  });
  const left = await memory.find(rows.map(({ sent }) => sent.key));
  await memory.close();
  const statuses = (status: string): number =>
    [...outcomes.values()].filter((outcome) => outcome.status === status).length;
  return {
    outcomes,
    statuses,
    pauses,
    most,
    mostClaimed,
    left,
    elapsed: time - 1_000_000,
    reason: halt.signal.reason as unknown,
  };
}

describe("a run", () => {
  it("sends each row once, with at most as many requests in flight as allowed", async () => {
    const sent: string[] = [];
    const { statuses, most, reason } = await run({
      rows: 100,
      concurrency: 3,
      create: (customer) => {
        sent.push(customer);
        return created(customer);
      },
    });
    expect(statuses("created")).toBe(100);
    expect(new Set(sent).size).toBe(100);
    expect(sent).toHaveLength(100);
    expect(most).toBe(3);
    expect(reason).toBeUndefined();
  });

  it.each([0, 30])("claims at most one row for each request in flight (latency %d ms)", async (latency) => {
    const { mostClaimed, left } = await run({ rows: 200, concurrency: 4, latency, create: created });
    expect(mostClaimed).toBe(4);
    expect(left.map(({ state }) => state)).toEqual(Array.from({ length: 200 }, () => "created"));
  });

  it.each(["unauthorized", "redirected"] as const)("stops at the first %s", async (code) => {
    let requests = 0;
    const { reason, statuses } = await run({
      rows: 1000,
      create: async () => {
        requests++;
        throw failure(code);
      },
    });
    expect(reason).toMatchObject({ code });
    expect(requests).toBeLessThanOrEqual(4);
    expect(statuses("refused")).toBe(requests);
  });

  it("never resends a row with an unknown outcome, and stops after too many of them", async () => {
    let requests = 0;
    const { statuses, reason } = await run({
      rows: 1000,
      create: async () => {
        requests++;
        throw failure("outcome_unknown");
      },
    });
    expect(reason).toMatchObject({ code: "outcome_unknown" });
    expect(statuses("unknown")).toBe(requests);
    expect(requests).toBeLessThan(30);
  });

  it("pauses the run for as long as the service asks, then sends the rest", async () => {
    // Claims of other rows that the pause meets are still in time.
    const PAUSE = LEASE / 2 - 1000;
    const times: number[] = [];
    const { statuses, pauses } = await run({
      rows: 40,
      create: (customer, time) => {
        times.push(time);
        return times.length === 10 ? Promise.reject(failure("overloaded", PAUSE)) : created(customer);
      },
    });
    expect(statuses("created")).toBe(40);
    expect(times).toHaveLength(41);
    expect(pauses).toEqual([PAUSE]);
    const late = times.filter((time) => time >= 1_000_000 + PAUSE).length;
    expect(late).toBeGreaterThanOrEqual(41 - 10 - 4);
  });

  it.each([
    ["overloaded", 0.5, [1000, 2000, 4000, 8000, 16_000, 32_000]],
    ["not_reached", 0.5, [1000, 2000, 4000, 8000, 16_000, 32_000]],
    ["overloaded", 0, [500, 1000, 2000, 4000, 8000, 16_000]],
    ["overloaded", 0.999, [1499, 2998, 5996, 11_992, 23_984, 47_968]],
  ] as const)("waits longer each time when %s, with jitter (%d), then stops", async (code, random, waits) => {
    const { pauses, reason, statuses } = await run({
      rows: 100,
      random,
      create: () => Promise.reject(failure(code)),
    });
    expect(pauses).toEqual(waits);
    expect(reason).toMatchObject({ code });
    expect(statuses("created")).toBe(0);
  });

  it("counts a row that another run has sent meanwhile as sent, unless it was for another amount", async () => {
    const { outcomes } = await run({
      rows: 3,
      create: created,
      meanwhile: async (memory, [first, second]) => {
        for (const [row, payment] of [
          [first, "EUR 1.00 one-time SALE"],
          [second, "EUR 9.00 one-time SALE"],
        ] as const) {
          if (row === undefined) continue;
          await memory.claim({ ...row.sent, payment, content: "", orderNumber: "" });
          await memory.settle(row.sent, { state: "created", id: "other", url: "https://x/o", error: null });
        }
      },
    });
    expect(outcomes.get(0)).toMatchObject({ status: "created", id: "other", isEarlier: true });
    expect(outcomes.get(1)).toMatchObject({
      status: "not_sent",
      isLeft: true,
      error: "Another run has sent it meanwhile, for EUR 9.00 one-time SALE.",
    });
    expect(outcomes.get(2)).toMatchObject({ status: "created", id: "c2" });
  });

  it("sends a row that another run has released, unless it has an earlier link", async () => {
    const inResults = { id: "r", url: "https://x/r", error: null };
    const payment = "EUR 9.00 one-time SALE";
    const { outcomes, left } = await run({
      rows: 4,
      create: created,
      meanwhile: async (memory, [, , third, fourth]) => {
        for (const row of [third, fourth])
          if (row) await memory.claim({ ...row.sent, payment, content: "", orderNumber: "" });
        const link = { id: "e", url: "https://x/e", error: null };
        if (third) await memory.settle(third.sent, { state: "created", ...link });
        if (fourth) await memory.settle(fourth.sent, { state: "unknown", ...link, error: "reset" });
      },
      elsewhere: (rows) =>
        rows.map((row, at) => ({
          ...row,
          ...(at === 1 && { known: inResults }),
          sent: { ...row.sent, attempt: at < 2 ? 1 : 2 },
        })),
    });
    expect(outcomes.get(0)).toMatchObject({ status: "created", id: "c0" });
    expect(outcomes.get(1)).toEqual({ status: "created", id: "r", url: "https://x/r", isEarlier: true });
    expect(outcomes.get(2)).toMatchObject({ status: "not_sent", isLeft: true });
    expect(outcomes.get(2)?.error).toBe(`It was sent before, for ${payment}.`);
    expect(outcomes.get(3)).toMatchObject({ status: "unknown", isEarlier: true });
    expect(left).toHaveLength(3);
  });

  it("stays below the rate", async () => {
    const { elapsed } = await run({ rows: 20, rate: 4, create: created });
    expect(elapsed).toBeGreaterThanOrEqual(4750);
  });

  it("leaves the outcome unknown after an unexpected error, and stops", async () => {
    const { reason, statuses } = await run({
      rows: 100,
      create: (customer) => (customer === "c5" ? Promise.reject(new TypeError("oops")) : created(customer)),
    });
    expect(reason).toBeInstanceOf(TypeError);
    expect(statuses("unknown")).toBe(1);
  });
});
