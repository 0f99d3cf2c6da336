/** What a sandbox is made of; and its clock, its ids and numbers, and its signing keys. */
import { createHash, createPublicKey, type JsonWebKey } from "node:crypto";
import type { SignatureForm } from "../signatures/cover.ts";
import { PaylinkError } from "../domain/errors.ts";
import { shortId, suffixFrom } from "../domain/reference.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";
import type { Send } from "../http/exchange.ts";
import { publicJwk, readSigningKey, type SigningKey } from "../signatures/keys.ts";
import type { AllowedHosts } from "./access.ts";
import type { Merchant, StoredKeys } from "./identity.ts";
import type { Ledger } from "./store/ledger.ts";
import type { Delivery, DeliveryState, Link } from "./store/rows.ts";

export type SandboxEvent =
  | { readonly type: "link"; readonly link: Link; readonly url: string }
  | { readonly type: "payment"; readonly link: Link; readonly record: WellFormedRecord }
  | { readonly type: "updated" | "cancelled"; readonly link: Link }
  | {
      readonly type: "delivery";
      readonly delivery: Delivery;
      readonly attempt: number;
      /** The receiver's status; null without a response. */
      readonly status: number | null;
      readonly detail: string;
      readonly state: DeliveryState;
    };

export interface SandboxParts extends AllowedHosts {
  readonly merchant: Merchant;
  readonly keys: SigningKeys;
  /** How webhooks are signed. */
  readonly form: SignatureForm;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: PaymentIds;
  /** Apart from `ids`, so that a seed does not make access tokens predictable. */
  readonly newToken: () => string;
  readonly send: Send;
  /** For a signature's `created`, which receivers compare with their own clocks, not with the sandbox's. */
  readonly machineNow: () => Date;
  /** Posts to self-signed certificates of loopback and of the allowed hosts. */
  readonly insecure: boolean;
  /** Milliseconds until each further attempt. */
  readonly schedule: readonly number[];
  /** The delivery fault that `--deliver` simulates, which a receiver must tolerate. */
  readonly fault: "duplicate" | "late" | "out-of-order" | "drop-first" | undefined;
  /** What happens to a second link of the same `invoiceId` at the same terminal. */
  readonly duplicateInvoices: "accept" | "refuse";
  readonly observe: (event: SandboxEvent) => void;
  readonly faulted: (error: unknown) => void;
}

/** It follows the machine's clock or is stopped, and can be moved forwards either way. */
export type Clock = ReturnType<typeof createClock>;

/** With `stoppedAt`, the clock stays at that moment until it is moved. */
export function createClock(machineNow: () => Date, stoppedAt?: Date) {
  let offset = 0;
  const now = (): number => (stoppedAt ?? machineNow()).getTime() + offset;
  return {
    /** True if it was stopped or moved, and so differs from the machine's clock. */
    get own(): boolean {
      return stoppedAt !== undefined || offset > 0;
    },
    /** False for a stopped clock. */
    running: stoppedAt === undefined,
    now: () => new Date(now()),
    /** Moves the clock to a later moment; an earlier one has no effect. */
    moveTo: (moment: Date): void => {
      offset += Math.max(0, moment.getTime() - now());
    },
  };
}

/** The ids and numbers of links and payments: random, or the same sequence each time for a seed. */
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

export type SigningKeys = ReturnType<typeof createSigningKeys>;

/** `renew` creates a new key and returns once it is on disk. */
export function createSigningKeys(opened: StoredKeys, renew: () => StoredKeys, now: () => Date) {
  let stored = opened;
  let current = parseSigningKey(stored);
  return {
    current: (): SigningKey => current,
    /** The entries of the key set: the current key first, then the retired keys. */
    published: (): readonly JsonWebKey[] => [
      publicJwk(current.key, stored.keyid),
      ...stored.retired
        .filter(({ until }) => Date.parse(until) > now().getTime())
        .map(({ keyid, publicKey }) => publicJwk(createPublicKey(publicKey), keyid)),
    ],
    /** Changes to a new key and returns its id. */
    rotate: (): string => {
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
