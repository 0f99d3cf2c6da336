/** Which address a webhook was sent to: what `@scheme`, `@authority` and `@target-uri` are checked against. */
import { fieldLines, type RequestHead } from "../http/message.ts";

/** Where the service posts to: the public address, or the listener's own. */
export type ReceiverAddress =
  | { readonly kind: "public"; readonly scheme: "http" | "https"; readonly authority: string }
  | {
      readonly kind: "own";
      readonly scheme: "http" | "https";
      /** The addresses it can be reached by; a loopback name always is one more. */
      readonly hosts: readonly string[];
      readonly port: number;
    };

/** The address part of a public URL. Path and query stay with the request line, so they are not kept. */
export function publicAddress(url: URL): ReceiverAddress {
  return { kind: "public", scheme: url.protocol === "http:" ? "http" : "https", authority: url.host };
}

const LOOPBACK_NAMES = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

/**
 * The head as addressed to this receiver. A public URL wins over whatever the message says, and forwarding headers
 * are never believed. Without one, `Host` is taken where it names this listener; where it names another, the
 * authority is left empty, and a signature that covers it cannot verify.
 */
export function addressed<Head extends RequestHead>(head: Head, address: ReceiverAddress): Head {
  if (address.kind === "public") return { ...head, scheme: address.scheme, authority: address.authority };
  const [host = ""] = fieldLines(head.headers, "host");
  return { ...head, scheme: address.scheme, authority: namesListener(host, address) ? host : "" };
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
