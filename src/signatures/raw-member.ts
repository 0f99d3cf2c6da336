/** Members of a Dictionary as they were written, which a parse does not tell. */

import type { Dictionary } from "structured-headers";

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
