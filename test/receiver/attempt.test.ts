/** An attempt against an application that is slow, silent or gone, with its own clock and timeout. */
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { SYSTEM_TIMERS } from "../../src/values/timers.ts";
import type { WebhookEvent } from "../../src/events/event.ts";
import { makeAttempt, deliverOver } from "../../src/receiver/attempt.ts";
import { judge } from "../../src/receiver/judge.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { record, webhook } from "../support/webhooks.ts";
import { listenOnFreePort } from "../support/ports.ts";
import { openSender } from "../support/sender.ts";

const AT = new Date("2026-11-21T10:00:00Z");
const APP = new URL("http://127.0.0.1:3000/hook");

function event(id: string): WebhookEvent {
  const request = webhook(APP.href, record());
  const judgement = judge(request, { keys: [], policy: DEFAULT_POLICY, now: AT });
  return { type: "event", id, receivedAt: AT, repeated: false, request, ...judgement };
}

describe("an application that", () => {
  /** The clock stands still: the result of an attempt must not depend on it. */
  const options = { now: () => AT, timers: SYSTEM_TIMERS, headers: [], insecure: false, keys: () => [] };
  const attemptAt = (app: URL, timeout = 8_000) =>
    makeAttempt(event("a"), app, { ...options, deliver: deliverOver(openSender()), timeout });

  const HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbooked";

  async function appThat(does: "never answers" | "hangs up" | "never ends" | "ends midway"): Promise<URL> {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      onTestFinished(() => void socket.destroy());
      if (does === "hangs up") socket.on("data", () => socket.destroy());
      if (does === "never ends") socket.on("data", () => void socket.write(HEAD));
      if (does === "ends midway") socket.on("data", () => void socket.end(HEAD));
    });
    return new URL(`http://127.0.0.1:${await listenOnFreePort(server)}/`);
  }

  it("that never answers times out", async () => {
    expect(await attemptAt(await appThat("never answers"), 1_000)).toMatchObject({
      result: { kind: "noAnswer", failure: "timeout", sent: true },
      forward: { status: null, detail: expect.stringContaining("did not answer within 1.0 s") },
    });
  });

  it.each(["never ends", "ends midway"] as const)(
    "that answers 200 and %s its body has accepted it",
    async (does) => {
      expect(await attemptAt(await appThat(does), does === "never ends" ? 300 : undefined)).toMatchObject({
        result: { kind: "answered", status: 200 },
        forward: { status: 200, failure: null, reply: { text: "booked" } },
      });
    },
  );

  it.each([
    [
      "hangs up gave no answer",
      () => appThat("hangs up"),
      { kind: "noAnswer", failure: "closed", sent: true },
      /^no answer: /,
    ],
    [
      "does not listen was not reached",
      async () => new URL("http://127.0.0.1:1/"),
      { kind: "notReached", failure: "refused" },
      /^not reached: connection refused$/,
    ],
  ])("%s", async (_, app, result, detail) => {
    expect(await attemptAt(await app())).toMatchObject({
      result,
      forward: { status: null, detail: expect.stringMatching(detail) },
    });
  });
});
