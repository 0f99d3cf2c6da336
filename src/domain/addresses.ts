/** Addresses: http(s) URLs, those that paylink uses on this machine by default, and URLs of databases. */

/** Whether the text is an absolute http(s) URL without white space and control characters. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}/\\][^\s\p{Cc}]*$/iu.test(text) && URL.canParse(text);
}

/** The URL; undefined for any other text. */
export function parseWebAddress(text: string): URL | undefined {
  return isWebAddress(text) ? new URL(text) : undefined;
}

/**
 * The address with scheme and host in lower case and without its default port. The part after the host keeps its spelling:
 * `URL` would escape a `{placeholder}` in a path.
 */
export function normalAddress(url: URL, text: string): string {
  const [, user = "", rest = ""] = /^[^:]+:\/\/([^/?#\\]*@)?[^/?#\\]*(.*)$/.exec(text) ?? [];
  return `${url.protocol}//${user}${url.host}${rest}`;
}

/**
 * The text without the passwords of URLs. A password that was pasted unescaped may have a slash or a space: the text after
 * the user's name is then not a port, and the password ends at the last `@`.
 */
export const withoutPassword = (text: string): string =>
  text
    .replace(/(:\/\/[^/?#@:\s]*:)[^/?#\s]*@/g, "$1[redacted]@")
    .replace(/(:\/\/[^/?#@:[\s]*:)(?!\d*(?:[/?#\s,;.)"']|$)|\[redacted\]@).*@/g, "$1[redacted]@")
    .replace(/([?&]password=)[^&#\s]*/g, "$1[redacted]");

/** One spelling for all addresses of a service: loopback addresses are one host, and a slash at the end is left out. */
export function canonicalAddress(text: string): string {
  const url = parseWebAddress(text);
  if (url === undefined) return text;
  if (isLoopback(url.hostname)) url.hostname = "localhost";
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}${url.search}`;
}

/** `localhost`, 127.0.0.0/8 and ::1, as `URL.hostname` spells them. Any other name can point anywhere. */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** The address that a server binds, as `URL.hostname` spells it: IPv6 in brackets. */
export const hostnameOf = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** Whether others can read what is sent there: plain http to another machine. */
export function isExposed(url: URL): boolean {
  return url.protocol === "http:" && !isLoopback(url.hostname);
}

export const LISTENER_PORT = 4000;
export const LISTENER_URL = `http://127.0.0.1:${LISTENER_PORT}/`;

export const SANDBOX_PORT = 4010;
/** Without a final slash, as profiles store it. */
export const SANDBOX_URL = `http://127.0.0.1:${SANDBOX_PORT}`;

/** The profile that `paylink sandbox` writes. */
export const SANDBOX_PROFILE = "sandbox";

/** Whether an event store is a database, and not a file. */
export const isDatabaseUrl = (text: string): boolean => /^postgres(?:ql)?:\/\//i.test(text);

/** Whether such a URL can be read. A password that was pasted unescaped may have a `%` that begins no escape. */
export function isReadableUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, username, password, pathname } = new URL(text);
  return [hostname, username, password, pathname].every(isDecodable);
}

function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** The passwords in such a URL, as they are spelled and decoded. */
export function passwordsIn(text: string): readonly string[] {
  if (!isDatabaseUrl(text) || !isReadableUrl(text)) return [];
  const { password, searchParams } = new URL(text);
  const found = [password, decodeURIComponent(password), searchParams.get("password") ?? ""];
  return [...new Set(found)].filter((one) => one !== "");
}
