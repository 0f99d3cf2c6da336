/** The vectors against a real socket: each is answered with its status, and reported with its outcome or its reason. */
import { expect, it } from "vitest";
import { outcomeOf } from "../../src/domain/transaction.ts";
import { publicAddress } from "../../src/receiver/address.ts";
import { exchangeRaw, statusOf } from "../support/raw-client.ts";
import { startTestReceiver } from "../support/receiver.ts";
import {
  deliveryCases,
  keysOf,
  rawRequest,
  vectorFile,
  type WebhookCase,
  webhookOptions,
} from "../support/vectors.ts";

/** A payload case is authentic, and broken: the strict receiver refuses it for the violation. */
interface MessageCase extends WebhookCase {
  readonly expected: WebhookCase["expected"] & {
    readonly violation?: string;
    readonly http_status_strict?: number;
  };
}

/** What no HTTP library would send. */
interface RawCase {
  readonly id: string;
  readonly title: string;
  readonly raw_base64: string;
  readonly expected: { readonly code: string; readonly http_status: number };
}

const { cases } = vectorFile<{ cases: (MessageCase | RawCase)[] }>("webhook-negative");
const isRaw = (one: MessageCase | RawCase): one is RawCase => "raw_base64" in one;
const messages = cases.filter((one): one is MessageCase => !isRaw(one));

it.each(messages)("$id: $title", async (vector) => {
  const { target, headers } = vector.request;
  const { keys, now, policy } = webhookOptions(vector);
  const { server, seen } = await startTestReceiver({
    paths: [target.split(/[?#]/)[0] ?? "/"],
    publicAddress: () => publicAddress(new URL(vector.context.public_url ?? "https://merchant.example/")),
    keys: async () => keys,
    policy,
    strict: true,
    terminals: [],
    now: () => new Date(now * 1000),
  });
  const isEncoded = headers.some(([name]) => /^content-encoding$/i.test(name));
  const { code, http_status, violation = code, http_status_strict = http_status } = vector.expected;
  const [status, reason] = isEncoded ? [415, "unsupported_content_coding"] : [http_status_strict, violation];
  expect([await statusOf(server.port, rawRequest(vector)), seen]).toMatchObject([
    status,
    [{ type: "rejected", code: reason, status }],
  ]);
});

it.each(deliveryCases())("$id: $title", async (vector) => {
  const { keys, now } = webhookOptions(vector);
  const { server, seen } = await startTestReceiver({
    paths: [vector.request.target],
    keys: async () => keys,
    now: () => new Date(now * 1000),
  });
  const { http_status: status, code, warnings, outcome, violations = [] } = vector.expected;
  expect(await statusOf(server.port, rawRequest(vector))).toBe(status);
  const [found] = seen;
  if (outcome === undefined) return expect(seen).toMatchObject([{ type: "rejected", code, status }]);
  expect(seen).toMatchObject([{ type: "event", verdict: { code, warnings } }]);
  const content = found?.type === "event" ? found.content : undefined;
  expect(outcomeOf(content?.record ?? null)).toBe(outcome);
  expect(content?.violations.map((one) => one.code)).toEqual(violations);
});

it.each(cases.filter(isRaw))("$id: $title", async ({ raw_base64, expected }) => {
  const { server, codes } = await startTestReceiver({
    paths: ["/webhooks/paylink"],
    keys: async () => keysOf(messages[0]?.context.public_key_pem ?? ""),
  });
  const answer = await exchangeRaw(server.url, Buffer.from(raw_base64, "base64"));
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${expected.http_status} `));
  expect(codes()).toEqual([expected.code]);
});
