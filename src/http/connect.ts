/** How connections are made: names of this machine, and both families of addresses. */
import { lookup, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { isLoopback } from "../values/addresses.ts";

/**
 * Milliseconds that one address of a name may take while there is another one. Node's own 250 are less than a connection takes
 * across a slow network, and then none of them is reached.
 */
const ATTEMPT_TIMEOUT = 1_000;

/** Milliseconds to connect, through a proxy too. */
export const CONNECT_TIMEOUT = 10_000;

/** Options of `net.connect` for every connection. */
export const CONNECT_OPTIONS = {
  lookup: lookUp,
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: ATTEMPT_TIMEOUT,
} as const;

/** Both, whatever the resolver knows (RFC 6761 6.3): an application may listen at one of them alone. */
const LOOPBACK: LookupAddress[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

function lookUp(...[name, options, callback]: Parameters<LookupFunction>): void {
  if (!isLoopback(name)) lookup(name, options, callback);
  else callback(null, LOOPBACK);
}
