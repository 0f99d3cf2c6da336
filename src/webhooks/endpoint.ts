/** The endpoint that webhooks are posted to: its address, which is limited to this machine, and its answers. */
import { hint, PaylinkError, type Hint, type WebhookEffect } from "../domain/errors.ts";
import { isLoopback, LISTENER_URL, parseWebAddress } from "../domain/addresses.ts";
import { accepted, refused, type Parsed } from "../domain/parse-result.ts";
import { isOfUnknownAuthority, reasonOf, SendError, type Send } from "../http/exchange.ts";
import type { HttpRequest } from "../http/message.ts";

export function parseEndpoint(text: string, allowRemote: boolean): Parsed<URL> {
  const url = parseWebAddress(text);
  return url === undefined
    ? refused(`must be an absolute http or https URL, such as ${LISTENER_URL}`)
    : allowEndpoint(url, allowRemote);
}

/** Keeps sample webhooks on this machine: a live shop could mistake one for a payment. */
export function allowEndpoint(url: URL, allowRemote: boolean): Parsed<URL> {
  if (allowRemote || isLoopback(url.hostname)) return accepted(url);
  return refused("is not on this machine; add --allow-remote if that endpoint is yours");
}

export interface Answer {
  readonly status: number;
  readonly milliseconds: number;
  readonly body: string;
}

/** `sent` says whether the webhook may have arrived. */
export interface NoAnswer {
  readonly status: null;
  readonly sent: boolean;
  readonly reason: string;
  /** The endpoint's certificate is from an authority that Node does not know. */
  readonly untrusted: boolean;
}

/** Milliseconds that an endpoint may take: the service waits as long. */
const TIMEOUT = 10_000;

export async function post(
  request: HttpRequest,
  { send, now, signal }: { readonly send: Send; readonly now: () => Date; readonly signal: AbortSignal },
): Promise<Answer | NoAnswer> {
  const start = now().getTime();
  try {
    const { status, body } = await send(request, { timeout: TIMEOUT, signal });
    return { status, milliseconds: now().getTime() - start, body: new TextDecoder().decode(body) };
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    const { sent } = error;
    return { status: null, sent, reason: reasonOf(error), untrusted: isOfUnknownAuthority(error) };
  }
}

/** `effect` is what was not done, and `next` says how to reach an endpoint. */
export function notReached(
  url: string,
  { reason, untrusted }: NoAnswer,
  { effect, next }: { readonly effect: WebhookEffect; readonly next: Hint },
): PaylinkError {
  if (!untrusted)
    return new PaylinkError("not_reached", `Nothing answers at ${url}: ${reason}.`, {
      effect,
      hints: [next],
    });
  return new PaylinkError("not_reached", `The certificate of ${url} is not trusted: ${reason}.`, {
    effect,
    hints: [hint`Set NODE_EXTRA_CA_CERTS to the PEM file of the certificate, or of its authority.`],
  });
}
