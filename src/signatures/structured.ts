/** Structured Fields read strictly: the library's parse, and beside it the raw text that the parse loses. */

import { type Dictionary, type InnerList, parseDictionary } from "structured-headers";
import { trimSpace } from "../http/message.ts";
import { readLoneMember } from "./lone-member.ts";

/** One member as it was written; its label alone says nothing of how often it was given. */
export interface RawMember {
  readonly key: string;
  /** What follows the `=`, or the parameters alone where the member has no value. */
  readonly text: string;
  /** Parameters as written, those of an inner list's items included. */
  readonly parameters: number;
  /** The text is known to be what its value is serialised as. */
  readonly canonical: boolean;
  /** Its bytes, where it has been read as a Byte Sequence. */
  readonly bytes?: ByteSequence;
}

export interface ByteSequence {
  readonly bytes: Buffer;
  /** Padded as it should be, and without pad bits. */
  readonly canonical: boolean;
}

export interface RawDictionary {
  readonly members: readonly RawMember[];
  /** The last member of a key wins here (RFC 8941 4.2.2), which is why `members` are counted. */
  readonly parsed: Dictionary;
}

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

/** The bytes of a member that is a Byte Sequence; undefined where it is none. */
export function readBytes({ bytes, text }: RawMember): ByteSequence | undefined {
  return bytes ?? byteSequence(text);
}

/**
 * A Byte Sequence from its raw text; undefined where the text is none. Padding left out and pad bits that are not
 * zero are read (RFC 8941 4.2.7) and reported, padding beyond what is due is an error.
 */
export function byteSequence(text: string): ByteSequence | undefined {
  const end = text.indexOf(":", 1);
  if (end < 0 || !text.startsWith(":")) return undefined;
  const base64 = text.slice(1, end);
  const bytes = Buffer.from(base64, "base64");
  if (bytes.toString("base64") === base64) return { bytes, canonical: true };
  const [, digits = "x", padding = ""] = /^([A-Za-z0-9+/]*)(={0,2})$/.exec(base64) ?? [];
  const due = (4 - (digits.length % 4)) % 4;
  if (due === 3 || (padding !== "" && padding.length !== due)) return undefined;
  return { bytes, canonical: false };
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
