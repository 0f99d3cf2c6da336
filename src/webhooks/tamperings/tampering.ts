/** What a tampering is, and what taking one would mean. */
import type { HttpRequest } from "../../http/message.ts";
import type { WebhookOptions } from "../sample-webhook.ts";

export interface Tampering {
  readonly name: string;
  readonly sent: string;
  /** What taking it would mean. */
  readonly matters: string;
  /** `refused` by every endpoint; `limited` where the endpoint may set its own limits; `authentic`, though it breaks the specification. */
  readonly kind: "refused" | "limited" | "authentic";
  readonly tamper: (body: Uint8Array, sender: WebhookOptions) => HttpRequest;
}

export const FORGED = "Anybody on the way could change what was paid.";
export const REPLAYED = "Whoever has seen one webhook could send it again, for ever.";
export const ANYBODY = "Anybody could make up a payment.";
export const SPLIT = "Two readers of the same message would each believe another half of it.";

/** `sent` is the end of a sentence that begins "a webhook". */
export function refused(name: string, sent: string, matters: string, tamper: Tampering["tamper"]): Tampering {
  return { name, sent: `a webhook ${sent}`, matters, kind: "refused", tamper };
}

export function limited(name: string, sent: string, tamper: Tampering["tamper"]): Tampering {
  const matters = "Without limits one sender can keep the endpoint busy.";
  return { name, sent: `a webhook ${sent}`, matters, kind: "limited", tamper };
}

export function authentic(name: string, sent: string, tamper: Tampering["tamper"]): Tampering {
  const matters = "It is authentic, and breaks the specification: it should be kept and looked into.";
  return { name, sent: `a webhook ${sent}`, matters, kind: "authentic", tamper };
}
