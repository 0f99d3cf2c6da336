/** The ids and numbers of links and payments: random, or the same sequence each time for a seed. */
import { createHash } from "node:crypto";
import { shortId, suffixFrom } from "../domain/reference.ts";

export interface PaymentIds {
  readonly newId: () => string;
  /** 9 letters and digits, such as 69lXLdv9w. */
  readonly newLinkId: () => string;
  /** 9 characters of A-Z0-9. */
  readonly newSuffix: () => string;
  /** Counts up from 1. */
  readonly nextNumber: () => number;
}

/** `newId` returns UUIDs and is the only source; `payments` is the number of payments that already exist. */
export function createIds(newId: () => string, payments = 0): PaymentIds {
  let number = payments;
  return {
    newId,
    newLinkId: () => shortId(newId(), LINK_ID_ALPHABET, 9),
    newSuffix: () => suffixFrom(newId()),
    nextNumber: () => ++number,
  };
}

const LINK_ID_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** The most ids that a payment uses: uti, suffix, paymentId, merchantTokenId and two deliveries. */
const IDS_PER_PAYMENT = 6;

/** The same UUIDs each time for a seed, continuing after those that the ledger already contains. */
export function seededIds(
  seed: number,
  stored: { readonly links: number; readonly payments: number },
): () => string {
  let count = stored.links + IDS_PER_PAYMENT * stored.payments;
  return () => uuidFrom(createHash("sha256").update(`${seed}/${count++}`).digest());
}

/** RFC 9562 4: version 4, variant 10. */
function uuidFrom(digest: Buffer): string {
  const bytes = Buffer.from(digest.subarray(0, 16));
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
