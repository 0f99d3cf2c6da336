/** The address that a webhook was sent to, which `@scheme`, `@authority`, `@target-uri` and `@path` are checked against. */
import { isLoopback } from "../values/addresses.ts";
import { addressOf, fieldLines, type RequestHead } from "../http/message.ts";

/** Where the service posts to: the public address, or the listener's own. */
export type ReceiverAddress =
  | {
      readonly kind: "public";
      readonly scheme: "http" | "https";
      readonly authority: string;
      readonly path: string;
      /** The paths that the receiver receives on; empty if none was given. */
      readonly received: readonly string[];
    }
  | {
      readonly kind: "own";
      readonly scheme: "http" | "https";
      /** The addresses that reach it, besides any loopback name. */
      readonly hosts: readonly string[];
      readonly port: number;
    };

type PublicAddress = Extract<ReceiverAddress, { kind: "public" }>;

export function publicAddress(url: URL, received: readonly string[] = []): PublicAddress {
  const { scheme, authority } = addressOf(url);
  return { kind: "public", scheme, authority, path: url.pathname, received };
}

/**
 * The head as the service addressed it. A public URL wins over the message; forwarding headers are never trusted.
 * Without a public URL, `Host` is used if it names this listener. Otherwise the authority is empty, and a signature
 * that covers it cannot verify.
 */
export function addressed<Head extends RequestHead>(head: Head, address: ReceiverAddress): Head {
  const { scheme } = address;
  if (address.kind === "public")
    return { ...head, scheme, authority: address.authority, target: publicTarget(head.target, address) };
  const [host = ""] = fieldLines(head.headers, "host");
  const authority = namesListener(host, address) ? host : "";
  // Most heads say so already, and a copy would take as long as all else here (listen bench).
  return head.scheme === scheme && head.authority === authority ? head : { ...head, scheme, authority };
}

/**
 * The target that the service posted to. Each path that arrives has one, by the configuration alone and never by what a sender says
 * or what would verify: that of the public URL where a proxy changed it, else the path as received. The query is always the
 * received one.
 */
export function publicTarget(target: string, address: PublicAddress): string {
  const [path = ""] = target.split("?", 1);
  const isChanged = path.startsWith("/") && (address.path.endsWith(path) || isMapped(path, address));
  return isChanged ? address.path + target.slice(path.length) : target;
}

/**
 * A proxy maps the public path to one that has nothing in common with it. Where the listener receives on the public path too, or
 * the public URL has no path, each path stands for itself. Without a path to receive on, only a proxy that strips the whole path
 * is understood.
 */
function isMapped(path: string, { path: publicPath, received }: PublicAddress): boolean {
  if (received.length === 0) return path === "/";
  return publicPath !== "/" && received.includes(path) && !received.includes(publicPath);
}

/** A hint that a proxy may have changed the address; the signature may have failed for another reason. */
export function addressHint({ authority, target, headers }: RequestHead): string | undefined {
  const [prefix = ""] = fieldLines(headers, "x-forwarded-prefix");
  const [path = ""] = target.split("?", 1);
  if (/^(?:\/[\w.~-]+)+$/.test(prefix) && !path.startsWith(`${prefix}/`))
    return `a proxy stripped ${prefix} from the path. Give the full address: --public-url https://<host>${prefix}${path}`;
  return authority === ""
    ? "Host does not name this listener. Give the public address: --public-url <url>"
    : undefined;
}

/**
 * Against DNS rebinding: the name of a web page that resolves to 127.0.0.1 arrives as the Host. Only a program that is no
 * browser sends none.
 */
export const namesLoopback = (authority: string): boolean =>
  authority === "" || isLoopback(authority.toLowerCase().replace(/:\d+$/, ""));

function namesListener(host: string, own: Extract<ReceiverAddress, { kind: "own" }>): boolean {
  const [, name = "", port = own.scheme === "https" ? "443" : "80"] = /^(.*?)(?::(\d+))?$/.exec(host) ?? [];
  if (Number(port) !== own.port) return false;
  return (
    isLoopback(name.toLowerCase()) ||
    own.hosts.some((known) => bracketed(known).toLowerCase() === name.toLowerCase())
  );
}

const bracketed = (address: string): string => (address.includes(":") ? `[${address}]` : address);
