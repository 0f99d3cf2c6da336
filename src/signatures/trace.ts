/** Where each line of a signature base comes from: a header line, the request line or the address. */

import type { HttpRequest } from "../http/message.ts";

export interface TracedLine {
  /** The line exactly as in the base. */
  readonly line: string;
  readonly origin: string;
}

/** `address` says where scheme and authority were taken from. */
export function traceBase(base: string | null, request: HttpRequest, address: string): TracedLine[] {
  if (base === null) return [];
  return base.split("\n").map((line) => ({ line, origin: originOf(line, request, address) }));
}

function originOf(line: string, request: HttpRequest, address: string): string {
  const [, name = ""] = /^"([^"]*)"/.exec(line) ?? [];
  if (name.startsWith("@")) return DERIVED[name]?.(address) ?? "the request line: its target";
  const { headers } = request;
  const places = headers.flatMap(([spelled], at) => (spelled.toLowerCase() === name ? [at] : []));
  const spelled = headers[places[0] ?? 0]?.[0] ?? name;
  return `header ${places.length > 1 ? "lines" : "line"} ${places.map((at) => at + 1).join(", ")}: ${spelled}`;
}

const DERIVED: Readonly<Record<string, (address: string) => string>> = {
  "@method": () => "the request line: its method",
  "@target-uri": (address) => `scheme and authority from ${address}; the target from the request line`,
  "@authority": (address) => address,
  "@scheme": (address) => address,
  "@signature-params": () => "Signature-Input: the text after the label",
};
