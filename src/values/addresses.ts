/** Addresses: http(s) URLs, how they are compared, and which of them lead to this machine. */
import { accepted, refused, type Parsed } from "./parse-result.ts";

/** Whether the text is an absolute http(s) URL without white space and control characters. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}/\\][^\s\p{Cc}]*$/iu.test(text) && URL.canParse(text);
}

/** The URL; undefined for any other text. */
export function parseWebAddress(text: string): URL | undefined {
  return isWebAddress(text) ? new URL(text) : undefined;
}

export const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === "https:" ? 443 : 80));

/** The address of a server for this machine: one that is bound to every address is reached at loopback too. */
export const localAddress = (url: string): string =>
  url.replace(/^(https?:\/\/)(?:0\.0\.0\.0|\[::\])(?=[:/]|$)/, "$1127.0.0.1");

/** Whether a URL leads to the address of a receiver, whatever its query. */
export function leadsTo(url: string, address: string): boolean {
  const [one, other] = [url, address].map(withoutQuery);
  return one !== undefined && one === other;
}

function withoutQuery(text: string): string | undefined {
  const url = parseWebAddress(localAddress(text));
  if (url === undefined) return undefined;
  const host = isLoopback(url.hostname) ? "localhost" : url.hostname;
  return `${url.protocol}//${host}:${url.port}${url.pathname}`;
}

/** An absolute http or https URL. */
export function parseUrl(text: string): Parsed<URL> {
  const url = parseWebAddress(text);
  return url === undefined
    ? refused("must be an absolute http or https URL, such as https://shop.example/webhooks")
    : accepted(url);
}

/**
 * The address with scheme and host in lower case and without its default port. The part after the host keeps its spelling:
 * `URL` would escape a `{placeholder}` in a path.
 */
export function normalAddress(url: URL, text: string): string {
  const [, user = "", rest = ""] = /^[^:]+:\/\/([^/?#\\]*@)?[^/?#\\]*(.*)$/.exec(text) ?? [];
  return `${url.protocol}//${user}${url.host}${rest}`;
}

/** One spelling for all addresses of a service: loopback addresses are one host, and a slash at the end is left out. */
export function canonicalAddress(text: string): string {
  const url = parseWebAddress(text);
  if (url === undefined) return text;
  // A name below localhost may be another service of the same proxy.
  if (isLoopback(url.hostname) && !url.hostname.includes(".localhost")) url.hostname = "localhost";
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}${url.search}`;
}

/**
 * `localhost` and the names below it (RFC 6761 6.3), 127.0.0.0/8 and ::1, as `URL.hostname` spells them. Any other name can point
 * anywhere.
 */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === "[::1]" ||
    /^(?:[^\s/]+\.)?localhost\.?$/.test(hostname) ||
    /^127(?:\.\d{1,3}){3}$/.test(hostname)
  );
}

/** The address that a server binds, as `URL.hostname` spells it: IPv6 in brackets. */
export const hostnameOf = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** Whether others can read what is sent there: plain http to another machine. */
export function isExposed(url: URL): boolean {
  return url.protocol === "http:" && !isLoopback(url.hostname);
}
