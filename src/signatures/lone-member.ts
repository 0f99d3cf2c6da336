/** Dictionaries of one member in canonical form, which is how these fields are sent: read without the library's parse. */

import type { InnerList, Item, Parameters } from "structured-headers";
import { byteSequence, type RawDictionary } from "./raw-member.ts";

const KEY = "[a-z*][a-z0-9_.*-]*";
/** A String without escapes; everything else is left to the library. */
const STRING = '"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"';
const INTEGER = "(?:0|[1-9]\\d{0,14})";

const BYTES = new RegExp(`^(${KEY})=(:[^:]*:)$`);
const LIST = new RegExp(
  `^(${KEY})=(\\((${STRING}(?: ${STRING})*)?\\)((?:;${KEY}=(?:${INTEGER}|${STRING}))*))$`,
);
const PARAMETER = new RegExp(`;(${KEY})=(?:(${INTEGER})|"([^"]*)")`, "g");

const NO_PARAMETERS: Parameters = new Map();

/** Undefined where the text is anything else, or not in canonical form. */
export function readLoneMember(text: string): RawDictionary | undefined {
  return text.endsWith(":") ? readLoneBytes(text) : readLoneList(text);
}

/** A Byte Sequence, as Signature and Content-Digest mostly are. */
function readLoneBytes(text: string): RawDictionary | undefined {
  const [, key, value] = BYTES.exec(text) ?? [];
  const bytes = value === undefined ? undefined : byteSequence(value);
  if (key === undefined || value === undefined || bytes === undefined) return undefined;
  return {
    parsed: new Map([[key, [bytes.bytes, NO_PARAMETERS]]]),
    members: [{ key, text: value, parameters: 0, canonical: true, bytes }],
  };
}

/** An Inner List of Strings whose own parameters are Integers and Strings, as Signature-Input mostly is. */
function readLoneList(text: string): RawDictionary | undefined {
  const [, key, value, names, rest = ""] = LIST.exec(text) ?? [];
  if (key === undefined || value === undefined) return undefined;
  const parameters: Parameters = new Map();
  let count = 0;
  PARAMETER.lastIndex = 0;
  for (let found = PARAMETER.exec(rest); found !== null; found = PARAMETER.exec(rest)) {
    const [, name = "", integer, string = ""] = found;
    parameters.set(name, integer === undefined ? string : Number(integer));
    count++;
  }
  const list: InnerList = [names === undefined ? [] : names.slice(1, -1).split('" "').map(item), parameters];
  return {
    parsed: new Map([[key, list]]),
    members: [{ key, text: value, parameters: count, canonical: true }],
  };
}

const item = (name: string): Item => [name, NO_PARAMETERS];
