/** Component identifiers (RFC 9421 2): parsing, comparing, and the ones that a signature of a request can cover. */

import { parseItem, serializeString, serializeParameters, type Parameters } from "structured-headers";
import { DERIVED_NAMES, type DerivedName } from "./cover.ts";
import { SignatureError } from "./verdict.ts";
import { accepted, refused, type Parsed } from "../values/parse-result.ts";
import { messageOf } from "../values/system-reason.ts";

export interface Component {
  readonly name: string;
  /** In the order given: the signature covers the order too. */
  readonly parameters: Parameters;
  /** Serialised strictly, as in a signature base. */
  readonly identifier: string;
  /** The same for every order of the same parameters: equal identities are one component (RFC 9421 2). */
  readonly identity: string;
}

const KNOWN_DERIVED: ReadonlySet<string> = new Set(DERIVED_NAMES);
export const isDerivedName = (name: string): name is DerivedName => KNOWN_DERIVED.has(name);

const NO_PARAMETERS: Parameters = new Map();

export function component(name: string, parameters: Parameters = NO_PARAMETERS): Component {
  const identifier = serializeString(name) + (parameters.size > 0 ? serializeParameters(parameters) : "");
  if (parameters.size < 2) return { name, parameters, identifier, identity: identifier };
  const sorted = new Map([...parameters].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { name, parameters, identifier, identity: serializeString(name) + serializeParameters(sorted) };
}

/** For people to read: the identifier without the quotes around its name. */
export function formatComponent({ name, parameters }: Component): string {
  return parameters.size === 0 ? name : name + serializeParameters(parameters);
}

/** As people type it: `@method`, `Content-Digest;key="sha-256"`, with or without quotes around the name. */
export function parseComponent(typed: string): Parsed<Component> {
  const [, quoted, bare, rest = ""] = /^(?:"([^"\\]*)"|([^";\s]*))(;.*)?$/.exec(typed.trim()) ?? [];
  const name = (quoted ?? bare ?? "").toLowerCase();
  if (!/^@?[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) {
    return refused(`"${typed}" is not a field name or a derived component`);
  }
  try {
    const [, parameters] = parseItem(`"${name}"${rest}`);
    const parsed = component(name, parameters);
    checkComponent(parsed);
    return accepted(parsed);
  } catch (error) {
    return refused(messageOf(error));
  }
}

/** Throws a SignatureError where a signature of a request cannot cover the component, whatever the message. */
export function checkComponent({ name, parameters, identifier }: Component): void {
  if (name.startsWith("@")) checkDerived(name);
  for (const [key, value] of parameters) checkParameter({ name, identifier }, key, value);
  if (name === "@query-param" && !parameters.has("name"))
    throw new SignatureError("component_param_unknown", "@query-param needs a name parameter");
  if (parameters.size === 0) return;
  if (parameters.has("req"))
    throw new SignatureError("req_on_request", "req is for responses, and this is a request");
  if (parameters.has("bs") && (parameters.has("sf") || parameters.has("key")))
    throw new SignatureError("component_param_incompatible", `${identifier}: bs excludes sf and key`);
  if (parameters.has("tr"))
    throw new SignatureError(
      "component_missing",
      `${identifier} is a field of the trailer section, which webhooks do not have`,
    );
  if ((parameters.has("sf") || parameters.has("key")) && name !== "content-digest")
    throw new SignatureError("component_sf_type_unknown", `the structured type of ${name} is not known`);
  if (parameters.has("sf") || parameters.has("bs"))
    throw new SignatureError(
      "component_param_unknown",
      `${identifier}: the service signs no component with sf or bs`,
    );
}

function checkDerived(name: string): void {
  if (name === "@signature-params")
    throw new SignatureError(
      "component_not_applicable",
      "@signature-params cannot be covered (RFC 9421 2.3)",
    );
  if (name === "@status") throw new SignatureError("component_not_applicable", "a request has no @status");
  if (!isDerivedName(name) && name !== "@query-param")
    throw new SignatureError("component_unknown", `${name} is not a derived component of RFC 9421`);
}

const FIELD_FLAGS: ReadonlySet<string> = new Set(["sf", "bs", "tr", "req"]);

function checkParameter(
  { name, identifier }: Pick<Component, "name" | "identifier">,
  key: string,
  value: unknown,
): void {
  const text = name.startsWith("@") ? key === "name" && name === "@query-param" : key === "key";
  const flag = name.startsWith("@") ? key === "req" : FIELD_FLAGS.has(key);
  if ((text && typeof value === "string") || (flag && value === true)) return;
  throw new SignatureError("component_param_unknown", `${identifier}: ${key} is not a parameter of ${name}`);
}
