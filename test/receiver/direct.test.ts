/** Direct forwarding: what the service gets that waits for the application. */
import { describe, expect, it } from "vitest";
import { type Send, SendError, SendTimeout } from "../../src/http/exchange.ts";
import { fieldLines } from "../../src/http/message.ts";
import { createDirectForwarder } from "../../src/receiver/direct.ts";
import type { EventLog } from "../../src/events/event.ts";
import { createMemoryLog } from "../../src/receiver/memory-log.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { openSqlite } from "../support/event-stores.ts";
import { closeAtEnd, forwarderParts, fresh, nameIn, OK, receive } from "../support/forwarding.ts";
import { temporaryHome } from "../support/home.ts";

describe("the service that waits for the application", () => {
  const open = (send: Send, log: EventLog = createMemoryLog()) => {
    const forwarder = createDirectForwarder(forwarderParts(log, send).parts);
    closeAtEnd(forwarder);
    return (name: string, id = name) => receive(forwarder, log, { ...fresh(name), id });
  };
  const answerTo = (send: Send) => open(send)("a");

  it("gets its status, content and Retry-After, and nothing else; any 2xx becomes 200", async () => {
    const headers = [
      ["Content-Type", "text/plain"],
      ["Set-Cookie", "session=1"],
      ["Retry-After", "120"],
    ] as const;
    const body = new TextEncoder().encode("later");
    expect(await answerTo(async () => ({ status: 503, headers, body }))).toEqual({
      status: 503,
      headers: [
        ["Content-Type", "text/plain"],
        ["Retry-After", "120"],
        ["Proxy-Status", "paylink; received-status=503"],
      ],
      body,
    });
    expect(await answerTo(async () => ({ ...OK, status: 204 }))).toMatchObject({ status: 200 });
    const cut = (keep = Infinity): Uint8Array => new Uint8Array(1e6).subarray(0, keep);
    const long = await answerTo(async (_, { keep } = {}) => ({ status: 500, headers, body: cut(keep) }));
    expect(long.body.length).toBe(64 * 1024);
  });

  it.each([
    [new SendTimeout("no answer", true), 504, "http_response_timeout"],
    [new SendError("the connection to 10.1.2.3 was closed", true), 502, "connection_terminated"],
    [new SendError("connect ECONNREFUSED 10.1.2.3:3000", false), 502, "destination_unavailable"],
  ])(
    "gets a Proxy-Status (RFC 9209) if there is no answer, without the address: %s",
    async (error, status, name) => {
      const answer = await answerTo(async () => {
        throw error;
      });
      expect(answer).toEqual({
        status,
        headers: [["Proxy-Status", `paylink; error=${name}`]],
        body: new Uint8Array(),
      });
    },
  );

  it("does not wait for other webhooks, however many of them hang", async () => {
    const deliver = open((request) =>
      nameIn(request) === "last" ? Promise.resolve(OK) : new Promise(() => undefined),
    );
    for (let index = 0; index < 50; index++) void deliver(String(index));
    expect(await deliver("last")).toMatchObject({ status: 200 });
  });

  it("learns why a repeated webhook is not forwarded again", async () => {
    const store = openSqlite(eventsPath(temporaryHome()));
    const deliver = open(async (request) => ({ ...OK, status: nameIn(request) === "a" ? 200 : 500 }), store);
    let deliveries = 0;
    const detailsOf = async (name: string) =>
      fieldLines((await deliver(name, `${name}${deliveries++}`)).headers, "proxy-status");
    expect(await detailsOf("a")).toEqual(["paylink; received-status=200"]);
    expect(await detailsOf("a")).toEqual(['paylink; details="the application accepted it before"']);
    expect(await detailsOf("b")).toEqual(["paylink; received-status=500"]);
    await store.skip({ ids: ["b2"] });
    expect(await detailsOf("b")).toEqual(['paylink; details="an operator has skipped it"']);
  });
});
