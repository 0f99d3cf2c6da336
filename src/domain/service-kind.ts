/** What kind of service an address belongs to: one that moves money, a test service, or a sandbox. */
import { isLoopback, parseWebAddress } from "./web-address.ts";

/** What happens to money there: `LIVE` moves it. */
export type ServiceKind = "LIVE" | "TEST" | "sandbox";

const TEST_HOSTS: readonly string[] = ["test-api.dnapayments.com"];

/** A service on this machine is a sandbox; one that is not known as a test service moves money. */
export function serviceKind(baseUrl: string): ServiceKind {
  const { hostname = "" } = parseWebAddress(baseUrl) ?? {};
  if (isLoopback(hostname)) return "sandbox";
  return TEST_HOSTS.includes(hostname) ? "TEST" : "LIVE";
}
