/** An event log that keeps nothing but what it takes to know a repeated delivery. */
import { createHash } from "node:crypto";
import { isTaken, type EventLog } from "./events.ts";

/** How many events are remembered: a repeat comes within hours, and memory stays bounded. */
const REMEMBERED = 100_000;

export function createMemoryLog(): EventLog {
  const firsts = new Map<string, string>();
  const taken = new Set<string>();
  const forgetOldest = (): void => {
    const [oldest] = firsts;
    if (oldest === undefined || firsts.size < REMEMBERED) return;
    firsts.delete(oldest[0]);
    taken.delete(oldest[1]);
  };
  return {
    append: async ({ id, request }) => {
      // The body holds the uti: the same bytes are the same record.
      const key = createHash("sha256").update(request.body).digest("base64");
      const first = firsts.get(key);
      if (first !== undefined) return { repeated: true, first, taken: taken.has(first) };
      forgetOldest();
      firsts.set(key, id);
      return { repeated: false, first: id, taken: false };
    },
    reject: () => undefined,
    forwarded: async (first, { status }) => {
      if (isTaken(status)) taken.add(first);
    },
  };
}
