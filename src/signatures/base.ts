/** The signature base (RFC 9421 2.5): the text that is signed. */

import { type Parameters, serializeParameters } from "structured-headers";
import { componentValue, type Component, type MessageHead } from "./components.ts";
import type { FieldTypes } from "./field-types.ts";
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
  message: MessageHead,
  types?: FieldTypes,
): string {
  requireUnique(components);
  let base = "";
  for (const component of components) {
    base += `${component.identifier}: ${checked(component, componentValue(component, message, types))}\n`;
  }
  return `${base}"@signature-params": ${params}`;
}

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
function checked({ name, identifier }: Component, value: string): string {
  const allowed = name.startsWith("@") ? DERIVED_VALUE : FIELD_VALUE;
  if (allowed.test(value)) return value;
  throw new SignatureError(
    "component_value_invalid",
    `${identifier} has characters that cannot be signed: ${value}`,
  );
}
