/** Component identifiers (RFC 9421 2): parsing, comparing, and finding the value that each covers. */

import { parseItem, serializeString, serializeParameters, type Parameters } from "structured-headers";
import { fieldLines, type HeaderLine } from "../http/message.ts";
import { queryParam, REQUEST_COMPONENTS, type RequestHead } from "./derived.ts";
import { REGISTERED_TYPES, SINGLETON_FIELDS, type FieldTypes } from "./field-types.ts";
import { memberValue, plainValue, strictValue, wrappedValue } from "./field-value.ts";
import { messageOf, SignatureError } from "./verdict.ts";

export interface Component {
  readonly name: string;
  /** In the order given: the signature covers the order too. */
  readonly parameters: Parameters;
  /** Serialised strictly, as in a signature base. */
  readonly identifier: string;
  /** The same for every order of the same parameters: equal identities are one component (RFC 9421 2). */
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
  const common = parameters.size === 0 ? COMMON.get(name) : undefined;
  return common ?? makeComponent(name, parameters);
}

function makeComponent(name: string, parameters: Parameters): Component {
  const identifier = serializeString(name) + (parameters.size > 0 ? serializeParameters(parameters) : "");
  if (parameters.size < 2) return { name, parameters, identifier, identity: identifier };
  const sorted = new Map([...parameters].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { name, parameters, identifier, identity: serializeString(name) + serializeParameters(sorted) };
}

/** The components that most signatures cover, made once. */
const COMMON: ReadonlyMap<string, Component> = new Map(
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

/** As a person types it: `@method`, `Content-Digest;key="sha-256"`, with or without quotes around the name. */
export function parseComponent(typed: string): ParsedComponent {
  const [, quoted, bare, rest = ""] = /^(?:"([^"\\]*)"|([^";\s]*))(;.*)?$/.exec(typed.trim()) ?? [];
  const name = (quoted ?? bare ?? "").toLowerCase();
  if (!/^@?[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) {
    return { ok: false, reason: `"${typed}" is not a field name or a derived component` };
  }
  try {
    const [, parameters] = parseItem(`"${name}"${rest}`);
    const parsed = component(name, parameters);
    checkUse(parsed);
    return { ok: true, component: parsed };
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
}

/** The value of a component in a message. Throws a SignatureError where it has none; `base.ts` checks the characters. */
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
    throw new SignatureError(
      "component_not_applicable",
      "@signature-params cannot be covered (RFC 9421 2.3)",
    );
  }
  const derived = name.startsWith("@");
  if (derived && !REQUEST_COMPONENTS.has(name) && name !== "@status" && name !== "@query-param") {
    throw new SignatureError("component_unknown", `${name} is not a derived component of RFC 9421`);
  }
  for (const [key, value] of parameters) {
    const allowed = derived
      ? key === "req" || (key === "name" && name === "@query-param")
      : FIELD_PARAMETERS.has(key);
    if (!allowed || (TEXT_PARAMETERS.has(key) ? typeof value !== "string" : value !== true)) {
      throw new SignatureError(
        "component_param_unknown",
        `${identifier}: ${key} is not a parameter of ${name}`,
      );
    }
  }
  if (name === "@query-param" && !parameters.has("name")) {
    throw new SignatureError("component_param_unknown", "@query-param needs the parameter name");
  }
  if (parameters.has("bs") && (parameters.has("sf") || parameters.has("key"))) {
    throw new SignatureError("component_param_incompatible", `${identifier}: bs excludes sf and key`);
  }
}

function relatedRequest(message: MessageHead): RequestHead {
  if (!("status" in message)) {
    throw new SignatureError("req_on_request", "req is for responses, and this is a request");
  }
  if (message.request === undefined) {
    throw new SignatureError("component_missing", "the request of this response is not known");
  }
  return message.request;
}

function derivedValue({ name, parameters }: Component, source: MessageHead): string {
  const isResponse = "status" in source;
  if (isResponse && name === "@status") return String(source.status).padStart(3, "0");
  if (isResponse || name === "@status") {
    throw new SignatureError(
      "component_not_applicable",
      `a ${isResponse ? "response" : "request"} has no ${name}`,
    );
  }
  const parameter = parameters.get("name");
  if (typeof parameter === "string") return queryParam(source, parameter);
  const derive = REQUEST_COMPONENTS.get(name);
  if (derive === undefined)
    throw new SignatureError("component_unknown", `${name} is not a derived component of RFC 9421`);
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

/** An absent field is an error, never an empty value; component names are lower case (RFC 9421 2.1). */
function receivedLines(name: string, section: readonly HeaderLine[]): string[] {
  const lines = name === name.toLowerCase() ? fieldLines(section, name) : [];
  if (lines.length === 0) {
    throw new SignatureError("component_missing", `the message has no field "${name}"`);
  }
  if (lines.length > 1 && SINGLETON_FIELDS.has(name)) {
    throw new SignatureError(
      "duplicate_header",
      `${name} appears ${lines.length} times; only one is allowed`,
    );
  }
  return lines;
}
