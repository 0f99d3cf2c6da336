/** Sample transactions, and webhooks signed as the service signs them, for the tests of applications. */
import { KeyObject } from "node:crypto";
import { parseWebAddress } from "../values/addresses.ts";
import { readSigningKey, type SigningKey } from "../signatures/keys.ts";
import { recordOfSample, type SampleSource } from "../sender/samples.ts";
import { SERVICE_FORM } from "../signatures/cover.ts";
import { signedWebhook } from "../sender/signed-webhook.ts";
import { bytesIn } from "./request-body.ts";
import type { SignedWebhook, SignWebhookOptions } from "./types.ts";
import { outcomeNamed, SAMPLE_OUTCOMES } from "../domain/outcome.ts";
import { plainObject } from "../values/json.ts";
import type { Transaction, TransactionOutcome } from "./transaction-types.ts";

/** The record of a payment of EUR 10.00 for INV-1001, with every field of its outcome and new ids. */
export function sampleOf(outcome: TransactionOutcome, source: SampleSource): object {
  const sample = SAMPLE_OUTCOMES.find((name) => outcomeNamed(name) === outcome);
  if (sample === undefined)
    throw new TypeError(
      `The outcome of a sample is ${JSON.stringify(outcome)}; it must be ${SAMPLE_OUTCOMES.map(outcomeNamed).join(", ")}.`,
    );
  return plainObject(recordOfSample({ outcome: sample, link: "one-time" }, source));
}

/** Signs the body as the service does. A text is the body as it stands. */
export function signWebhookAt(
  transaction: Transaction | string,
  { key, url, cover, created, keyid }: SignWebhookOptions,
  now: () => Date,
): SignedWebhook {
  const address = parseWebAddress(String(url));
  if (address === undefined)
    throw new TypeError(`The option url is "${String(url)}"; it must be an absolute http or https URL.`);
  const moment = created ?? now();
  const body = typeof transaction === "string" ? transaction : JSON.stringify(transaction);
  const { method, headers } = signedWebhook(Buffer.from(body), {
    url: address,
    key: signingKeyFrom(key, keyid),
    created: typeof moment === "number" ? moment : Math.floor(moment.getTime() / 1000),
    form: SERVICE_FORM,
    cover,
  });
  return { method, url: address.href, headers: Object.fromEntries(headers), body };
}

function signingKeyFrom(option: SignWebhookOptions["key"], keyid: string | undefined): SigningKey {
  if (option instanceof KeyObject) return privateRsa({ key: option, keyid: keyid ?? null });
  const text = typeof option === "string" ? option : (bytesIn(option) ?? JSON.stringify(option) ?? "");
  const read = readSigningKey(text, keyid);
  if (read.ok) return privateRsa(read.value);
  throw new TypeError(`The option key is not a private RSA key: ${read.message}.`);
}

function privateRsa(signing: SigningKey): SigningKey {
  const { type, asymmetricKeyType = "" } = signing.key;
  if (type === "private" && asymmetricKeyType === "rsa") return signing;
  throw new TypeError(
    `The option key is not a private RSA key: it is a ${type} key${asymmetricKeyType && ` of type ${asymmetricKeyType}`}.`,
  );
}
