/** What the sandbox's routes use: its parts with its access tokens, its deliveries and its subscribers. */
import { createAccessTokens } from "./access.ts";
import { createDeliveries } from "./deliveries.ts";
import type { SandboxParts } from "./parts.ts";
import { createRequestLog } from "./requests.ts";

export type Service = ReturnType<typeof createService>;

export function createService(given: SandboxParts) {
  const subscribers = new Set<() => void>();
  const announce = (): void => {
    for (const onChange of subscribers) onChange();
  };
  const write = async (unit: () => void): Promise<void> => {
    await given.ledger.write(unit);
    announce();
  };
  const parts: SandboxParts = { ...given, ledger: { ...given.ledger, write } };
  return {
    ...parts,
    tokens: createAccessTokens(parts.merchant, parts.newToken, () => parts.clock.now()),
    deliveries: createDeliveries(parts, announce),
    notices: createNotices(),
    requests: createRequestLog(parts.merchant, () => parts.clock.now(), parts.machineNow),
    /** Tells open pages that something they may show has changed; each unit of the ledger tells it by itself. */
    announce,
    /** Calls back at each change until the returned function is called. */
    subscribe: (onChange: () => void) => {
      subscribers.add(onChange);
      return () => void subscribers.delete(onChange);
    },
  };
}

/** Notices of finished actions that no page has shown yet. The newest are kept. */
const NOTICES = 100;

/** What an action tells the page after it: once, so not again when that page is loaded again. */
function createNotices() {
  const waiting = new Set<string>();
  let number = 0;
  return {
    /** Returns the notice for the address of the page. */
    add: (done: string): string => {
      const notice = `${done}.${++number}`;
      waiting.add(notice);
      for (const oldest of waiting) if (waiting.size > NOTICES) waiting.delete(oldest);
      return notice;
    },
    /** What was done; undefined if a page has told it. */
    take: (notice = ""): string | undefined =>
      waiting.delete(notice) ? notice.slice(0, notice.lastIndexOf(".")) : undefined,
  };
}
