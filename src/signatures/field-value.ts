/** The value of a header or trailer field as a component: plain, `sf`, `key` or `bs` (RFC 9421 2.1). */

import {
  isInnerList,
  parseDictionary,
  parseItem,
  parseList,
  serializeDictionary,
  serializeInnerList,
  serializeItem,
  serializeList,
} from "structured-headers";
import { trimSpace } from "../http/message.ts";
import type { FieldTypes, StructuredType } from "./field-types.ts";
import { messageOf, SignatureError } from "./verdict.ts";

/** Lines without outer white space and without obs-fold, joined (RFC 9421 2.1). */
export function plainValue(lines: readonly string[]): string {
  return lines.length === 1 ? fieldLine(lines[0] ?? "") : lines.map(fieldLine).join(", ");
}

/** Each line on its own, with any octets (RFC 9421 2.1.3). */
export function wrappedValue(lines: readonly string[]): string {
  return lines.map((line) => `:${Buffer.from(fieldLine(line), "latin1").toString("base64")}:`).join(", ");
}

export function strictValue(name: string, lines: readonly string[], types: FieldTypes): string {
  const serialize = SERIALIZE[knownType(name, types)];
  const text = plainValue(lines);
  return strictly(name, text, () => serialize(text));
}

export function memberValue(name: string, key: string, lines: readonly string[], types: FieldTypes): string {
  if (knownType(name, types) !== "dictionary") {
    throw new SignatureError(
      "component_sf_type_unknown",
      `${name} is not a Dictionary, so it has no member "${key}"`,
    );
  }
  const text = plainValue(lines);
  const member = strictly(name, text, () => parseDictionary(text)).get(key);
  if (member === undefined) throw new SignatureError("component_missing", `${name} has no member "${key}"`);
  return isInnerList(member) ? serializeInnerList(member) : serializeItem(member);
}

const SERIALIZE: Record<StructuredType, (text: string) => string> = {
  dictionary: (text) => serializeDictionary(parseDictionary(text)),
  list: (text) => serializeList(parseList(text)),
  item: (text) => serializeItem(parseItem(text)),
};

function knownType(name: string, types: FieldTypes): StructuredType {
  const type = types.get(name);
  if (type === undefined) {
    throw new SignatureError("component_sf_type_unknown", `the structured type of ${name} is not known`);
  }
  return type;
}

/** The library would serialise a Decimal such as `1.0` as an Integer, so it is refused. */
const WHOLE_DECIMAL = /(?:^|[=( ,\t])-?\d+\.0+(?!\d)/;

/** Parses before searching: unclosed strings would make the search slow. */
function strictly<T>(name: string, text: string, read: () => T): T {
  let value: T;
  try {
    value = read();
  } catch (error) {
    throw new SignatureError(
      "component_value_invalid",
      `${name} is not a structured field: ${messageOf(error)}`,
    );
  }
  if (!WHOLE_DECIMAL.test(text.replace(/"(?:[^"\\]|\\.)*"/g, '""'))) return value;
  throw new SignatureError(
    "component_value_invalid",
    `${name} holds a Decimal without a fraction, which cannot be reproduced`,
  );
}

function fieldLine(line: string): string {
  return trimSpace(line.includes("\r") ? line.replace(/[ \t]*\r\n[ \t]+/g, " ") : line);
}
