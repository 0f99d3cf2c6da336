/** Tamperings with the body and its digest: the payment differs from the one that was signed. */
import { contentDigest } from "../../signatures/digest.ts";
import { signedWebhook } from "../signed-webhook.ts";
import { bytesOf, changed, changedLines, edited, plus, withBody, without } from "./edits.ts";
import { FORGED, refused, REPLAYED, SPLIT, type Tampering } from "./tampering.ts";

const ANOTHER_BODY = bytesOf("another body");

/** The record with another amount of the same length, so that only the digest reveals it. */
const forged = (body: Uint8Array): Uint8Array =>
  edited(body, /(?<="amountTrans":-?)\d/, (digit) => (digit === "9" ? "1" : "9"));

export const CONTENT: readonly Tampering[] = [
  refused("body", "whose amount was changed after it was signed", FORGED, (body, sender) =>
    withBody(signedWebhook(body, sender), forged(body)),
  ),
  refused("body-and-digest", "whose amount was changed, with a digest that matches", FORGED, (body, sender) =>
    changed(withBody(signedWebhook(body, sender), forged(body)), "content-digest", () =>
      contentDigest(forged(body)),
    ),
  ),
  refused("digest", "signed over the digest of another body", FORGED, (body, sender) =>
    signedWebhook(body, {
      ...sender,
      headers: (headers) => changedLines(headers, "content-digest", () => contentDigest(ANOTHER_BODY)),
    }),
  ),
  refused("digest-missing", "without Content-Digest", FORGED, (body, sender) =>
    without(signedWebhook(body, sender), "content-digest"),
  ),
  refused("digest-malformed", "whose Content-Digest is not a byte sequence", FORGED, (body, sender) =>
    signedWebhook(body, {
      ...sender,
      headers: (headers) => changedLines(headers, "content-digest", (value) => value.replaceAll(":", '"')),
    }),
  ),
  refused("digest-algorithm", "with only an MD5 digest, which can be forged", FORGED, (body, sender) =>
    signedWebhook(body, {
      ...sender,
      headers: (headers) => changedLines(headers, "content-digest", () => "md5=:1B2M2Y8AsgTpgAmY7PhCfg==:"),
    }),
  ),
  refused("digest-second", "with the right SHA-256 and the SHA-512 of another body", FORGED, (body, sender) =>
    signedWebhook(body, {
      ...sender,
      headers: (headers) =>
        changedLines(
          headers,
          "content-digest",
          (value) => `${value}, ${contentDigest(ANOTHER_BODY, "sha-512")}`,
        ),
    }),
  ),
  refused("digest-duplicate", "with a second Content-Digest line, of another body", SPLIT, (body, sender) =>
    plus(signedWebhook(body, sender), ["Content-Digest", contentDigest(ANOTHER_BODY)]),
  ),
  refused("replay", "with the signature of another genuine webhook", REPLAYED, (body, sender) => {
    const genuine = signedWebhook(forged(body), sender);
    return withBody(genuine, body);
  }),
];
