/** The machines that the sandbox answers to and posts to. */
import { isLoopback } from "../domain/addresses.ts";

export interface AllowedHosts {
  /** Every machine. */
  readonly allowRemote: boolean;
  /** Names besides those of loopback, as `URL.hostname` spells them. */
  readonly allowedHosts: readonly string[];
}

/** Whether the host was named: by the user, or because it is this machine. */
export const isNamed = (hostname: string, { allowedHosts }: AllowedHosts): boolean =>
  isLoopback(hostname) || allowedHosts.includes(hostname);

export const isAllowed = (hostname: string, hosts: AllowedHosts): boolean =>
  hosts.allowRemote || isNamed(hostname, hosts);
