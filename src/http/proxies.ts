/** Which requests go through a proxy: HTTPS_PROXY, and the hosts that NO_PROXY names. */
import { BlockList, isIP } from "node:net";
import { isLoopback, parseWebAddress, portOf } from "../values/addresses.ts";
import type { Environment } from "../values/typed-text.ts";
import { isReadableUrl, withoutPassword } from "../values/url-passwords.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";

export interface ProxySettings {
  readonly httpsProxy: string | undefined;
  readonly noProxy: string | undefined;
}

/** The variables in either case. White space around a value is no part of it, and an empty one counts as absent. */
export function proxiesOf(env: Environment): ProxySettings {
  const valueOf = (name: string): string | undefined =>
    env[name]?.trim() || env[name.toLowerCase()]?.trim() || undefined;
  return { httpsProxy: valueOf("HTTPS_PROXY"), noProxy: valueOf("NO_PROXY") };
}

/**
 * The variables by which a program reaches this machine without a proxy, in both cases; none if no proxy is set. Many programs, such as curl
 * and Python, send requests to loopback through it otherwise.
 */
export function withDirectLoopback(env: Environment): Environment {
  const isSet = (name: string): boolean => Boolean(env[name]?.trim() || env[name.toLowerCase()]?.trim());
  const { noProxy } = proxiesOf(env);
  // curl takes a star for every host only where it stands alone.
  if (!["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].some(isSet) || noProxy === "*") return {};
  const exempt = [...(noProxy === undefined ? [] : [noProxy]), "localhost", "127.0.0.1", "::1"].join(",");
  return { NO_PROXY: exempt, no_proxy: exempt };
}

/** The URL of the proxy that carries a request to this URL; undefined for a direct connection. Throws `usage`. */
export function proxyFor(url: URL, { httpsProxy, noProxy = "" }: ProxySettings): string | undefined {
  if (url.protocol !== "https:" || !httpsProxy) return undefined;
  return isLoopback(url.hostname) || isExempt(url, noProxy) ? undefined : proxyAddress(httpsProxy);
}

/** The URL of a proxy, which may be written without its scheme. */
function proxyAddress(text: string): string {
  const address = text.includes("://") ? text : `http://${text}`;
  const url = isReadableUrl(address) ? parseWebAddress(address) : undefined;
  // What follows the host is the rest of a password that was not escaped.
  if (url !== undefined && url.pathname + url.search + url.hash === "/") return address;
  throw new PaylinkError(
    "usage",
    `HTTPS_PROXY is not the address of an http:// or https:// proxy (got "${withoutPassword(address)}").`,
    {
      hints: [
        hint`Write it as http://<user>:<password>@<host>:<port>. In the password, write %23 for # and %2F for /.`,
      ],
    },
  );
}

/** NO_PROXY has hosts, domains, addresses and ranges of addresses, each with a port or without, as curl and Go read it. */
function isExempt(url: URL, noProxy: string): boolean {
  const host = url.hostname.replace(/\.$/, "");
  const address = host.replace(/^\[(.*)\]$/, "$1");
  return noProxy.split(/[\s,;]+/).some((entry) => {
    const [, named = "", port = String(portOf(url))] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [
      "",
      entry,
    ];
    if (named === "" || port !== String(portOf(url))) return false;
    const name = named.toLowerCase().replace(/^\[([^\]]*)\]/, "$1");
    return isIP(address) === 0 ? isInDomain(host, name) : isInRange(address, name);
  });
}

/** `example.com`, `.example.com` and `*.example.com` are the domain with every host in it. */
function isInDomain(host: string, name: string): boolean {
  const domain = name.replace(/^\*?\./, "").replace(/\.$/, "");
  return domain === "*" || host === domain || host.endsWith(`.${domain}`);
}

/** `10.0.0.0/8`, `fd00::/8`, `10.0.0.5`, or the beginning of an address: `10.0.*`. */
function isInRange(address: string, range: string): boolean {
  const [network = "", bits = isIP(network) === 6 ? "128" : "32"] = range.split("/");
  const version = isIP(network);
  if (version === 0) return range.endsWith("*") && address.startsWith(range.slice(0, -1));
  const most = version === 6 ? 128 : 32;
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > most) return false;
  const block = new BlockList();
  block.addSubnet(network, Number(bits), version === 6 ? "ipv6" : "ipv4");
  return block.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}
