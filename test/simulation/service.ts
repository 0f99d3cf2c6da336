/** The services of a simulated world: the webhooks of two accounts, of which one gets another key. */
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { signedWebhook } from "../../src/sender/signed-webhook.ts";
import type { HttpRequest } from "../../src/http/message.ts";
import { SERVICE_COVER } from "../../src/signatures/cover.ts";
import { readKeys } from "../../src/signatures/keys.ts";
import { KEYS, OTHER_KEYS } from "../support/keys.ts";

export const URL_OF_RECEIVERS = new URL("http://receiver.test/");

const NEXT = createPrivateKey(readFileSync(join(import.meta.dirname, "next-key.pem")));

/** A key of a service. */
export interface ServiceKey {
  readonly privateKey: KeyObject;
  /** The public key, as a JWK: a PEM takes a hundred times as long to read. */
  readonly text: string;
  readonly thumbprint: string;
}

function serviceKey(privateKey: KeyObject): ServiceKey {
  const text = JSON.stringify(createPublicKey(privateKey).export({ format: "jwk" }));
  return { privateKey, text, thumbprint: readKeys(text).keys[0]?.thumbprint ?? "" };
}

/** The merchant's account, before and after its key changes, and the account of somebody else. */
export const SERVICE_KEYS = {
  first: serviceKey(KEYS.privateKey),
  next: serviceKey(NEXT),
  other: serviceKey(OTHER_KEYS.privateKey),
};

export type Account = "own" | "other";

/** The payments that a world knows. */
export const PAYMENTS = 16;

export interface Payment {
  readonly uti: string;
  readonly account: Account;
  readonly isApproved: boolean;
  /** In cents. */
  readonly amount: number;
}

export const paymentAt = (index: number): Payment => ({
  uti: `uti-${index}`,
  account: index % 4 === 3 ? "other" : "own",
  isApproved: index % 5 !== 2,
  amount: 1_000 + index,
});

const made = new Map<string, HttpRequest>();

/** The webhook of a payment, signed by a key. Making one costs more than receiving it, so each is made once. */
export function webhookOf({ uti, isApproved, amount }: Payment, key: ServiceKey): HttpRequest {
  const name = `${uti} ${key.thumbprint}`;
  const known = made.get(name);
  if (known !== undefined) return known;
  const body = JSON.stringify({
    uti,
    transApproved: isApproved,
    transCancelled: false,
    amountTrans: amount / 100,
    transCurrencyCode: "EUR",
    reference: `ORDER-${uti}`,
  });
  const webhook = signedWebhook(Buffer.from(body), {
    url: URL_OF_RECEIVERS,
    key: { keyid: null, key: key.privateKey },
    created: 0,
    form: { cover: SERVICE_COVER, created: false },
  });
  made.set(name, webhook);
  return webhook;
}

/** The key that has signed a request. */
export function signerOf({ headers }: HttpRequest, payment: Payment): string | undefined {
  const signature = headers.find(([name]) => name === "Signature")?.[1];
  return Object.values(SERVICE_KEYS).find((key) =>
    webhookOf(payment, key).headers.some(([name, value]) => name === "Signature" && value === signature),
  )?.thumbprint;
}
