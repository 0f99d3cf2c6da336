/** Component identifiers (RFC 9421 2): how one is written, compared and turned into the value that it covers. */

import { parseItem, serializeString, serializeParameters, type Parameters } from "structured-headers";
import { fieldLines, type HeaderLine } from "../http/message.ts";
import { queryParam, REQUEST_COMPONENTS, type RequestHead } from "./derived.ts";
import { REGISTERED_TYPES, SINGLETON_FIELDS, type FieldTypes } from "./field-types.ts";
import { memberValue, plainValue, strictValue, wrappedValue } from "./field-value.ts";
import { Refusal } from "./refusal.ts";

export interface Component {
  readonly name: string;
  /** In the order in which they were given: it is part of what is signed. */
  readonly parameters: Parameters;
  /** Serialised strictly, as it stands in a signature base. */
  readonly identifier: string;
  /** The same for all orders of the same parameters: what makes two components one (RFC 9421 2). */
  readonly identity: string;
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: readonly HeaderLine[];
  readonly trailers?: readonly HeaderLine[];
  /** The request that this answers, for components with `req` (RFC 9421 2.4). */
  readonly request?: RequestHead;
}

export type MessageHead = RequestHead | ResponseHead;

const NO_PARAMETERS: Parameters = new Map();

export function component(name: string, parameters: Parameters = NO_PARAMETERS): Component {
  const usual = parameters.size === 0 ? USUAL.get(name) : undefined;
  return usual ?? makeComponent(name, parameters);
}

function makeComponent(name: string, parameters: Parameters): Component {
  const identifier = serializeString(name) + (parameters.size > 0 ? serializeParameters(parameters) : "");
  if (parameters.size < 2) return { name, parameters, identifier, identity: identifier };
  const sorted = new Map([...parameters].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { name, parameters, identifier, identity: serializeString(name) + serializeParameters(sorted) };
}

/** What signatures mostly cover, made once: they come with every message. */
const USUAL: ReadonlyMap<string, Component> = new Map(
  [...REQUEST_COMPONENTS.keys(), "content-digest", "content-type", "content-length"].map((name) => [
    name,
    makeComponent(name, NO_PARAMETERS),
  ]),
);

/** As a person reads it: the identifier without the quotes around its name. */
export function formatComponent({ name, parameters }: Component): string {
  return parameters.size === 0 ? name : name + serializeParameters(parameters);
}

export type ParsedComponent =
  { readonly ok: true; readonly component: Component } | { readonly ok: false; readonly reason: string };

/** What a person types: `@method`, `Content-Digest;key="sha-256"`, with or without quotes around the name. */
export function parseComponent(typed: string): ParsedComponent {
  const [, quoted, bare, rest = ""] = /^(?:"([^"\\]*)"|([^";\s]*))(;.*)?$/.exec(typed.trim()) ?? [];
  const name = (quoted ?? bare ?? "").toLowerCase();
  if (!/^@?[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) {
    return { ok: false, reason: `"${typed}" is neither a field name nor a derived component` };
  }
  try {
    const [, parameters] = parseItem(`"${name}"${rest}`);
    const parsed = component(name, parameters);
    checkUse(parsed);
    return { ok: true, component: parsed };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** The value of a component in a message, or a Refusal. Characters are checked where the base is put together. */
export function componentValue(
  component: Component,
  message: MessageHead,
  types: FieldTypes = REGISTERED_TYPES,
): string {
  if (component.parameters.size > 0 || component.name.startsWith("@")) checkUse(component);
  const source = component.parameters.has("req") ? relatedRequest(message) : message;
  return component.name.startsWith("@")
    ? derivedValue(component, source)
    : fieldValue(component, source, types);
}

const FIELD_PARAMETERS: ReadonlySet<string> = new Set(["sf", "key", "bs", "tr", "req"]);
const TEXT_PARAMETERS: ReadonlySet<string> = new Set(["key", "name"]);

/** Whether a component with these parameters can exist at all, in any message. */
function checkUse({ name, parameters, identifier }: Component): void {
  if (name === "@signature-params") {
    throw new Refusal("component_not_applicable", "@signature-params cannot be covered (RFC 9421 2.3)");
  }
  const derived = name.startsWith("@");
  if (derived && !REQUEST_COMPONENTS.has(name) && name !== "@status" && name !== "@query-param") {
    throw new Refusal("component_unknown", `there is no derived component ${name}`);
  }
  for (const [key, value] of parameters) {
    const allowed = derived
      ? key === "req" || (key === "name" && name === "@query-param")
      : FIELD_PARAMETERS.has(key);
    if (!allowed || (TEXT_PARAMETERS.has(key) ? typeof value !== "string" : value !== true)) {
      throw new Refusal("component_param_unknown", `${identifier}: ${key} is not a parameter of ${name}`);
    }
  }
  if (name === "@query-param" && !parameters.has("name")) {
    throw new Refusal("component_param_unknown", "@query-param needs the parameter name");
  }
  if (parameters.has("bs") && (parameters.has("sf") || parameters.has("key"))) {
    throw new Refusal("component_param_incompatible", `${identifier}: bs excludes sf and key`);
  }
}

function relatedRequest(message: MessageHead): RequestHead {
  if (!("status" in message)) {
    throw new Refusal("req_on_request", "req is for responses: a request has no related request");
  }
  if (message.request === undefined) {
    throw new Refusal("component_missing", "the request that this response answers is not at hand");
  }
  return message.request;
}

function derivedValue({ name, parameters }: Component, source: MessageHead): string {
  const isResponse = "status" in source;
  if (isResponse && name === "@status") return String(source.status).padStart(3, "0");
  if (isResponse || name === "@status") {
    throw new Refusal("component_not_applicable", `a ${isResponse ? "response" : "request"} has no ${name}`);
  }
  const parameter = parameters.get("name");
  if (typeof parameter === "string") return queryParam(source, parameter);
  const derive = REQUEST_COMPONENTS.get(name);
  if (derive === undefined) throw new Refusal("component_unknown", `there is no derived component ${name}`);
  return derive(source);
}

function fieldValue({ name, parameters }: Component, source: MessageHead, types: FieldTypes): string {
  const lines = receivedLines(name, parameters.has("tr") ? (source.trailers ?? []) : source.headers);
  if (parameters.size === 0) return plainValue(lines);
  if (parameters.has("bs")) return wrappedValue(lines);
  const key = parameters.get("key");
  if (typeof key === "string") return memberValue(name, key, lines, types);
  return parameters.has("sf") ? strictValue(name, lines, types) : plainValue(lines);
}

/** An absent field is an error, never an empty value; a name with capitals names no field (RFC 9421 2.1). */
function receivedLines(name: string, section: readonly HeaderLine[]): string[] {
  const lines = name === name.toLowerCase() ? fieldLines(section, name) : [];
  if (lines.length === 0) {
    throw new Refusal("component_missing", `the message has no field "${name}"`);
  }
  if (lines.length > 1 && SINGLETON_FIELDS.has(name)) {
    throw new Refusal("duplicate_header", `${name} stands ${lines.length} times, and may stand once`);
  }
  return lines;
}
