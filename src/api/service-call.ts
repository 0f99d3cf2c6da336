/** One exchange with the service: its address, the account's headers and token, and the failure if it is refused. */
import { hint, paylink, PaylinkError, type Effect } from "../domain/errors.ts";
import { isExposed, parseWebAddress } from "../domain/addresses.ts";
import type { TlsFiles } from "../http/exchange.ts";
import { addressOf, type HeaderLine, type HttpReply, type HttpRequest } from "../http/message.ts";
import { failureOf, refusalOf } from "./failures.ts";
import type { SendWithRetries } from "./retries.ts";
import type { TokenSource } from "./tokens.ts";

/** The form of a service's requests and replies: the settings of the same names. */
export interface ServiceForm {
  readonly linksPath: string;
  readonly transactionUrl: string | undefined;
  readonly authHeader: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly idempotencyHeader?: string | undefined;
  readonly linkAt?: string | undefined;
  readonly recordAt?: string | undefined;
}

export interface ApiParts extends ServiceForm {
  /** From `withRetries` or `withoutRetries`. */
  readonly send: SendWithRetries;
  readonly baseUrl: string;
  readonly tokens: TokenSource;
  /** Milliseconds for one exchange. */
  readonly timeout: number;
  readonly newId: () => string;
  readonly clientCertificate?: TlsFiles | undefined;
}

/** The URL of an operation. Throws if a token would be sent there without encryption. */
export function serviceUrl(baseUrl: string, path: string): URL {
  const url = parseWebAddress(baseUrl + path);
  if (url === undefined)
    throw new PaylinkError(
      "usage",
      `The base URL ${baseUrl} is not an absolute http or https URL. Nothing was sent.`,
    );
  if (isExposed(url))
    throw new PaylinkError(
      "usage",
      `${baseUrl} is not https, and paylink sends a token only over https. Nothing was sent.`,
      {
        hints: [hint`Set the https address of the service: ${paylink("config", "set", "baseUrl", "<url>")}`],
      },
    );
  return url;
}

/** One operation of the service. */
export interface Call {
  readonly method: "GET" | "POST" | "PATCH";
  readonly url: URL;
  /** Besides those that every request has. */
  readonly headers: readonly HeaderLine[];
  readonly body: Uint8Array;
  readonly effect: Effect;
  /** The id of the one link that the operation is about. */
  readonly link?: string;
}

/** Sends the request with the token in force, and once more if the service refuses that token. Throws unless it answers 2xx. */
export async function call(parts: ApiParts, operation: Call): Promise<HttpReply> {
  const { send, tokens, timeout, clientCertificate, idempotencyHeader } = parts;
  const { effect, link } = operation;
  const isKeyed = effect === "create" && idempotencyHeader !== undefined;
  const options = { timeout, clientCertificate, isKeyed };
  const exchange = (token: string): Promise<HttpReply> =>
    send(requestTo(operation, parts, token), options).catch((error: unknown) => {
      throw failureOf(error, effect, link);
    });
  const reply = await exchange(await tokens.current(effect));
  // A 401 had no effect, so the request may be repeated with another token.
  const renewed = reply.status === 401 ? await tokens.renew(effect) : undefined;
  const last = renewed === undefined ? reply : await exchange(renewed);
  if (last.status < 200 || last.status > 299) throw refusalOf(last, effect, link);
  return last;
}

/** A configured header replaces one of paylink's own, except the one with the token. */
function requestTo(
  { method, url, headers, body }: Call,
  form: Pick<ServiceForm, "authHeader" | "headers">,
  token: string,
): HttpRequest {
  const configured = Object.entries(form.headers ?? {});
  const [, name = "", value = ""] = /^([^:]*): *(.*)$/.exec(form.authHeader) ?? [];
  const replaced = new Set(configured.map(([spelled]) => spelled.toLowerCase()));
  const own: readonly HeaderLine[] = [["Accept", "application/json"], ...headers];
  const { scheme, authority, target } = addressOf(url);
  // Lists each member: on Node 20, a spread among them makes this call several times slower (bulk bench).
  return {
    method,
    scheme,
    authority,
    target,
    headers: [
      ...own.filter(([spelled]) => !replaced.has(spelled.toLowerCase())),
      ...configured.filter(([spelled]) => spelled.toLowerCase() !== name.toLowerCase()),
      [name, value.replaceAll("{token}", () => token)],
    ],
    body,
  };
}
