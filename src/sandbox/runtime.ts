/** What the sandbox's routes use: what it is made of, with its access tokens, its deliveries and its requests. */
import { createAccessTokens } from "./access.ts";
import { createDeliveries } from "./deliveries.ts";
import { createFaults } from "./faults.ts";
import type { SandboxSetup } from "./setup.ts";
import { createRequestLog } from "./requests.ts";

export type SandboxRuntime = ReturnType<typeof createRuntime>;

export const createRuntime = (setup: SandboxSetup) => ({
  ...setup,
  tokens: createAccessTokens(setup),
  deliveries: createDeliveries(setup),
  requests: createRequestLog(setup),
  faults: createFaults(setup.fail),
});
