/** The address that a webhook was sent to, which `@scheme`, `@authority`, `@target-uri` and `@path` are checked against. */
import { addressOf, fieldLines, type RequestHead } from "../http/message.ts";

/** Where the service posts to: the public address, or the listener's own. */
export type ReceiverAddress =
  | {
      readonly kind: "public";
      readonly scheme: "http" | "https";
      readonly authority: string;
      readonly path: string;
    }
  | {
      readonly kind: "own";
      readonly scheme: "http" | "https";
      /** The addresses that reach it, besides any loopback name. */
      readonly hosts: readonly string[];
      readonly port: number;
    };

export function publicAddress(url: URL): ReceiverAddress {
  const { scheme, authority } = addressOf(url);
  return { kind: "public", scheme, authority, path: url.pathname };
}

const LOOPBACK_NAMES = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

/**
 * The head as the service addressed it. A public URL wins over the message; forwarding headers are never trusted.
 * Without a public URL, `Host` is used if it names this listener. Otherwise the authority is empty, and a signature
 * that covers it cannot verify.
 */
export function addressed<Head extends RequestHead>(head: Head, address: ReceiverAddress): Head {
  const { scheme } = address;
  if (address.kind === "public")
    return { ...head, scheme, authority: address.authority, target: publicTarget(head.target, address.path) };
  const [host = ""] = fieldLines(head.headers, "host");
  return { ...head, scheme, authority: namesListener(host, address) ? host : "" };
}

/** The target as received, unless a proxy stripped a prefix from its path: then the public path ends in that path. */
export function publicTarget(target: string, publicPath: string): string {
  const [path = ""] = target.split("?", 1);
  return path.startsWith("/") && publicPath.endsWith(path) ? publicPath + target.slice(path.length) : target;
}

/** A hint that a proxy may have changed the address; the signature may have failed for another reason. */
export function addressHint({ authority, target, headers }: RequestHead): string | undefined {
  const [prefix = ""] = fieldLines(headers, "x-forwarded-prefix");
  const [path = ""] = target.split("?", 1);
  if (/^(?:\/[\w.~-]+)+$/.test(prefix) && !path.startsWith(`${prefix}/`))
    return `a proxy stripped ${prefix} from the path. Give the whole address: --public-url https://<host>${prefix}${path}`;
  return authority === ""
    ? "Host does not name this listener. Give the public address: --public-url <url>"
    : undefined;
}

function namesListener(host: string, own: Extract<ReceiverAddress, { kind: "own" }>): boolean {
  const [, name = "", port = own.scheme === "https" ? "443" : "80"] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  if (Number(port) !== own.port) return false;
  return (
    LOOPBACK_NAMES.test(name) ||
    own.hosts.some((known) => bracketed(known).toLowerCase() === name.toLowerCase())
  );
}

const bracketed = (address: string): string => (address.includes(":") ? `[${address}]` : address);
