/** Structured Fields read strictly: the library's parse, and beside it the raw text that the parse loses. */

import { type InnerList, parseDictionary } from "structured-headers";
import { trimSpace } from "../http/message.ts";
import { readLoneMember } from "./lone-member.ts";
import type { RawDictionary, RawMember } from "./raw-member.ts";

/** Parses all lines of a field as one Dictionary (RFC 8941 4.2), and throws where that fails. */
export function readDictionary(lines: readonly string[]): RawDictionary {
  const text = lines.length === 1 ? trimSpace(lines[0] ?? "") : lines.map(trimSpace).join(", ");
  return readLoneMember(text) ?? { parsed: parseDictionary(text), members: scanMembers(text) };
}

/** The first key that a second member has. */
export function repeatedKey({ members, parsed }: RawDictionary): string | undefined {
  if (parsed.size === members.length) return undefined;
  const seen = new Set<string>();
  return members.find(({ key }) => seen.size === seen.add(key).size)?.key;
}

/** The parameters that survived the parse: fewer than were written where one was given twice. */
export function countParameters([items, parameters]: InnerList): number {
  return items.reduce((count, item) => count + item[1].size, parameters.size);
}

export function differOnlyInSpace(a: string, b: string): boolean {
  return withoutSpace(a) === withoutSpace(b);
}

const [QUOTE, PERCENT, COMMA, SEMICOLON, BACKSLASH] = [0x22, 0x25, 0x2c, 0x3b, 0x5c];

/** Only for text that has parsed as a Dictionary: outside of strings a comma then always ends a member. */
function scanMembers(text: string): RawMember[] {
  const members: RawMember[] = [];
  let [start, parameters] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(text, at);
    else if (code === SEMICOLON) parameters++;
    else if (code === COMMA) {
      members.push(rawMember(text.slice(start, at), parameters));
      [start, parameters] = [at + 1, 0];
    }
  }
  const last = rawMember(text.slice(start), parameters);
  return last.key === "" ? members : [...members, last];
}

function rawMember(untrimmed: string, parameters: number): RawMember {
  const text = trimSpace(untrimmed);
  const end = text.search(/[=;]/);
  if (end < 0) return { key: text, text: "", parameters, canonical: false };
  const value = text.slice(text[end] === "=" ? end + 1 : end);
  return { key: text.slice(0, end), text: value, parameters, canonical: false };
}

/** A Display String (RFC 9651 3.3.8) has no backslash escapes, a String has. */
function closingQuote(text: string, open: number): number {
  const escapes = text.charCodeAt(open - 1) !== PERCENT;
  let at = open + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) {
    at += escapes && text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  }
  return at;
}

function withoutSpace(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"| +/g, (part) => (part.startsWith('"') ? part : ""));
}
