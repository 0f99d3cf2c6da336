/** The time limit of a run: what it cuts short, and what it says about what was sent. */
import { describe, expect, it } from "vitest";
import { type Send, SendError, SendTimeout } from "../../src/http/exchange.ts";
import { addressOf, type HttpReply } from "../../src/http/message.ts";
import { TimeLimit } from "../../src/http/time-limit.ts";
import { VirtualTime } from "../simulation/virtual-time.ts";

const REQUEST = {
  method: "POST",
  ...addressOf(new URL("http://shop.example/")),
  headers: [],
  body: new Uint8Array(),
};
const OK: HttpReply = { status: 200, headers: [], body: new Uint8Array() };

/** It passes in pauses and silent exchanges alone. */
const time = new VirtualTime();

const pause = async (milliseconds: number): Promise<void> => void (time.elapsed += milliseconds);

const limitOf = (milliseconds?: number) => {
  const limit = new TimeLimit(
    new AbortController().signal,
    time.timersOf(() => true),
  );
  if (milliseconds !== undefined) limit.start(milliseconds, "The last one may have arrived.");
  return limit;
};

/** An exchange that ends with its own time. */
const silent =
  (sent: boolean): Send =>
  async (_, { timeout = 0 } = {}) => {
    await pause(timeout);
    throw new SendTimeout("did not answer", sent);
  };

describe("the time limit of a run", () => {
  it.each([
    ["was sent", true, "Timed out after 20ms. The last one may have arrived."],
    ["was not sent", false, "Timed out after 20ms. Nothing was sent."],
  ])("says of an exchange that %s what it knows", async (_, sent, message) => {
    const limit = limitOf(20);
    await expect(limit.bound(silent(sent))(REQUEST)).rejects.toBeInstanceOf(SendTimeout);
    await expect(limit.boundPause(pause)(1_000)).rejects.toMatchObject({ code: "timed_out", message });
    await expect(limit.bound(silent(sent))(REQUEST)).rejects.toMatchObject({ code: "timed_out" });
  });

  it("counts what was answered before as sent, and what was refused a connection as not sent", async () => {
    const answered = limitOf(20);
    await answered.bound(async () => OK)(REQUEST);
    await expect(answered.boundPause(pause)(1_000)).rejects.toThrow("The last one may have arrived.");
    const refused = limitOf(20);
    const send = refused.bound(() => Promise.reject(new SendError("connection refused", false)));
    await expect(send(REQUEST)).rejects.toBeInstanceOf(SendError);
    await expect(refused.boundPause(pause)(1_000)).rejects.toThrow("Nothing was sent.");
  });

  it("gives an exchange the time that is left, and no limit without one", async () => {
    const given: (number | undefined)[] = [];
    const send: Send = async (_, options) => (given.push(options?.timeout), OK);
    await limitOf().bound(send)(REQUEST);
    await limitOf().bound(send)(REQUEST, { timeout: 5 });
    await limitOf(60_000).bound(send)(REQUEST, { timeout: 5 });
    const limit = limitOf(60_000);
    await limit.bound(send)(REQUEST);
    limit.release();
    expect(given).toEqual([undefined, 5, 5, 60_000]);
  });

  it("starts once: a later start changes nothing", () => {
    const limit = limitOf(60_000);
    limit.start(1, "");
    expect(limit.milliseconds).toBe(60_000);
    limit.release();
  });
});
