/** The type of a tampering, and the consequences of accepting one. */
import type { HttpRequest } from "../../http/message.ts";
import { DERIVED_COVER, SERVICE_COVER, type CoveredComponents } from "../signature-form.ts";
import type { WebhookOptions } from "../signed-webhook.ts";

export interface Tampering {
  readonly name: string;
  readonly sent: string;
  /** The consequence of accepting it. */
  readonly matters: string;
  /** `refused`: by every endpoint; `limited`: where its limits say so; `authentic`: signed, but breaks the specification. */
  readonly kind: "refused" | "limited" | "authentic";
  /** The tampering is detected only if the signature covers one of these components; empty for most. */
  readonly detectedBy: CoveredComponents;
  readonly tamper: (body: Uint8Array, sender: WebhookOptions) => HttpRequest;
}

export const FORGED = "Anyone between the service and the endpoint could change what was paid.";
export const REPLAYED = "Anyone who saw one webhook could send it again at any time.";
export const INVENTED = "Anyone could invent a payment.";
export const SPLIT = "Two programs would read the same message differently.";

/** `sent` is the end of a sentence that begins "a webhook". */
export function refused(
  name: string,
  sent: string,
  matters: string,
  tamper: Tampering["tamper"],
  detectedBy: CoveredComponents = [],
): Tampering {
  return { name, sent: `a webhook ${sent}`, matters, kind: "refused", detectedBy, tamper };
}

export function limited(name: string, sent: string, tamper: Tampering["tamper"]): Tampering {
  const matters = "Without limits, one sender can keep the endpoint busy.";
  return { name, sent: `a webhook ${sent}`, matters, kind: "limited", detectedBy: [], tamper };
}

export function authentic(name: string, sent: string, tamper: Tampering["tamper"]): Tampering {
  const matters = "It is authentic but breaks the specification: store it and look into it.";
  return { name, sent: `a webhook ${sent}`, matters, kind: "authentic", detectedBy: [], tamper };
}

/**
 * The cover to tamper under: the one that was chosen, or the service's, or one with derived components where only they
 * reveal the tampering. Undefined if the chosen cover does not reveal it.
 */
export function coverToTamper(
  { detectedBy }: Tampering,
  chosen: CoveredComponents | undefined,
): CoveredComponents | undefined {
  const covers = chosen === undefined ? [SERVICE_COVER, DERIVED_COVER] : [chosen];
  return covers.find((cover) => detectedBy.length === 0 || detectedBy.some((name) => cover.includes(name)));
}
