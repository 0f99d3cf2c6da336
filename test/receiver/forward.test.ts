/** Forwarding against an application that is slow, silent or gone, with its own clock and timeout. */
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { SendTimeout, type Send } from "../../src/http/exchange.ts";
import { createSender } from "../../src/http/send.ts";
import {
  eventJson,
  firstDelivery,
  type EventLog,
  type Forward,
  type StoreResult,
  type WebhookEvent,
} from "../../src/receiver/events.ts";
import { createForwarder, forward } from "../../src/receiver/forward.ts";
import { judge } from "../../src/receiver/judge.ts";
import { createMemoryLog } from "../../src/receiver/memory-log.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { record, webhook } from "../support/webhooks.ts";

const AT = new Date("2026-11-21T10:00:00Z");
const APP = new URL("http://127.0.0.1:3000/hook");

function event(id: string, receivedAt = AT): WebhookEvent {
  const request = webhook(APP.href, record());
  const judgement = judge(request, { keys: [], policy: DEFAULT_POLICY, now: AT, maxBody: 1e6 });
  const json = eventJson(judgement.verdict, request);
  return { type: "event", id, receivedAt, repeated: false, request, json, ...judgement };
}

/** An application that takes so many milliseconds for each webhook, on a clock that only it moves. */
function slowApp(takes: readonly number[], log: EventLog = createMemoryLog()) {
  let now = AT.getTime();
  const timeouts: (number | undefined)[] = [];
  const send: Send = async (_, { timeout = 0 } = {}) => {
    const needed = takes[timeouts.push(timeout) - 1] ?? 0;
    now += Math.min(needed, timeout);
    if (needed > timeout) throw new SendTimeout(`no answer within ${timeout} ms`, true);
    return { status: 200, headers: [], body: new Uint8Array() };
  };
  const forwards: Forward[] = [];
  const forwarder = createForwarder({
    send,
    now: () => new Date(now),
    headers: [],
    insecure: false,
    log,
    pause: async (milliseconds) => void (now += milliseconds),
    targetOf: () => APP,
    observe: (_, forwarded) => void forwards.push(forwarded),
  });
  return { forwarder, timeouts, forwards };
}

describe("a slow application", () => {
  it.each([
    [30_000, 200],
    [30_001, 504],
  ])("that takes %d ms answers the service %d", async (takes, status) => {
    const { forwarder, forwards } = slowApp([takes]);
    expect(await forwarder.forward(event("a"), firstDelivery("a"))).toBe(status);
    expect(forwards).toMatchObject([{ status, ms: 30_000 }]);
  });

  it("has 30 s from each webhook's arrival, including the time in the queue", async () => {
    const { forwarder, timeouts, forwards } = slowApp([20_000, 60_000]);
    const later = new Date(AT.getTime() + 25_000);
    const events = [event("a"), event("b"), event("c"), event("d", later)];
    const answers = events.map((one) => forwarder.forward(one, firstDelivery(one.id)));
    expect(await Promise.all(answers)).toEqual([200, 504, 504, 200]);
    // The third is not sent at all: its time is over.
    expect(timeouts).toEqual([30_000, 10_000, 25_000]);
    expect(forwards[2]).toMatchObject({
      status: 504,
      detail: "timed out in the queue: earlier webhooks took all the time",
    });
  });
});

describe("an event that another listener has claimed", () => {
  const claimed: StoreResult = { ...firstDelivery("a"), repeated: true, claimedElsewhere: true };

  async function answerTo(...looks: readonly (StoreResult | Error)[]) {
    let look = 0;
    const lookUp = async (): Promise<StoreResult> => {
      const found = looks[look++] ?? claimed;
      if (found instanceof Error) throw found;
      return found;
    };
    const { forwarder, forwards } = slowApp([], { ...createMemoryLog(), lookUp });
    const status = await forwarder.forward(event("b"), claimed);
    expect(forwards).toEqual([]);
    return { status, looks: look };
  }

  it.each<[string, Partial<StoreResult>, number]>([
    ["accepted", { accepted: true, answered: 204 }, 200],
    ["refused", { answered: 409 }, 409],
    ["given up without an attempt", { answered: undefined }, 503],
  ])("is answered with what became of it there: %s", async (_, end, status) => {
    const ended = { ...claimed, claimedElsewhere: false, ...end };
    expect(await answerTo(claimed, ended)).toEqual({ status, looks: 2 });
  });

  it("is answered 503 where the result is not known within 30 s", async () => {
    expect(await answerTo()).toEqual({ status: 503, looks: 300 });
    expect(await answerTo(new Error("disk"))).toEqual({ status: 503, looks: 1 });
  });
});

describe("an application that", () => {
  const sender = createSender({
    httpsProxy: undefined,
    noProxy: undefined,
    nodeVersion: process.versions.node,
    userAgent: "paylink/0.0.0",
  });
  /** The clock stands still: the result of an attempt must not depend on it. */
  const options = { send: sender.send, now: () => AT, headers: [], insecure: false };
  const { request } = event("a");

  async function appThat(does: "never answers" | "hangs up"): Promise<URL> {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      onTestFinished(() => void socket.destroy());
      if (does === "hangs up") socket.on("data", () => socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  }

  it("never answers is 504", async () => {
    expect(await forward(request, await appThat("never answers"), options, 50)).toMatchObject({
      status: 504,
      detail: expect.stringContaining("did not answer within 50 ms"),
    });
  });

  it("hangs up is 502", async () => {
    expect(await forward(request, await appThat("hangs up"), options)).toMatchObject({ status: 502 });
  });

  it("does not listen is 502", async () => {
    expect(await forward(request, new URL("http://127.0.0.1:1/"), options)).toMatchObject({
      status: 502,
      detail: expect.stringContaining("ECONNREFUSED"),
    });
  });
});
