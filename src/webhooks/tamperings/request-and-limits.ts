/** Tamperings with the request around the content: its address, method and media type, and the limits on its size. */
import type { HeaderLine } from "../../http/message.ts";
import { signedWebhook } from "../signed-webhook.ts";
import { changed, plus } from "./edits.ts";
import { FORGED, limited, refused, SPLIT, type Tampering } from "./tampering.ts";

export const REQUEST: readonly Tampering[] = [
  refused(
    "target",
    "signed for another address",
    "A webhook for another shop would be accepted here.",
    (body, sender) => {
      const { target } = signedWebhook(body, sender);
      return { ...signedWebhook(body, { ...sender, url: elsewhere(sender.url) }), target };
    },
    ["@target-uri", "@path", "@request-target"],
  ),
  refused(
    "method",
    "signed as POST and sent as PUT",
    "Webhooks are always sent with POST.",
    (body, sender) => ({ ...signedWebhook(body, sender), method: "PUT" }),
    ["@method"],
  ),
  refused(
    "content-type",
    "whose content type was changed after signing",
    FORGED,
    (body, sender) =>
      changed(signedWebhook(body, sender), "content-type", () => "application/json; charset=utf-16"),
    ["content-type"],
  ),
  refused(
    "content-type-duplicate",
    "with a second Content-Type line",
    SPLIT,
    (body, sender) => plus(signedWebhook(body, sender), ["Content-Type", "text/plain"]),
    ["content-type"],
  ),
  limited("signatures", "with nine signatures", (body, sender) =>
    [1, 2, 3, 4, 5, 6, 7, 8].reduce(
      (request, number) =>
        changed(
          changed(request, "signature-input", (value) => `${value}, x${number}=("@method")`),
          "signature",
          (value) => `${value}, x${number}=:AAAA:`,
        ),
      signedWebhook(body, sender),
    ),
  ),
  limited("header-lines", "with 101 header lines", (body, sender) => {
    const request = signedWebhook(body, sender);
    const padding = Array.from({ length: 101 - request.headers.length }, (_, at): HeaderLine => [
      `X-${at}`,
      "x",
    ]);
    return plus(request, ...padding);
  }),
  limited("body-size", "with more than 1 MiB of body", (body, sender) =>
    signedWebhook(Buffer.concat([body, Buffer.alloc(1024 * 1024, " ")]), sender),
  ),
];

/** The same host with another path. */
function elsewhere(url: URL): URL {
  const other = new URL(url);
  other.pathname = `${url.pathname.replace(/\/$/, "")}/other`;
  return other;
}
