/** What the sandbox's routes use: what it is made of, with its access tokens, its deliveries and its requests. */
import { createAccessTokens } from "./access.ts";
import { createDeliveries } from "./deliveries.ts";
import type { SandboxSetup } from "./setup.ts";
import { createRequestLog } from "./requests.ts";

export type SandboxRuntime = ReturnType<typeof createRuntime>;

export function createRuntime(setup: SandboxSetup) {
  const now = (): Date => setup.clock.now();
  return {
    ...setup,
    tokens: createAccessTokens(setup, setup.ids.newId, now),
    deliveries: createDeliveries(setup),
    requests: createRequestLog(setup.merchant, now, setup.machineNow),
  };
}
