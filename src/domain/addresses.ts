/** Addresses: http(s) URLs, those that paylink uses on this machine by default, URLs of databases, and where keys come from. */
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

/**
 * The text without the passwords of its URLs, also of those that cannot be read: a password that was pasted unescaped may
 * have any character, and ends at the last `@`.
 */
export const withoutPassword = (text: string): string =>
  text
    .split(/(?<![^\s"'(=])(?=[a-z][a-z\d+.-]*:\/\/)/i)
    .map(withoutUserPassword)
    .map(withoutSecretParameters)
    .join("");

/** `text` has one URL, at its start. */
function withoutUserPassword(text: string): string {
  // A token of NATS stands where others have a user.
  const hidden = text.replace(/^((?:nats|tls):\/\/)[^/?#@:\s]+@/i, "$1[redacted]@");
  if (hidden !== text) return hidden;
  const readable = text.replace(/^([^:]+:\/\/[^/?#@:\s]*:)[^/?#@\s]*@(?!\S*@)/, "$1[redacted]@");
  if (readable !== text) return readable;
  const [, before = "", host = "", rest = ""] = /^([^:]+:\/\/([^/?#@:[\s]*):)(.*)@/is.exec(text) ?? [];
  if (before === "" || (/^https?:/i.test(text) && isHost(host) && PORT.test(rest))) return text;
  return `${before}[redacted]${text.slice(before.length + rest.length)}`;
}

const PORT = /^\d*(?:[/?#\s,;.)"']|$)/;

/** Whether it is a host rather than the name of a user: `localhost`, a name with a dot, or an IPv4 address. */
const isHost = (text: string): boolean => text.toLowerCase() === "localhost" || text.includes(".");

/** Without what follows the name of a secret in a query, up to the end of the URL: a secret may have an `&`. */
function withoutSecretParameters(text: string): string {
  for (const { 0: name, 1: spelled = "", index } of text.matchAll(/[?&]([^=?&#\s]+)=/g)) {
    if (!/pass(?:word|wd|phrase)?$|^pwd$|secret$/i.test(decodedPart(spelled) ?? spelled)) continue;
    const start = index + name.length;
    return text.slice(0, start) + text.slice(start).replace(/^\S+/, "[redacted]");
  }
  return text;
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

export const LISTENER_PORT = 4000;
export const LISTENER_URL = `http://127.0.0.1:${LISTENER_PORT}/`;

export const SANDBOX_PORT = 4010;
/** Without a final slash, as profiles store it. */
export const SANDBOX_URL = `http://127.0.0.1:${SANDBOX_PORT}`;

/** The profile that `paylink sandbox` writes. */
export const SANDBOX_PROFILE = "sandbox";

/**
 * Whether a URL with a password can be read. One that was pasted unescaped may have a `%` that begins no escape, or end the
 * host too early: the rest of the URL then has the `@`.
 */
export function isReadableUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, username, password, pathname, search, hash } = new URL(text);
  const isDecodable = [hostname, username, password, pathname].every(
    (part) => decodedPart(part) !== undefined,
  );
  return isDecodable && !`${pathname}${search}${hash}`.includes("@");
}

/** A part of a URL without its escapes; undefined where a `%` begins none. */
export function decodedPart(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/**
 * Whether the text is meant as a key, and not as its file or URL: PEM, JSON, what OpenSSH or XML hold, or any of them in base64 or
 * hexadecimal, in quotes too. A variable may hold its line breaks as `\n`. What has a line break is no name of a file.
 */
export function isKeyText(source: string): boolean {
  const text = source.trim().replace(/^["'`]/, "");
  if (text.includes("-----BEGIN ") || /[\r\n]/.test(text)) return true;
  if (/^(?:\{|\[\s*[{"\\]|<|ssh-|ecdsa-sha2-|---- BEGIN)/.test(text)) return true;
  const compact = text.replace(/\s+|\\+[rn]|["'`]$/g, "");
  const isPlace = /^(?:[./~\\]|[a-z]:|https?:)/i.test(text);
  return ENCODED_KEYS.some((pattern) => pattern.test(compact)) || (!isPlace && text.length > 255);
}

/** DER in base64; and PEM, JSON or DER, each by its first characters. What is longer than any name may be a damaged key. */
const ENCODED_KEYS = [
  /^M[A-P][\w+/=-]{50,}$/,
  /^(?:LS0t|eyJ|ewo|ew0K|W3s|Wwo|WyJ|30[\da-f]{2})[\w+/=-]{100,}$/,
];
