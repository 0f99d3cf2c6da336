/** The headers that a target gets of a webhook. */
import { describe, expect, it } from "vitest";
import { SYSTEM_TIMERS } from "../../src/values/timers.ts";
import type { Send } from "../../src/http/exchange.ts";
import type { HeaderLine, HttpRequest } from "../../src/http/message.ts";
import { makeAttempt, deliverOver } from "../../src/receiver/attempt.ts";
import type { WebhookEvent } from "../../src/events/event.ts";
import { mayAdd } from "../../src/receiver/forwarded-request.ts";
import { judge } from "../../src/receiver/judge.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { record, webhook } from "../support/webhooks.ts";

const AT = new Date("2026-11-21T10:00:00Z");
const APP = new URL("http://127.0.0.1:3000/hook");

function event(id: string): WebhookEvent {
  const request = webhook(APP.href, record());
  const judgement = judge(request, { keys: [], policy: DEFAULT_POLICY, now: AT });
  return { type: "event", id, receivedAt: AT, repeated: false, request, ...judgement };
}

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
      warnings = [],
    }: {
      covered?: string[];
      added?: [string, string][];
      sent?: readonly HeaderLine[];
      warnings?: WebhookEvent["verdict"]["warnings"];
    },
  ): Promise<(readonly [string, string])[]> {
    const { request, verdict } = event("a");
    const requests: HttpRequest[] = [];
    const send: Send = async (forwarded) => {
      requests.push(forwarded);
      return { status: 200, headers: [], body: new Uint8Array() };
    };
    const options = {
      deliver: deliverOver(send),
      now: () => AT,
      headers: added,
      insecure: false,
      timers: SYSTEM_TIMERS,
      timeout: 8_000,
      keys: () => [],
    };
    const forged = { ...request, headers: [...request.headers, ...SENT, ...sent] };
    const judged = {
      ...verdict,
      verdict: covered.length > 0 ? "valid" : verdict.verdict,
      covered,
      warnings,
    } as const;
    await makeAttempt({ request: forged, verdict: judged, receivedAt: AT }, APP, options);
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

  it("leave out what frameworks trust or use in place of other fields", async () => {
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

  it("keep those of the webhook and its trace context, even if Connection names them", async () => {
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

  it("have those of --forward-header in place of the sender's", async () => {
    const added: [string, string][] = [
      ["x-shop", "mine"],
      ["X-Shop", "second"],
      ["host", "app.example"],
      ["X_Forwarded_Host", "own"],
    ];
    const names = ["x-shop", "host", "x-forwarded-host", "x_forwarded_host"];
    expect(await linesOf(names, { added })).toEqual(added);
  });

  it("have paylink's own warning, and none written by a sender or --forward-header", async () => {
    const names = ["paylink-warning", "paylink_warning"];
    const sent: HeaderLine[] = [
      ["Paylink-Warning", "forged"],
      ["paylink_warning", "forged"],
    ];
    expect(await linesOf(names, { sent })).toEqual([]);
    expect(await linesOf(names, { sent, covered: names })).toEqual([]);
    expect(await linesOf(names, { sent, covered: names, warnings: ["order_paid_before"] })).toEqual([
      ["paylink-warning", "order_paid_before"],
    ]);
    expect(["paylink-warning", "Paylink_Warning", "Host", "X-Shop"].map(mayAdd)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});
