/** Content-Digest (RFC 9530): the field that ties a signature over header fields to the content. */

import { hash } from "node:crypto";
import { fieldLines, type HeaderLine } from "../http/message.ts";
import { readBytes, type RawDictionary, type RawMember } from "./raw-member.ts";
import { readDictionary, repeatedKey } from "./structured.ts";
import type { Reason, Warning } from "./verdict.ts";

/** The Active algorithms of the registry; the others are unfit where somebody may cheat (RFC 9530 5, 6.6). */
const ACTIVE = {
  "sha-256": { digest: "sha256", length: 32 },
  "sha-512": { digest: "sha512", length: 64 },
} as const;

export type DigestAlgorithm = keyof typeof ACTIVE;

export type DigestReason = Extract<Reason, `content_digest_${string}`>;

export type DigestCheck =
  | {
      readonly ok: true;
      readonly verified: readonly DigestAlgorithm[];
      readonly warnings: readonly Warning[];
    }
  | {
      readonly ok: false;
      readonly reason: DigestReason;
      readonly detail: string;
      readonly warnings: readonly Warning[];
    };

/** The field's value for a body: of the content as it is sent, any Content-Encoding included (RFC 9530 2). */
export function contentDigest(body: Uint8Array, algorithm: DigestAlgorithm = "sha-256"): string {
  return `${algorithm}=:${digestOf(body, algorithm)}:`;
}

export function isActive(algorithm: string): algorithm is DigestAlgorithm {
  return Object.hasOwn(ACTIVE, algorithm);
}

/**
 * Every Active digest must match: to pass over one that does not would be the downgrade of RFC 9530 6.7. A key that is
 * given twice is refused, since parsers differ in which of the two they keep.
 */
export function checkDigest(headers: readonly HeaderLine[], body: Uint8Array): DigestCheck {
  const lines = fieldLines(headers, "content-digest");
  const warnings = new Set<Warning>();
  const fail = (reason: DigestReason, detail: string): DigestCheck => ({
    ok: false,
    reason,
    detail,
    warnings: [...warnings],
  });
  const dictionary = parse(lines);
  if (typeof dictionary === "string") return fail("content_digest_malformed", dictionary);
  const repeated = repeatedKey(dictionary);
  if (repeated !== undefined) return fail("content_digest_malformed", `${repeated} is given twice`);

  const verified: DigestAlgorithm[] = [];
  const mismatches: string[] = [];
  for (const member of dictionary.members) {
    const read = readBytes(member);
    const problem = malformation(member, read?.bytes);
    if (read === undefined || problem !== undefined) return fail("content_digest_malformed", problem ?? "");
    if (!read.canonical) warnings.add("non_canonical_base64");
    if (!isActive(member.key)) warnings.add("content_digest_alg_ignored");
    else if (digestOf(body, member.key) === read.bytes.toString("base64")) verified.push(member.key);
    else mismatches.push(`${contentDigest(body, member.key)} is what the body gives, not ${member.text}`);
  }
  if (mismatches.length > 0) return fail("content_digest_mismatch", mismatches.join("; "));
  if (verified.length === 0) return fail("content_digest_unsupported", nothingActive(dictionary));
  return { ok: true, verified, warnings: [...warnings] };
}

/** What the field says beside what the body gives, for each Active algorithm of the field that can be read. */
export interface ComparedDigest {
  readonly sent: string;
  readonly computed: string;
}

export function compareDigests(headers: readonly HeaderLine[], body: Uint8Array): ComparedDigest[] {
  const dictionary = parse(fieldLines(headers, "content-digest"));
  if (typeof dictionary === "string") return [];
  return dictionary.members.flatMap(({ key, text }) =>
    isActive(key) ? { sent: `${key}=${text}`, computed: contentDigest(body, key) } : [],
  );
}

/** In base64. Nothing about it is secret: who sent the body knows its digest. */
function digestOf(body: Uint8Array, algorithm: DigestAlgorithm): string {
  return hash(ACTIVE[algorithm].digest, body, "base64");
}

function parse(lines: readonly string[]): RawDictionary | string {
  try {
    return readDictionary(lines);
  } catch (error) {
    const text = lines.join(", ");
    const advice = /(?:^|[\s,])[A-Z][\w-]*=/.test(text)
      ? "; algorithm names are in lower case"
      : /=(?!:)/.test(text)
        ? "; a digest stands between colons, as in sha-256=:…:"
        : "";
    return `${error instanceof Error ? error.message : String(error)}${advice}`;
  }
}

function malformation({ key, text }: RawMember, bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined) return `${key}=${text} is not a byte sequence: base64 between colons`;
  if (!isActive(key) || bytes.length === ACTIVE[key].length) return undefined;
  return `${key} has ${ACTIVE[key].length} bytes, the field has ${bytes.length}`;
}

function nothingActive({ members }: RawDictionary): string {
  const given = members.map(({ key }) => key).join(", ");
  return `neither sha-256 nor sha-512 is given${given === "" ? "" : `, only ${given}`}`;
}
