/** Forwarding against an application that is slow, silent or gone, with its own clock and timeout. */
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Send, SendError, SendTimeout } from "../../src/http/exchange.ts";
import { createSender } from "../../src/http/send.ts";
import {
  type EventLog,
  firstDelivery,
  type Forward,
  type StoreResult,
  type WebhookEvent,
} from "../../src/receiver/events.ts";
import { createDirectForwarder } from "../../src/receiver/direct-forwarder.ts";
import { forward, type Forwarder } from "../../src/receiver/forward.ts";
import { judge } from "../../src/receiver/judge.ts";
import { readRecord } from "../../src/domain/transaction.ts";
import type { HeaderLine, HttpRequest } from "../../src/http/message.ts";
import { createMemoryLog } from "../../src/receiver/memory-log.ts";
import { NO_PAINT } from "../../src/render/paint.ts";
import { renderForward } from "../../src/render/received-webhook.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { record, webhook } from "../support/webhooks.ts";
import { listenOnFreePort } from "../support/ports.ts";

const AT = new Date("2026-11-21T10:00:00Z");
const APP = new URL("http://127.0.0.1:3000/hook");

function event(id: string, receivedAt = AT, members: Record<string, unknown> = {}): WebhookEvent {
  const request = webhook(APP.href, record(members));
  const judgement = judge(request, { keys: [], policy: DEFAULT_POLICY, now: AT });
  return {
    type: "event",
    id,
    receivedAt,
    repeated: false,
    request,
    ...judgement,
    ...readRecord(request.body),
  };
}

/** The same forwarder, of whose answers only the status matters. */
const statusesOf = ({ forward }: Forwarder) => ({
  forward: async (...event: Parameters<Forwarder["forward"]>) => (await forward(...event)).status,
});

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
  const forwarder = createDirectForwarder({
    send,
    now: () => new Date(now),
    headers: [],
    insecure: false,
    concurrency: 8,
    timeout: 8_000,
    log,
    pause: async (milliseconds) => void (now += milliseconds),
    targetOf: () => APP,
    observe: (_, forwarded) => void forwards.push(forwarded),
  });
  return { forwarder: statusesOf(forwarder), timeouts, forwards };
}

describe("a slow application", () => {
  it.each([
    [8_000, 200, 200],
    [8_001, 504, null],
  ])("that answers after %d ms gives the service %d", async (takes, answer, status) => {
    const { forwarder, forwards } = slowApp([takes]);
    expect(await forwarder.forward(event("a"), firstDelivery("a"))).toBe(answer);
    expect(forwards).toMatchObject([{ status, ms: 8_000 }]);
  });

  it("has 8 s from each webhook's arrival, including the time that one waits for others of its reference", async () => {
    const { forwarder, timeouts, forwards } = slowApp([5_000, 60_000]);
    const later = new Date(AT.getTime() + 6_000);
    const events = [event("a"), event("b"), event("c"), event("d", later)];
    const answers = events.map((one) => forwarder.forward(one, firstDelivery(one.id)));
    expect(await Promise.all(answers)).toEqual([200, 504, 504, 200]);
    // The third is not sent at all: its time is over.
    expect(timeouts).toEqual([8_000, 3_000, 6_000]);
    expect(forwards[2]).toMatchObject({
      status: null,
      detail: "timed out in the queue: earlier webhooks took all the time",
    });
  });

  it("gets those of other references side by side, and no more at once than it may", async () => {
    const answers = new Map<string, () => void>();
    const sent: string[] = [];
    const send: Send = ({ body }) =>
      new Promise((resolve) => {
        const id = (JSON.parse(Buffer.from(body).toString()) as { uti: string }).uti;
        sent.push(id);
        answers.set(id, () => resolve({ status: 200, headers: [], body: new Uint8Array() }));
      });
    const forwarder = statusesOf(
      createDirectForwarder({
        send,
        now: () => AT,
        headers: [],
        insecure: false,
        concurrency: 2,
        timeout: 8_000,
        log: createMemoryLog(),
        pause: async () => undefined,
        targetOf: () => APP,
        observe: () => undefined,
      }),
    );
    const deliver = (id: string, reference: string) =>
      forwarder.forward(event(id, AT, { uti: id, reference }), firstDelivery(id));
    const delivered = [deliver("a1", "A"), deliver("a2", "A"), deliver("b1", "B"), deliver("c1", "C")];
    // Delivered again while the first attempt is under way.
    delivered.push(deliver("b1", "B"));
    await expect.poll(() => sent).toEqual(["a1", "b1"]);
    answers.get("b1")?.();
    await expect.poll(() => sent).toEqual(["a1", "b1", "c1"]);
    answers.get("a1")?.();
    await expect.poll(() => sent).toEqual(["a1", "b1", "c1", "a2"]);
    for (const id of ["c1", "a2"]) answers.get(id)?.();
    expect(await Promise.all(delivered)).toEqual([200, 200, 200, 200, 200]);
  });

  it("that hangs lets no webhook wait past its own time", async () => {
    const send: Send = (_, { timeout } = {}) =>
      new Promise((_resolve, reject) => setTimeout(() => reject(new SendTimeout("late", true)), timeout));
    const forwarder = statusesOf(
      createDirectForwarder({
        send,
        now: () => new Date(),
        headers: [],
        insecure: false,
        concurrency: 1,
        timeout: 60,
        log: createMemoryLog(),
        pause: async () => undefined,
        targetOf: () => APP,
        observe: () => undefined,
      }),
    );
    const received = new Date();
    const deliver = (id: string, after: number) =>
      forwarder.forward(
        event(id, new Date(received.getTime() + after), { reference: id }),
        firstDelivery(id),
      );
    expect(await Promise.all([deliver("a", 0), deliver("b", 0), deliver("c", 5)])).toEqual([504, 504, 504]);
  });
});

describe("the answer of the application", () => {
  const answerTo = (send: Send) =>
    createDirectForwarder({
      send,
      now: () => AT,
      headers: [],
      insecure: false,
      concurrency: 1,
      timeout: 8_000,
      log: createMemoryLog(),
      pause: async () => undefined,
      targetOf: () => APP,
      observe: () => undefined,
    }).forward(event("a"), firstDelivery("a"));

  it("reaches the service with its status, its content and nothing else; any 2xx is a 200", async () => {
    const headers = [
      ["Content-Type", "text/plain"],
      ["Set-Cookie", "session=1"],
      ["Server", "internal"],
    ] as const;
    const body = new TextEncoder().encode("no such order");
    const refused = await answerTo(async () => ({ status: 401, headers, body }));
    expect(refused).toEqual({
      status: 401,
      headers: [
        ["Content-Type", "text/plain"],
        ["Proxy-Status", "paylink; received-status=401"],
      ],
      body,
    });
    expect(await answerTo(async () => ({ status: 204, headers: [], body: new Uint8Array() }))).toEqual({
      status: 200,
      headers: [["Proxy-Status", "paylink; received-status=204"]],
      body: new Uint8Array(),
    });
    // A body that is empty has no coding, whatever its headers say: others could not decode it.
    const encoded = [["Content-Encoding", "gzip"]] as const;
    const empty = await answerTo(async () => ({ status: 409, headers: encoded, body: new Uint8Array() }));
    expect(empty.headers).toEqual([["Proxy-Status", "paylink; received-status=409"]]);
    const cut = (keep = Infinity): Uint8Array => new Uint8Array(1e6).subarray(0, keep);
    const long = await answerTo(async (_, { keep } = {}) => ({ status: 500, headers, body: cut(keep) }));
    expect(long.body.length).toBe(64 * 1024);
  });

  it.each([
    [new SendTimeout("no answer", true), 504, "http_response_timeout"],
    [new SendError("the connection to 10.1.2.3 was closed", true), 502, "connection_terminated"],
    [new SendError("connect ECONNREFUSED 10.1.2.3:3000", false), 502, "destination_unavailable"],
  ])("that is missing is an error of RFC 9209, without the address: %s", async (error, status, name) => {
    const { headers, ...answer } = await answerTo(async () => {
      throw error;
    });
    expect(answer).toEqual({ status, body: new Uint8Array() });
    expect(headers).toEqual([["Proxy-Status", `paylink; error=${name}`]]);
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
  ])("is answered with its result there: %s", async (_, end, status) => {
    const ended = { ...claimed, claimedElsewhere: false, ...end };
    expect(await answerTo(claimed, ended)).toEqual({ status, looks: 2 });
  });

  it("is answered 503 where the result is not known within 8 s", async () => {
    expect(await answerTo()).toEqual({ status: 503, looks: 80 });
    expect(await answerTo(new Error("disk"))).toEqual({ status: 503, looks: 1 });
  });
});

describe("an application that", () => {
  const sender = createSender({
    httpsProxy: undefined,
    noProxy: undefined,
    userAgent: "paylink/0.0.0",
  });
  /** The clock stands still: the result of an attempt must not depend on it. */
  const options = { send: sender.send, now: () => AT, headers: [], insecure: false, timeout: 8_000 };
  const webhookEvent = event("a");

  async function appThat(does: "never answers" | "hangs up"): Promise<URL> {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      onTestFinished(() => void socket.destroy());
      if (does === "hangs up") socket.on("data", () => socket.destroy());
    });
    return new URL(`http://127.0.0.1:${await listenOnFreePort(server)}/`);
  }

  it("never answers timed out", async () => {
    expect(
      await forward(webhookEvent, await appThat("never answers"), { ...options, timeout: 50 }),
    ).toMatchObject({
      status: null,
      timedOut: true,
      detail: expect.stringContaining("did not answer within 50 ms"),
    });
  });

  it("hangs up gave no answer", async () => {
    expect(await forward(webhookEvent, await appThat("hangs up"), options)).toMatchObject({
      status: null,
      timedOut: false,
      detail: expect.stringMatching(/^no answer: /),
    });
  });

  it("does not listen was not reached", async () => {
    expect(await forward(webhookEvent, new URL("http://127.0.0.1:1/"), options)).toMatchObject({
      status: null,
      timedOut: false,
      detail: "not reached: connection refused",
    });
  });

  it("was not reached is shown without a status, and the service is answered 502", async () => {
    const shown: string[] = [];
    const forwarder = statusesOf(
      createDirectForwarder({
        ...options,
        concurrency: 8,
        log: createMemoryLog(),
        pause: () => Promise.reject(new Error("nothing to wait for")),
        targetOf: () => new URL("http://127.0.0.1:1/hook"),
        observe: ({ id }, forwarded) => void shown.push(renderForward(id, forwarded, NO_PAINT)),
      }),
    );
    expect(await forwarder.forward(webhookEvent, firstDelivery("a"))).toBe(502);
    expect(shown).toEqual(["  → a not reached: connection refused in 0 ms  http://127.0.0.1:1/hook"]);
  });
});

describe("the headers of a forwarded webhook", () => {
  const SENT = [
    ["Authorization", "Basic YWRtaW46YWRtaW4="],
    ["Cookie", "session=admin"],
    ["Forwarded", "for=10.0.0.1"],
    ["X-Forwarded-For", "10.0.0.1"],
    ["X-Forwarded-Host", "admin.example"],
    ["Proxy-Authorization", "Basic YQ=="],
    ["X-Shop", "sender"],
  ] as const;

  /** The lines of these names that the application gets. */
  async function linesOf(
    names: readonly string[],
    {
      covered = [],
      added = [],
      sent = [],
    }: { covered?: string[]; added?: [string, string][]; sent?: readonly HeaderLine[] },
  ): Promise<(readonly [string, string])[]> {
    const { request, verdict } = event("a");
    const requests: HttpRequest[] = [];
    const send: Send = async (forwarded) => {
      requests.push(forwarded);
      return { status: 200, headers: [], body: new Uint8Array() };
    };
    const options = { send, now: () => AT, headers: added, insecure: false, timeout: 8_000 };
    const forged = { ...request, headers: [...request.headers, ...SENT, ...sent] };
    const judged = { ...verdict, verdict: covered.length > 0 ? "valid" : verdict.verdict, covered } as const;
    await forward({ request: forged, verdict: judged, receivedAt: AT }, APP, options);
    expect(requests).toHaveLength(1);
    return requests.flatMap(({ headers }) => headers.filter(([name]) => names.includes(name.toLowerCase())));
  }

  const TRUSTED = ["authorization", "cookie", "forwarded", "x-forwarded-for", "proxy-authorization"];

  it("leave out what an application trusts, unless the signature covers it", async () => {
    expect(await linesOf(TRUSTED, {})).toEqual([]);
    expect(await linesOf(TRUSTED, { covered: ["cookie", "proxy-authorization"] })).toEqual([
      ["Cookie", "session=admin"],
    ]);
    expect(await linesOf(["cookie"], { covered: ['cookie;key="session"'] })).toEqual([]);
  });

  it("name the address that was signed, not the one that the sender claims", async () => {
    expect(await linesOf(["x-forwarded-host"], {})).toEqual([["X-Forwarded-Host", APP.host]]);
    expect(await linesOf(["x-forwarded-host"], { covered: ["x-forwarded-host"] })).toEqual([
      ["X-Forwarded-Host", "admin.example"],
    ]);
  });

  it("leave out what frameworks trust or put in the place of other fields", async () => {
    const names = [
      "X_Forwarded_For",
      "X_Forwarded_Host",
      "Proxy",
      "X-Real-IP",
      "X-HTTP-Method-Override",
      "X-Original-URL",
      "CF-Connecting-IP",
      "Content_Length",
      "Content_Type",
      "Content_Digest",
      "Signature_Input",
      "Transfer_Encoding",
      "Connection",
      "X-Invented-Tomorrow",
    ];
    const sent = names.map((name) => [name, "1"] as const);
    const lower = names.map((name) => name.toLowerCase());
    expect(await linesOf(lower, { sent })).toEqual([]);
    // A signature makes a field authentic, but not one of the connection, nor a second spelling of another.
    expect((await linesOf(lower, { sent, covered: lower })).map(([name]) => name)).toEqual([
      "X_Forwarded_For",
      "X_Forwarded_Host",
      "Proxy",
      "X-Real-IP",
      "X-HTTP-Method-Override",
      "X-Original-URL",
      "CF-Connecting-IP",
      "X-Invented-Tomorrow",
    ]);
  });

  it("keep what a webhook and its trace consist of, also where Connection names it", async () => {
    const sent: HeaderLine[] = [
      ["Connection", "close, Content-Digest, traceparent"],
      ["traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
      ["User-Agent", "service/1"],
    ];
    const names = [
      "content-digest",
      "content-type",
      "signature",
      "signature-input",
      "traceparent",
      "user-agent",
    ];
    const forwarded = await linesOf(names, { sent });
    expect(forwarded.map(([name]) => name.toLowerCase()).toSorted()).toEqual(names.toSorted());
  });

  it("have those of --forward-header in the place of the sender's", async () => {
    const added: [string, string][] = [
      ["x-shop", "mine"],
      ["X-Shop", "second"],
      ["host", "app.example"],
      ["X_Forwarded_Host", "own"],
    ];
    const names = ["x-shop", "host", "x-forwarded-host", "x_forwarded_host"];
    expect(await linesOf(names, { added })).toEqual(added);
  });
});
