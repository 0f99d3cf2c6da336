/** Content-Digest (RFC 9530): the field that ties a signature over header fields to the content. */

import { hash } from "node:crypto";
import { ParseError } from "structured-headers";
import { fieldLines, type HeaderLine } from "../http/message.ts";
import {
  byteSequence,
  readDictionary,
  repeatedKey,
  type RawDictionary,
  type RawMember,
} from "./structured.ts";
import type { Reason, Warning } from "../domain/reasons.ts";
import { messageOf } from "../values/system-reason.ts";

/** The Active algorithms of the registry; the others do not protect against an attacker (RFC 9530 5, 6.6). */
const ACTIVE_ALGORITHMS = {
  "sha-256": { digest: "sha256", length: 32 },
  "sha-512": { digest: "sha512", length: 64 },
} as const;

export type DigestAlgorithm = keyof typeof ACTIVE_ALGORITHMS;

export type DigestCheck =
  | {
      readonly ok: true;
      readonly verified: readonly DigestAlgorithm[];
      readonly warnings: readonly Warning[];
    }
  | {
      readonly ok: false;
      readonly reason: Reason;
      readonly detail: string;
      readonly warnings: readonly Warning[];
    };

/** The field's value for a body as it is sent, with its Content-Encoding applied (RFC 9530 2). */
export function contentDigest(body: Uint8Array, algorithm: DigestAlgorithm = "sha-256"): string {
  return `${algorithm}=:${digestOf(body, algorithm)}:`;
}

export function isActive(algorithm: string): algorithm is DigestAlgorithm {
  return Object.hasOwn(ACTIVE_ALGORITHMS, algorithm);
}

/**
 * Every Active digest must match: ignoring one that does not would be the downgrade of RFC 9530 6.7. A repeated key is
 * refused, because parsers differ in which of the two they keep.
 */
export function checkDigest(headers: readonly HeaderLine[], body: Uint8Array): DigestCheck {
  const lines = fieldLines(headers, "content-digest");
  // What most senders write is right in one spelling only, so nothing is parsed.
  if (lines.length === 1 && lines[0] === contentDigest(body))
    return { ok: true, verified: ["sha-256"], warnings: [] };
  const dictionary = parse(lines);
  if (typeof dictionary === "string") return failedDigest("content_digest_malformed", dictionary);
  const repeated = repeatedKey(dictionary);
  if (repeated !== undefined) return failedDigest("content_digest_malformed", `${repeated} is repeated`);

  const warnings: Warning[] = [];
  const verified: DigestAlgorithm[] = [];
  const mismatches: string[] = [];
  for (const member of dictionary.members) {
    const read = byteSequence(dictionary, member);
    const problem = malformation(member, read?.bytes);
    if (read === undefined || problem !== undefined)
      return failedDigest("content_digest_malformed", problem ?? "", warnings);
    if (!read.canonical) warnings.push("non_canonical_base64");
    if (!isActive(member.key)) warnings.push("content_digest_alg_ignored");
    else if (digestOf(body, member.key) === read.base64) verified.push(member.key);
    else
      mismatches.push(
        `the field has ${member.key}=${member.text}, the body has ${contentDigest(body, member.key)}`,
      );
  }
  if (mismatches.length > 0) return failedDigest("content_digest_mismatch", mismatches.join("; "), warnings);
  if (verified.length === 0)
    return failedDigest("content_digest_unsupported", nothingActive(dictionary), warnings);
  if (!verified.includes("sha-256")) warnings.push("content_digest_without_sha256");
  return { ok: true, verified, warnings };
}

function failedDigest(reason: Reason, detail: string, warnings: readonly Warning[] = []): DigestCheck {
  return { ok: false, reason, detail, warnings };
}

/** In base64. It is not a secret, so it can be compared as text. */
function digestOf(body: Uint8Array, algorithm: DigestAlgorithm): string {
  return hash(ACTIVE_ALGORITHMS[algorithm].digest, body, "base64");
}

function parse(lines: readonly string[]): RawDictionary | string {
  try {
    return readDictionary(lines);
  } catch (error) {
    if (error instanceof ParseError) return messageOf(error);
    throw error;
  }
}

function malformation({ key, text }: RawMember, bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined) return `${key}=${text} is not base64 between colons`;
  if (!isActive(key) || bytes.length === ACTIVE_ALGORITHMS[key].length) return undefined;
  return `a ${key} digest has ${ACTIVE_ALGORITHMS[key].length} bytes; this one has ${bytes.length}`;
}

function nothingActive({ members }: RawDictionary): string {
  const algorithms = members.map(({ key }) => key).join(", ");
  return `the field has neither sha-256 nor sha-512${algorithms === "" ? "" : `, only ${algorithms}`}`;
}
