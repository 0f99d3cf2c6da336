/** Passwords in URLs: texts without them, and URLs that a password makes unreadable. */
import { REDACTED } from "./secrets.ts";

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
  const hidden = text.replace(/^((?:nats|tls):\/\/)[^/?#@:\s]+@/i, `$1${REDACTED}@`);
  if (hidden !== text) return hidden;
  const readable = text.replace(/^([^:]+:\/\/[^/?#@:\s]*:)[^/?#@\s]*@(?!\S*@)/, `$1${REDACTED}@`);
  if (readable !== text) return readable;
  const [, before = "", host = "", rest = ""] = /^([^:]+:\/\/([^/?#@:[\s]*):)(.*)@/is.exec(text) ?? [];
  if (before === "" || (/^https?:/i.test(text) && isHost(host) && PORT_FORM.test(rest))) return text;
  return `${before}${REDACTED}${text.slice(before.length + rest.length)}`;
}

const PORT_FORM = /^\d*(?:[/?#\s,;.)"']|$)/;

/** Whether it is a host rather than the name of a user: `localhost`, a name with a dot, or an IPv4 address. */
const isHost = (text: string): boolean => text.toLowerCase() === "localhost" || text.includes(".");

/** Without what follows the name of a secret in a query, up to the end of the URL: a secret may have an `&`. */
function withoutSecretParameters(text: string): string {
  for (const { 0: name, 1: spelled = "", index } of text.matchAll(/[?&]([^=?&#\s]+)=/g)) {
    if (!/pass(?:word|wd|phrase)?$|^pwd$|secret$/i.test(decodedPart(spelled) ?? spelled)) continue;
    const start = index + name.length;
    return text.slice(0, start) + text.slice(start).replace(/^\S+/, REDACTED);
  }
  return text;
}

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
