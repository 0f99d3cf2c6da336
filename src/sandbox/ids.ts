/** The ids, suffixes and numbers that make one payment's record unlike another's, all drawn from one source. */
import { createHash } from "node:crypto";
import { suffixFrom } from "../domain/reference.ts";
import type { PaymentIds } from "./payments.ts";

/** `newId` gives UUIDs; where those repeat for a seed, so does everything here. `payments` were taken before. */
export function createIds(newId: () => string, payments = 0): PaymentIds {
  let number = payments;
  return { newId, newSuffix: () => suffixFrom(newId()), nextNumber: () => ++number };
}

/** The most ids that a payment takes: uti, suffix, paymentId, merchantTokenId and two deliveries. */
const IDS_A_PAYMENT = 6;

/** UUIDs that are the same each time for a seed, going on after those that a ledger already holds. */
export function seededIds(
  seed: number,
  held: { readonly links: number; readonly payments: number },
): () => string {
  let drawn = held.links + IDS_A_PAYMENT * held.payments;
  return () => uuidOf(createHash("sha256").update(`${seed}/${drawn++}`).digest());
}

/** RFC 9562 4: version 4, variant 10. */
function uuidOf(octets: Buffer): string {
  const hex = Buffer.from(octets.subarray(0, 16));
  hex.writeUInt8((hex.readUInt8(6) & 0x0f) | 0x40, 6);
  hex.writeUInt8((hex.readUInt8(8) & 0x3f) | 0x80, 8);
  return hex.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
