/** The type of a tampering, and the consequences of accepting one. */
import type { HttpRequest } from "../../http/message.ts";
import type { WebhookOptions } from "../sample-webhook.ts";

export interface Tampering {
  readonly name: string;
  readonly sent: string;
  /** The consequence of accepting it. */
  readonly matters: string;
  /** `refused`: by every endpoint; `limited`: where its limits say so; `authentic`: signed, but breaks the specification. */
  readonly kind: "refused" | "limited" | "authentic";
  readonly tamper: (body: Uint8Array, sender: WebhookOptions) => HttpRequest;
}

export const FORGED = "Anyone between the service and the endpoint could change what was paid.";
export const REPLAYED = "Anyone who saw one webhook could send it again at any time.";
export const INVENTED = "Anyone could invent a payment.";
export const SPLIT = "Two programs would read the same message differently.";

/** `sent` is the end of a sentence that begins "a webhook". */
export function refused(name: string, sent: string, matters: string, tamper: Tampering["tamper"]): Tampering {
  return { name, sent: `a webhook ${sent}`, matters, kind: "refused", tamper };
}

export function limited(name: string, sent: string, tamper: Tampering["tamper"]): Tampering {
  const matters = "Without limits, one sender can keep the endpoint busy.";
  return { name, sent: `a webhook ${sent}`, matters, kind: "limited", tamper };
}

export function authentic(name: string, sent: string, tamper: Tampering["tamper"]): Tampering {
  const matters = "It is authentic but breaks the specification: store it and look into it.";
  return { name, sent: `a webhook ${sent}`, matters, kind: "authentic", tamper };
}
