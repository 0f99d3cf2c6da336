/** Tamperings with the two signature fields: missing, malformed, mislabelled, or covering too little. */
import type { CoveredComponents } from "../signature-form.ts";
import { signedWebhook } from "../signed-webhook.ts";
import { changed, plus, without } from "./edits.ts";
import { INVENTED, FORGED, refused, SPLIT, type Tampering } from "./tampering.ts";

export const SIGNATURE: readonly Tampering[] = [
  refused("signature", "with one bit of its signature flipped", INVENTED, (body, sender) =>
    changed(signedWebhook(body, sender), "signature", flipped),
  ),
  refused("unsigned", "without a signature", INVENTED, (body, sender) =>
    without(signedWebhook(body, sender), "signature", "signature-input"),
  ),
  refused("signature-missing", "without Signature", INVENTED, (body, sender) =>
    without(signedWebhook(body, sender), "signature"),
  ),
  refused("signature-input-missing", "without Signature-Input", INVENTED, (body, sender) =>
    without(signedWebhook(body, sender), "signature-input"),
  ),
  refused("signature-malformed", "whose Signature is not a byte sequence", INVENTED, (body, sender) =>
    changed(signedWebhook(body, sender), "signature", (value) => value.replaceAll(":", "")),
  ),
  refused(
    "signature-input-malformed",
    "whose Signature-Input has an unclosed list",
    INVENTED,
    (body, sender) =>
      changed(signedWebhook(body, sender), "signature-input", (value) => value.replace(")", "")),
  ),
  refused("label", "signed under another label than sig1", INVENTED, (body, sender) =>
    signedWebhook(body, { ...sender, label: "other" }),
  ),
  refused("label-mismatch", "whose two fields name different labels", INVENTED, (body, sender) =>
    changed(signedWebhook(body, sender), "signature", (value) => value.replace("sig1=", "sig2=")),
  ),
  refused(
    "label-duplicate",
    "with the label sig1 twice, in two Signature-Input lines",
    SPLIT,
    (body, sender) =>
      plus(signedWebhook(body, sender), ["Signature-Input", `sig1=("@method");created=${sender.created}`]),
  ),
  refused("component-missing", "that covers a header it does not have", INVENTED, (body, sender) =>
    without(
      signedWebhook(body, {
        ...sender,
        cover: [...sender.form.cover, "x-request-id"],
        headers: (headers) => [...headers, ["X-Request-Id", ""]],
      }),
      "x-request-id",
    ),
  ),
  refused(
    "coverage",
    "whose signature does not cover Content-Digest, and so not the body",
    FORGED,
    (body, sender) =>
      signedWebhook(body, {
        ...sender,
        cover: sender.form.cover.filter((name) => name !== "content-digest"),
      }),
  ),
  refused("coverage-empty", "whose signature covers nothing", FORGED, (body, sender) =>
    signedWebhook(body, { ...sender, cover: [] }),
  ),
  refused(
    "coverage-removed",
    "with a component removed from the list after signing",
    FORGED,
    (body, sender) =>
      changed(signedWebhook(body, sender), "signature-input", (value) =>
        value.replace(listOf(sender.form.cover), listOf(sender.form.cover.slice(0, -1))),
      ),
  ),
];

/** The list of components as Signature-Input has it. */
const listOf = (cover: CoveredComponents): string => `(${cover.map((name) => `"${name}"`).join(" ")})`;

/** Flips a bit of the second-last byte, so that the base64 stays canonical. */
function flipped(value: string): string {
  const [, label = "", base64 = ""] = /^([^=]+)=:([^:]*):$/.exec(value) ?? [];
  const bytes = Buffer.from(base64, "base64");
  const at = Math.max(0, bytes.length - 2);
  bytes.writeUInt8((bytes[at] ?? 0) ^ 1, at);
  return `${label}=:${bytes.toString("base64")}:`;
}
