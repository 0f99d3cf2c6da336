/** A receiver on a real socket for one test, without a store, a public address or an application; and what it saw. */
import { onTestFinished } from "vitest";
import { serve } from "../../src/http/serve.ts";
import type { Rejection, WebhookEvent } from "../../src/events/event.ts";
import { createMemoryLog } from "../../src/receiver/memory-log.ts";
import { startReceiver, type ReceiverOptions } from "../../src/receiver/receiver.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";

export async function startTestReceiver(parts: Pick<ReceiverOptions, "keys"> & Partial<ReceiverOptions>) {
  const seen: (WebhookEvent | Rejection)[] = [];
  const server = await startReceiver({
    serve,
    host: "127.0.0.1",
    port: 0,
    paths: ["/"],
    publicAddress: () => undefined,
    maxBody: 1024 * 1024,
    policy: DEFAULT_POLICY,
    strict: false,
    terminals: [],
    unverified: false,
    runKeys: () => [],
    log: createMemoryLog(),
    now: () => new Date(),
    newId: () => "id",
    observe: (outcome) => void seen.push(outcome),
    faulted: (error) => {
      throw error;
    },
    ...parts,
  });
  onTestFinished(() => server.close());
  const codes = () => seen.map((outcome) => (outcome.type === "rejected" ? outcome.code : "taken"));
  return { server, seen, codes };
}
