/** Ids of links, and payment references of a reusable link: the invoiceId of the link and a suffix for each payment. */

/** 9 letters and digits, such as 69lXLdv9w. */
export const linkIdFrom = (uuid: string): string => shortId(uuid, LINK_ID_ALPHABET, 9);

const LINK_ID_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Endpoints rule 6, Limits: the suffix is a hyphen and 9 generated characters. */
const SUFFIX_LENGTH = 9;

/** The characters of a suffix. */
const SUFFIX_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

export const suffixFrom = (uuid: string): string => shortId(uuid, SUFFIX_ALPHABET, SUFFIX_LENGTH);

/** One character for each of the first octets of a random UUID; the bias of the remainder does not affect uniqueness. */
function shortId(uuid: string, alphabet: string, length: number): string {
  const octets = Buffer.from(uuid.replaceAll("-", ""), "hex").subarray(0, length);
  return [...octets].map((octet) => alphabet[octet % alphabet.length]).join("");
}

/** One hyphen or two: "`<invoiceId>-<suffix>` where the suffix is a hyphen plus 9" allows both. */
const REFERENCE = /^(.*?)--?([A-Za-z0-9]{9})$/s;

/** The reference of one payment, written with one hyphen. */
export function makeReference(base: string, suffix: string): string {
  return `${base}-${suffix}`;
}

/**
 * Splits a reference by its form alone, which a one-time invoiceId such as `order-123456789` has too. Two hyphens both belong to
 * the separator. `suffix` has 9 characters without a hyphen; it is null if the reference does not look like one of a reusable link.
 */
export function splitReference(reference: string) {
  const [, base, suffix] = REFERENCE.exec(reference) ?? [];
  return base === undefined || suffix === undefined ? { base: reference, suffix: null } : { base, suffix };
}
