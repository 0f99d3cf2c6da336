/** The derived components of RFC 9421 2.2, cut from the message as sent: parsing a URL would normalise it. */

import type { HttpRequest } from "../http/message.ts";
import { SignatureError } from "./verdict.ts";

export type RequestHead = Omit<HttpRequest, "body">;

/** The derived components of a request that need no parameter. */
export const REQUEST_COMPONENTS: ReadonlyMap<string, (request: RequestHead) => string> = new Map([
  ["@method", ({ method }: RequestHead) => method],
  ["@target-uri", targetUri],
  ["@authority", authority],
  ["@scheme", ({ scheme }: RequestHead) => scheme.toLowerCase()],
  ["@request-target", (request: RequestHead) => checkedTarget(request.target)],
  ["@path", (request: RequestHead) => pathAndQuery(request).path || "/"],
  ["@query", (request: RequestHead) => pathAndQuery(request).query || "?"],
]);

/** The one parameter of that name; `name` is compared in its encoded form (RFC 9421 2.2.8). */
export function queryParam(request: RequestHead, name: string): string {
  const values: string[] = [];
  for (const [key, value] of new URLSearchParams(pathAndQuery(request).query)) {
    if (encodeFormPart(key) === name) values.push(value);
  }
  const [value] = values;
  if (value === undefined)
    throw new SignatureError("component_missing", `the query has no parameter ${name}`);
  if (values.length > 1) {
    throw new SignatureError("query_param_ambiguous", `the query has ${values.length} parameters ${name}`);
  }
  return encodeFormPart(value);
}

/** The percent-encode set of application/x-www-form-urlencoded; encodeURIComponent leaves out `!'()~`. */
export function encodeFormPart(text: string): string {
  const encoded = encodeURIComponent(text);
  return encoded.replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

const DEFAULT_PORT = { http: /:(?:80)?$/, https: /:(?:443)?$/ } as const;

/** Lower case, and without the port that the scheme implies (RFC 9110 4.2.3). */
function authority({ scheme, authority }: Pick<RequestHead, "scheme" | "authority">): string {
  if (authority === "") {
    throw new SignatureError(
      "component_value_invalid",
      "the address that the message was sent to is not known",
    );
  }
  if (/[/?#@\\\s]/.test(authority)) {
    throw new SignatureError("component_value_invalid", `"${authority}" is not a host with an optional port`);
  }
  return authority.toLowerCase().replace(DEFAULT_PORT[scheme], "");
}

function targetUri(request: RequestHead): string {
  const { path, query } = pathAndQuery(request);
  if (isAbsolute(request.target)) return request.target;
  return `${request.scheme}://${authority(request)}${path}${query}`;
}

function isAbsolute(target: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(target);
}

/** A request target is ASCII without white space, and has no fragment (RFC 9112 3.2, RFC 9110 4.2.5). */
function checkedTarget(target: string): string {
  if (!/^[\x21-\x7e]+$/.test(target)) {
    throw new SignatureError(
      "component_value_invalid",
      "the request target has characters that are not allowed",
    );
  }
  if (target.includes("#")) {
    throw new SignatureError("component_value_invalid", "the request target has a fragment");
  }
  return target;
}

/** The query keeps its question mark. Absolute-form must name the host that the message was sent to. */
function pathAndQuery(request: RequestHead): { path: string; query: string } {
  const target = checkedTarget(request.target);
  if (target.startsWith("/")) return splitQuery(target);
  if (target === "*") return { path: "", query: "" };
  const [, scheme, host = "", rest = ""] = /^([^:]+):\/\/([^/?]*)(.*)$/.exec(target) ?? [];
  if (!isAbsolute(target) || scheme === undefined) {
    throw new SignatureError("component_value_invalid", `the request target "${target}" has no path`);
  }
  const named = authority({ scheme: request.scheme, authority: host });
  if (scheme.toLowerCase() !== request.scheme || named !== authority(request)) {
    throw new SignatureError("component_value_invalid", `the request target "${target}" names another host`);
  }
  return splitQuery(rest);
}

function splitQuery(text: string): { path: string; query: string } {
  const at = text.indexOf("?");
  return at < 0 ? { path: text, query: "" } : { path: text.slice(0, at), query: text.slice(at) };
}
