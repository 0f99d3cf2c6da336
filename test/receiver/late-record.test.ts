/** Where the record of a webhook is read: in the log, which has a thread for it, and not before. */
import { expect, it } from "vitest";
import type { EventLog } from "../../src/events/event.ts";
import { createMemoryLog } from "../../src/receiver/memory-log.ts";
import { publicJwk } from "../../src/signatures/keys.ts";
import { KEYS } from "../support/keys.ts";
import { startTestReceiver } from "../support/receiver.ts";
import { keysOf } from "../support/vectors.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const keys = keysOf(JSON.stringify({ keys: [publicJwk(KEYS.publicKey, "key")] }));

it.each([
  ["accepts any terminal", [], null],
  ["accepts one", ["T-1"], "T-1"],
])("a receiver that %s", async (_, terminals, read) => {
  let terminal: unknown;
  const log: EventLog = {
    ...createMemoryLog(),
    append: async ({ id, request, content }) => {
      // A record that is read now has none of its members.
      request.body.fill(" ".charCodeAt(0)).set(new TextEncoder().encode("{}"));
      terminal = content.record?.["terminalId"] ?? null;
      return { repeated: false, first: id, state: null };
    },
  };
  const { server } = await startTestReceiver({ keys: async () => keys, terminals, log });
  const sent = webhook(server.url, record({ terminalId: "T-1" }), {
    key: { keyid: "key", key: KEYS.privateKey },
  });
  expect(await post(server.url, sent)).toBe(200);
  expect(terminal).toBe(read);
});
