/** What the sandbox's routes use: what it is made of, with its access tokens, its deliveries and its requests. */
import { kept } from "../pages/kept.ts";
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
  counts: ledgerCounts(setup),
});

/** What lists count and add up (sandbox bench). */
const ledgerCounts = ({ ledger, machineNow }: SandboxSetup) => ({
  links: kept(ledger.countLinks, machineNow),
  payments: kept(ledger.countPayments, machineNow),
  deliveries: kept(ledger.countDeliveries, machineNow),
  sums: kept(ledger.sumPayments, machineNow),
  paymentBars: kept(ledger.paymentBars, machineNow),
  deliveryBars: kept(ledger.deliveryBars, machineNow),
});
