/** What a sandbox is made of besides its ledger: its clock, its ids and numbers, and its signing keys. */
import { createHash, createPublicKey, type JsonWebKey } from "node:crypto";
import { PaylinkError } from "../domain/errors.ts";
import { shortId, suffixFrom } from "../domain/reference.ts";
import { publicJwk, readSigningKey, type SigningKey } from "../signatures/keys.ts";
import type { StoredKeys } from "./identity.ts";

/** It follows the machine's clock or is stopped, and can be moved forwards either way. */
export interface Clock {
  now(): Date;
  /** True if it was stopped or moved, and so differs from the machine's clock. */
  readonly own: boolean;
  /** False for a stopped clock. */
  readonly running: boolean;
  /** Moves the clock to a later moment; an earlier one has no effect. */
  moveTo(moment: Date): void;
}

/** With `stoppedAt`, the clock stays at that moment until it is moved. */
export function createClock(machineNow: () => Date, stoppedAt?: Date): Clock {
  let offset = 0;
  const now = (): number => (stoppedAt ?? machineNow()).getTime() + offset;
  return {
    get own() {
      return stoppedAt !== undefined || offset > 0;
    },
    running: stoppedAt === undefined,
    now: () => new Date(now()),
    moveTo: (moment) => {
      offset += Math.max(0, moment.getTime() - now());
    },
  };
}

/** The ids and numbers of links and payments: random, or the same sequence each time for a seed. */
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

export interface SigningKeys {
  current(): SigningKey;
  /** The entries of the key set: the current key first, then the retired keys. */
  published(): readonly JsonWebKey[];
  /** Changes to a new key and returns its id. */
  rotate(): string;
}

/** `renew` creates a new key and returns once it is on disk. */
export function createSigningKeys(opened: StoredKeys, renew: () => StoredKeys, now: () => Date): SigningKeys {
  let stored = opened;
  let current = parseSigningKey(stored);
  return {
    current: () => current,
    published: () => [
      publicJwk(current.key, stored.keyid),
      ...stored.retired
        .filter(({ until }) => Date.parse(until) > now().getTime())
        .map(({ keyid, publicKey }) => publicJwk(createPublicKey(publicKey), keyid)),
    ],
    rotate: () => {
      stored = renew();
      current = parseSigningKey(stored);
      return stored.keyid;
    },
  };
}

function parseSigningKey({ privateKey, keyid }: StoredKeys): SigningKey {
  const key = readSigningKey(privateKey, keyid);
  if (key.ok) return key.key;
  throw new PaylinkError("key_invalid", `The sandbox's signing key is invalid: ${key.reason}`);
}
