/** The negative vectors against a real socket: each is refused with its status and reported with its reason. */
import { describe, expect, it } from "vitest";
import { serve } from "../../src/http/serve.ts";
import type { Server } from "../../src/http/exchange.ts";
import type { Rejection, WebhookEvent } from "../../src/receiver/events.ts";
import { publicAddress } from "../../src/receiver/address.ts";
import { createMemoryLog } from "../../src/receiver/memory-log.ts";
import { startReceiver } from "../../src/receiver/receiver.ts";
import { statusOf } from "../support/post.ts";
import { rawRequest, vectorFile, type WebhookCase, webhookOptions } from "../support/vectors.ts";

/** A payload case is authentic, and broken: the strict receiver refuses it for the violation. */
interface MessageCase extends WebhookCase {
  readonly expected: WebhookCase["expected"] & {
    readonly violation?: string;
    readonly http_status_strict?: number;
  };
}

/** Raw requests are for the tests of admission. */
const messages = vectorFile<{ cases: (MessageCase | { readonly raw_base64: string })[] }>(
  "webhook-negative",
).cases.filter((one): one is MessageCase => !("raw_base64" in one));

const seen: (WebhookEvent | Rejection)[] = [];

async function start(vector: WebhookCase, path: string): Promise<Server> {
  const { keys, now, policy } = webhookOptions(vector);
  let id = 0;
  return startReceiver({
    serve,
    host: "127.0.0.1",
    port: 0,
    paths: [path],
    publicAddress: () => publicAddress(new URL(vector.context.public_url ?? "https://merchant.example/")),
    maxBody: 1024 * 1024,
    keys: () => keys,
    policy,
    strict: true,
    unverified: false,
    log: createMemoryLog(),
    now: () => new Date(now * 1000),
    newId: () => String(id++),
    observe: (outcome) => seen.push(outcome),
    faulted: (error) => {
      throw error;
    },
  });
}

describe("messages over a socket", () => {
  it.each(messages)("$id: $title", async (vector) => {
    const { target } = vector.request;
    const server = await start(vector, target.split(/[?#]/)[0] ?? "/");
    seen.length = 0;
    const isEncoded = vector.request.headers.some(([name]) => /^content-encoding$/i.test(name));
    const { code, http_status, violation = code, http_status_strict = http_status } = vector.expected;
    const [status, reason] = isEncoded
      ? [415, "unsupported_content_coding"]
      : [http_status_strict, violation];
    try {
      expect([await statusOf(server.port, rawRequest(vector)), seen]).toMatchObject([
        status,
        [{ type: "rejected", code: reason, status }],
      ]);
    } finally {
      await server.close();
    }
  });
});
