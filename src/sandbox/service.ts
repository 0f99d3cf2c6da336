/** What the sandbox's routes use: its parts with its access tokens, its deliveries and its subscribers. */
import { createAccessTokens } from "./access.ts";
import { createDeliveries } from "./deliveries.ts";
import type { SandboxParts } from "./parts.ts";

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
    deliveries: createDeliveries(parts),
    /** Tells open pages that something they may show has changed; each unit of the ledger tells it by itself. */
    announce,
    /** Calls back at each change until the returned function is called. */
    subscribe: (onChange: () => void) => {
      subscribers.add(onChange);
      return () => void subscribers.delete(onChange);
    },
  };
}
