/** An event log that keeps nothing but what it takes to know a repeated delivery. */
import { createHash } from "node:crypto";
import type { EventLog } from "./events.ts";

/** How many deliveries are remembered: a repeat comes within hours, and memory stays bounded. */
const REMEMBERED = 100_000;

export function createMemoryLog(): EventLog {
  const seen = new Set<string>();
  return {
    append: async ({ request }) => {
      // The body holds the uti: the same bytes are the same record.
      const key = createHash("sha256").update(request.body).digest("base64");
      const repeated = seen.has(key);
      const [oldest] = seen;
      if (oldest !== undefined && !repeated && seen.size >= REMEMBERED) seen.delete(oldest);
      seen.add(key);
      return { repeated };
    },
  };
}
