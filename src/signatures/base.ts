/** The signature base (RFC 9421 2.5): the text that is signed, from the values of the covered components. */

import { addTo } from "../values/groups.ts";
import {
  type Dictionary,
  isInnerList,
  type Parameters,
  serializeItem,
  serializeParameters,
} from "structured-headers";
import {
  fieldLines,
  type HeaderLine,
  type HttpRequest,
  type RequestHead,
  trimSpace,
} from "../http/message.ts";
import { checkComponent, component, isDerivedName, type Component } from "./components.ts";
import type { DerivedName } from "./cover.ts";
import { readDictionary } from "./structured.ts";
import { SignatureError } from "./verdict.ts";

/** The value of `@signature-params`, which follows the label in Signature-Input (RFC 9421 2.3). */
export function signatureParams(components: readonly Component[], parameters: Parameters): string {
  const list = components.map(({ identifier }) => identifier).join(" ");
  return `(${list})${serializeParameters(parameters)}`;
}

/** Lines are separated by a single LF and the last has none. `params` comes from `signatureParams`. */
export function signatureBase(
  components: readonly Component[],
  params: string,
  request: RequestHead,
): string {
  requireUnique(components);
  const parts = requestParts(request);
  let base = "";
  for (const component of components)
    base += `${component.identifier}: ${checkedValue(component, valueIn(parts, component))}\n`;
  return `${base}"@signature-params": ${params}`;
}

/** What a signature covers of a message that was received. */
interface Covered {
  readonly components: readonly Component[];
  /** The value of `@signature-params`. */
  readonly params: string;
}

/**
 * The base of a request that was received. Gateways and HTTP/2 drop Content-Length, and a body in chunks has none: where it is
 * covered and did not arrive, it is the length of the body, which Content-Digest proves.
 */
export function receivedBase({ components, params }: Covered, request: HttpRequest): string {
  if (!lacksLength(components, request)) return signatureBase(components, params, request);
  const length: HeaderLine = ["Content-Length", String(request.body.length)];
  return signatureBase(components, params, { ...request, headers: [...request.headers, length] });
}

/** Whether Content-Length is covered and did not arrive. */
export const lacksLength = (components: readonly Component[], { headers }: RequestHead): boolean =>
  components.some(({ identity }) => identity === CONTENT_LENGTH) &&
  fieldLines(headers, "content-length").length === 0;

const CONTENT_LENGTH = component("content-length").identity;

function requireUnique(components: readonly Component[]): void {
  const seen = new Set<string>();
  for (const { identity, identifier } of components) {
    if (seen.has(identity)) throw new SignatureError("duplicate_component", `${identifier} is covered twice`);
    seen.add(identity);
  }
}

const FIELD_VALUE = /^[\t\x20-\x7e]*$/;
const DERIVED_VALUE = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

/** Line breaks and octets outside ASCII must not enter the base (RFC 9421 2.5 step 4, 7.5.6). */
function checkedValue({ name, identifier }: Component, value: string): string {
  const allowed = name.startsWith("@") ? DERIVED_VALUE : FIELD_VALUE;
  if (allowed.test(value)) return value;
  throw invalidValue(`${identifier} has characters that cannot be signed: ${value}`);
}

const invalidValue = (detail: string): SignatureError =>
  new SignatureError("component_value_invalid", detail);

/** The value of a component in a request. Throws a SignatureError where it has none. */
export const componentValue = (component: Component, request: RequestHead): string =>
  valueIn(requestParts(request), component);

/**
 * A request whose query and dictionary are parsed when a component first needs them, and once: an unsigned request may list many
 * components, and its base is built before its signature is verified.
 */
interface RequestParts {
  readonly request: RequestHead;
  /** The values of each parameter by its name in the encoded form. */
  readonly query: () => ReadonlyMap<string, readonly string[]>;
  /** Throws where Content-Digest is no Dictionary. */
  readonly digests: () => Dictionary;
}

const requestParts = (request: RequestHead): RequestParts => ({
  request,
  query: once(() => queryParametersIn(pathAndQuery(request).query)),
  digests: once(() => readDictionary(receivedLines("content-digest", request.headers)).parsed),
});

function once<Value extends object>(read: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= read());
}

function valueIn(parts: RequestParts, component: Component): string {
  const { name, parameters } = component;
  checkComponent(component);
  if (isDerivedName(name)) return DERIVED_VALUES[name](parts.request);
  const parameter = parameters.get("name");
  if (typeof parameter === "string") return queryParam(parts.query(), parameter);
  const key = parameters.get("key");
  // `checkUse` lets no other field have a key.
  if (typeof key === "string") return memberValue(parts.digests(), name, key);
  // Lines without outer white space, joined (RFC 9421 2.1). Node refuses a folded line.
  return receivedLines(name, parts.request.headers).map(trimSpace).join(", ");
}

/** Cut from the message as sent: parsing a URL would normalise it. */
const DERIVED_VALUES: Readonly<Record<DerivedName, (request: RequestHead) => string>> = {
  "@method": ({ method }) => method,
  "@target-uri": normalizedUri,
  "@authority": authority,
  "@scheme": ({ scheme }) => scheme.toLowerCase(),
  "@request-target": ({ target }) => checkedTarget(target),
  "@path": (request) => pathAndQuery(request).path,
  "@query": (request) => pathAndQuery(request).query || "?",
};

function queryParametersIn(query: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(query)) addTo(found, encodeFormPart(key), value);
  return found;
}

/** The one parameter of that name; `name` is compared in its encoded form (RFC 9421 2.2.8). */
function queryParam(query: ReadonlyMap<string, readonly string[]>, name: string): string {
  const [value, ...others] = query.get(name) ?? [];
  if (value === undefined)
    throw new SignatureError("component_missing", `the query has no parameter ${name}`);
  if (others.length > 0)
    throw new SignatureError(
      "query_param_ambiguous",
      `the query has ${others.length + 1} parameters ${name}`,
    );
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
  if (authority === "") throw invalidValue("the address that the message was sent to is not known");
  if (/[/?#@\\\s]/.test(authority)) throw invalidValue(`"${authority}" is not a host with an optional port`);
  return authority.toLowerCase().replace(DEFAULT_PORT[scheme], "");
}

function normalizedUri(request: RequestHead): string {
  const { path, query } = pathAndQuery(request);
  return `${request.scheme}://${authority(request)}${path}${query}`;
}

/** A request target is ASCII without white space, and has no fragment (RFC 9112 3.2, RFC 9110 4.2.5). */
function checkedTarget(target: string): string {
  if (!/^[\x21-\x7e]+$/.test(target))
    throw invalidValue("the request target has characters that are not allowed");
  if (target.includes("#")) throw invalidValue("the request target has a fragment");
  return target;
}

/** Of a target in origin form (RFC 9112 3.2.1), the only one that a listener accepts. The query keeps its question mark. */
function pathAndQuery(request: RequestHead): { path: string; query: string } {
  const target = checkedTarget(request.target);
  if (!target.startsWith("/")) throw invalidValue(`the request target "${target}" has no path`);
  const at = target.indexOf("?");
  return at < 0 ? { path: target, query: "" } : { path: target.slice(0, at), query: target.slice(at) };
}

/** A member of a Dictionary (RFC 9421 2.1.2). */
function memberValue(dictionary: Dictionary, name: string, key: string): string {
  const member = dictionary.get(key);
  if (member === undefined) throw new SignatureError("component_missing", `${name} has no member "${key}"`);
  if (isInnerList(member)) throw invalidValue(`the member "${key}" of ${name} is a list`);
  return serializeItem(member);
}

/** Fields that a request may carry only once (RFC 9110 5.3): neither joining lines nor picking one is correct. */
const SINGLETON_FIELDS: ReadonlySet<string> = new Set([
  "authorization",
  "content-length",
  "content-type",
  "date",
  "host",
  "user-agent",
]);

/** An absent field is an error, never an empty value; component names are lower case (RFC 9421 2.1). */
function receivedLines(name: string, headers: readonly HeaderLine[]): string[] {
  const lines = name === name.toLowerCase() ? fieldLines(headers, name) : [];
  if (lines.length === 0) throw new SignatureError("component_missing", `the message has no field "${name}"`);
  if (lines.length > 1 && SINGLETON_FIELDS.has(name))
    throw new SignatureError(
      "duplicate_header",
      `${name} appears ${lines.length} times; only one is allowed`,
    );
  return lines;
}
