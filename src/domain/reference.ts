/** Payment references of a reusable link: the link's invoiceId as base, and a suffix for each payment. */

/** Endpoints rule 6, Limits: the suffix is a hyphen and 9 generated characters. */
const SUFFIX_LENGTH = 9;

/** What a suffix is drawn from. */
export const SUFFIX_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** The first octets of a random UUID, one to a character; the slight bias of 256 over 36 harms no uniqueness. */
export function suffixFrom(uuid: string): string {
  const octets = Buffer.from(uuid.replaceAll("-", ""), "hex").subarray(0, SUFFIX_LENGTH);
  return [...octets].map((octet) => SUFFIX_ALPHABET[octet % SUFFIX_ALPHABET.length]).join("");
}

export interface ReferenceParts {
  /** The link's invoiceId. */
  readonly base: string;
  /** The 9 characters, without a hyphen; null where the reference does not look like one of a reusable link. */
  readonly suffix: string | null;
}

/** Takes one hyphen or two: "`<invoiceId>-<suffix>` where the suffix is a hyphen plus 9" can be read both ways. */
const REFERENCE = /^(.*?)--?([A-Za-z0-9]{9})$/s;
const SUFFIX = /^--?[A-Za-z0-9]{9}$/;

/** The reference of one payment, written with one hyphen. */
export function makeReference(base: string, suffix: string): string {
  return `${base}-${suffix}`;
}

/**
 * Takes a reference apart by its looks alone: a one-time invoiceId such as `order-123456789` looks the same. Where the
 * base is known, `belongsTo` is the one to ask. Two hyphens are both the separator's.
 */
export function splitReference(reference: string): ReferenceParts {
  const [, base, suffix] = REFERENCE.exec(reference) ?? [];
  return base === undefined || suffix === undefined ? { base: reference, suffix: null } : { base, suffix };
}

/** Whether the reference is that of a payment through the reusable link whose invoiceId is `base` (Events rule 4). */
export function belongsTo(reference: string, base: string): boolean {
  return reference.startsWith(base) && SUFFIX.test(reference.slice(base.length));
}
