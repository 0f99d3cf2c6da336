/** Tamperings with the time, the key and the algorithm of the signature. */
import { createPublicKey, createSecretKey, generateKeyPairSync } from "node:crypto";
import type { SigningKey } from "../../signatures/keys.ts";
import { signedWebhook, type WebhookOptions } from "../signed-webhook.ts";
import { changed } from "./edits.ts";
import { INVENTED, refused, REPLAYED, type Tampering } from "./tampering.ts";

const HOUR = 3600;

export const SIGNING: readonly Tampering[] = [
  refused("created", "signed an hour ago", REPLAYED, (body, sender) =>
    signedWebhook(body, dated(sender, sender.created - HOUR)),
  ),
  refused("created-moved", "signed an hour ago, with created changed to now", REPLAYED, (body, sender) =>
    changed(signedWebhook(body, dated(sender, sender.created - HOUR)), "signature-input", (value) =>
      value.replace(/created=\d+/, `created=${sender.created}`),
    ),
  ),
  refused("created-future", "with created an hour in the future", REPLAYED, (body, sender) =>
    signedWebhook(body, dated(sender, sender.created + HOUR)),
  ),
  refused("created-type", "whose created is a string, not a number", REPLAYED, (body, sender) =>
    changed(signedWebhook(body, dated(sender, sender.created)), "signature-input", (value) =>
      value.replace(/created=(\d+)/, 'created="$1"'),
    ),
  ),
  refused("expired", "whose expires has passed", REPLAYED, (body, sender) =>
    signedWebhook(body, { ...sender, created: sender.created - 120, expires: sender.created - 60 }),
  ),
  refused("key", "signed by another key with the same keyid", INVENTED, (body, sender) =>
    signedWebhook(body, { ...sender, key: impostor(sender) }),
  ),
  refused(
    "algorithm",
    "signed by HMAC with the public key as its secret, as its alg says",
    INVENTED,
    (body, sender) =>
      signedWebhook(body, { ...sender, key: publicKeyAsSecret(sender), algorithm: "hmac-sha256" }),
  ),
  refused("algorithm-pss", "signed by the right key with RSA-PSS", INVENTED, (body, sender) =>
    signedWebhook(body, { ...sender, algorithm: "rsa-pss-sha512" }),
  ),
  refused("algorithm-unknown", "whose alg is not registered", INVENTED, (body, sender) =>
    signedWebhook(body, { ...sender, alg: "none" }),
  ),
];

/** Always with `created`, which is tampered with. */
const dated = (sender: WebhookOptions, created: number): WebhookOptions => ({
  ...sender,
  created,
  form: { ...sender.form, created: true },
});

/** Another RSA key with the keyid of the genuine one. */
function impostor({ key }: WebhookOptions): SigningKey {
  return { keyid: key.keyid, key: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey };
}

/** The public key as the secret of an HMAC: an endpoint that lets the message choose the algorithm accepts it. */
function publicKeyAsSecret({ key }: WebhookOptions): SigningKey {
  const pem = createPublicKey(key.key).export({ type: "spki", format: "pem" });
  return { keyid: key.keyid, key: createSecretKey(Buffer.from(pem)) };
}
