/** Structured Fields: what the library parses, and beside it the raw text, which shows what a parse loses. */

import { type Dictionary, type InnerList, isInnerList, parseDictionary } from "structured-headers";
import { trimSpace } from "../http/message.ts";

export interface RawDictionary {
  /** As written, repeated keys included. */
  readonly members: readonly RawMember[];
  /** The last member of a key wins here (RFC 8941 4.2.2), so `members` are counted. */
  readonly parsed: Dictionary;
}

/** One member as written. */
export interface RawMember {
  readonly key: string;
  /** What follows the `=`, or the parameters alone where the member has no value. */
  readonly text: string;
  /** Number of parameters as written, including those of an inner list's items. */
  readonly parameters: number;
}

/** Parses all lines of a field as one Dictionary (RFC 8941 4.2). Throws where they are not one. */
export function readDictionary(lines: readonly string[]): RawDictionary {
  const text = lines.map(trimSpace).join(", ");
  return { parsed: parseDictionary(text), members: scanMembers(text) };
}

/** The first key that a second member has. */
export function repeatedKey({ members }: RawDictionary): string | undefined {
  const seen = new Set<string>();
  return members.find(({ key }) => seen.size === seen.add(key).size)?.key;
}

/** The parameters that the parse kept: fewer than written where one is repeated. */
export function countParameters([items, parameters]: InnerList): number {
  return items.reduce((count, item) => count + item[1].size, parameters.size);
}

export interface ByteSequence {
  readonly bytes: Buffer;
  /** The bytes as the library would write them. */
  readonly base64: string;
  /** Padded, and without stray bits in the padding; anything else is read all the same (RFC 8941 4.2.7). */
  readonly canonical: boolean;
}

/** The bytes of the only member with its key; undefined where its value is not a Byte Sequence. */
export function byteSequence({ parsed }: RawDictionary, { key, text }: RawMember): ByteSequence | undefined {
  const member = parsed.get(key);
  if (member === undefined || isInnerList(member) || !(member[0] instanceof ArrayBuffer)) return undefined;
  const bytes = Buffer.from(member[0]);
  const base64 = bytes.toString("base64");
  return { bytes, base64, canonical: text.slice(1, text.indexOf(":", 1)) === base64 };
}

/** Without the spaces outside strings. */
export const withoutSpace = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"| +/g, (part) => (part.startsWith('"') ? part : ""));

/** What ends a member or starts a parameter, and strings, where neither does. Display Strings have no escapes. */
const BOUNDARY = /%"[^"]*"|"[^"\\]*(?:\\.[^"\\]*)*"|[,;]/g;

/** Only for text that parsed as a Dictionary: every string in it is closed. */
function scanMembers(text: string): RawMember[] {
  const members: RawMember[] = [];
  let [start, parameters] = [0, 0];
  BOUNDARY.lastIndex = 0;
  while (BOUNDARY.test(text)) {
    const end = BOUNDARY.lastIndex - 1;
    if (text[end] === ";") parameters++;
    if (text[end] !== ",") continue;
    members.push(rawMember(text.slice(start, end), parameters));
    [start, parameters] = [end + 1, 0];
  }
  const last = rawMember(text.slice(start), parameters);
  if (last.key !== "") members.push(last);
  return members;
}

function rawMember(untrimmed: string, parameters: number): RawMember {
  const text = trimSpace(untrimmed);
  const end = text.search(/[=;]/);
  if (end < 0) return { key: text, text: "", parameters };
  return { key: text.slice(0, end), text: text.slice(text[end] === "=" ? end + 1 : end), parameters };
}
