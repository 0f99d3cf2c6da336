/** The ids, suffixes and numbers that make one payment's record unlike another's, all drawn from one source. */
import { SUFFIX_ALPHABET, SUFFIX_LENGTH } from "../domain/reference.ts";
import type { PaymentIds } from "./payments.ts";

/** `newId` gives UUIDs; where those repeat for a seed, so does everything here. */
export function createIds(newId: () => string): PaymentIds {
  let number = 0;
  return { newId, newSuffix: () => suffixOf(newId()), nextNumber: () => ++number };
}

/** The first octets of a random UUID, one to a character; the slight bias of 256 over 36 harms no uniqueness. */
function suffixOf(uuid: string): string {
  const octets = Buffer.from(uuid.replaceAll("-", ""), "hex").subarray(0, SUFFIX_LENGTH);
  return [...octets].map((octet) => SUFFIX_ALPHABET[octet % SUFFIX_ALPHABET.length]).join("");
}
