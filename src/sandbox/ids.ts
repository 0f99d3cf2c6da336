/** The ids and numbers that the sandbox gives to links and payments. */
import { shortId, suffixFrom } from "../domain/reference.ts";

/** The ids and numbers of links and payments. */
export type PaymentIds = ReturnType<typeof createIds>;

/** `newId` returns UUIDs and is the only source; `payments` is the number of payments that already exist. */
export function createIds(newId: () => string, payments = 0) {
  let number = payments;
  return {
    newId,
    /** 9 letters and digits, such as 69lXLdv9w. */
    newLinkId: () => shortId(newId(), LINK_ID_ALPHABET, 9),
    /** 9 characters of A-Z0-9. */
    newSuffix: () => suffixFrom(newId()),
    /** Counts up from 1. */
    nextNumber: () => ++number,
  };
}

const LINK_ID_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
