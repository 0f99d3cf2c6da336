/** The endpoint that webhooks are posted to: its address, kept on this machine, and what it answered. */
import { isLoopback, parseWebAddress } from "../domain/web-address.ts";
import { accepted, refused, type Parsed } from "../domain/parse-result.ts";
import { SendError, type Send } from "../http/exchange.ts";
import type { HttpRequest } from "../http/message.ts";

/** A made-up webhook that reached a real shop would be a lie told to it. */
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

/** No answer: `sent` says whether the webhook may have arrived. */
export interface Silence {
  readonly status: null;
  readonly sent: boolean;
  readonly reason: string;
}

/** How long an endpoint may take, in milliseconds: the service waits as long. */
const PATIENCE = 10_000;

export async function post(
  request: HttpRequest,
  { send, now }: { readonly send: Send; readonly now: () => Date },
): Promise<Answer | Silence> {
  const start = now().getTime();
  try {
    const { status, body } = await send(request, { timeout: PATIENCE });
    return { status, milliseconds: now().getTime() - start, body: new TextDecoder().decode(body) };
  } catch (error) {
    if (error instanceof SendError) return { status: null, sent: error.sent, reason: error.message };
    throw error;
  }
}
