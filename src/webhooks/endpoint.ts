/** The endpoint that webhooks are posted to: its address, on this machine by default, and its answer. */
import { isLoopback, parseWebAddress } from "../domain/web-address.ts";
import { accepted, refused, type Parsed } from "../domain/parsed.ts";
import { SendError, type Send } from "../http/exchange.ts";
import type { HttpRequest } from "../http/message.ts";

/** Loopback only by default: a real shop must not receive sample payments by mistake. */
export function parseEndpoint(text: string, allowRemote: boolean): Parsed<URL> {
  const url = parseWebAddress(text);
  if (url === undefined)
    return refused("must be an absolute http or https URL, such as http://127.0.0.1:4000/");
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
}

/** Milliseconds that an endpoint may take: the service waits as long. */
const TIMEOUT = 10_000;

export async function post(
  request: HttpRequest,
  { send, now }: { readonly send: Send; readonly now: () => Date },
): Promise<Answer | NoAnswer> {
  const start = now().getTime();
  try {
    const { status, body } = await send(request, { timeout: TIMEOUT });
    return { status, milliseconds: now().getTime() - start, body: new TextDecoder().decode(body) };
  } catch (error) {
    if (error instanceof SendError) return { status: null, sent: error.sent, reason: error.message };
    throw error;
  }
}
