/** An event log for `--no-store`: it remembers only enough to recognise a repeated delivery. */
import { createHash } from "node:crypto";
import { type EventLog, firstDelivery, isAccepted, type StoreResult } from "./events.ts";

/** The most events to remember: repeats arrive within hours, and memory must stay bounded. */
const MAX_REMEMBERED = 100_000;

export function createMemoryLog(): EventLog {
  const firsts = new Map<string, string>();
  const accepted = new Set<string>();
  const dropOldest = (): void => {
    const [oldest] = firsts;
    if (oldest === undefined || firsts.size < MAX_REMEMBERED) return;
    firsts.delete(oldest[0]);
    accepted.delete(oldest[1]);
  };
  const known = (first: string): StoreResult => ({
    ...firstDelivery(first),
    repeated: true,
    accepted: accepted.has(first),
  });
  return {
    append: async ({ id, request }) => {
      // The body contains the uti, so equal bytes are the same record.
      const key = createHash("sha256").update(request.body).digest("base64");
      const first = firsts.get(key);
      if (first !== undefined) return known(first);
      dropOldest();
      firsts.set(key, id);
      return firstDelivery(id);
    },
    lookUp: async (first) => known(first),
    reject: async () => undefined,
    forwarded: async (first, { status }) => {
      if (isAccepted(status)) accepted.add(first);
    },
  };
}
