/** The client of the service: creates and lists payment links, and reads transactions. */
import { PaylinkError } from "../domain/errors.ts";
import { parseJson, stringifyJson } from "../domain/json.ts";
import { valueAt } from "../domain/json-pointer.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import { isExposed, parseWebAddress } from "../domain/web-address.ts";
import type { TlsFiles } from "../http/exchange.ts";
import { addressOf, type HeaderLine, type HttpReply, type HttpRequest } from "../http/message.ts";
import { readCreated, type CreatedLink } from "./created-link.ts";
import { failureOf, refusalOf, type Effect } from "./failures.ts";
import { pageAddress, readPage, type LinksPage, type LinksQuery } from "./links-page.ts";
import type { SendWithRetries } from "./retries.ts";
import type { TokenSource } from "./tokens.ts";

/** How requests and replies of a service look: the settings of the same names. */
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
  /** Retries are up to it: `withRetries`, `withoutRetries`. */
  readonly send: SendWithRetries;
  readonly baseUrl: string;
  readonly tokens: TokenSource;
  /** Milliseconds for one exchange. */
  readonly timeout: number;
  readonly newId: () => string;
  readonly clientCertificate?: TlsFiles | undefined;
}

export interface Transaction {
  /** The JSON of the service, unchanged. */
  readonly body: Uint8Array;
  /** The JSON of the record in it: `recordAt`, or all of it. */
  readonly record: Uint8Array;
}

export interface Api {
  /**
   * "Create payment link": throws `refused`, `unauthorized`, `not_reached`, `outcome_unknown`, … The service creates one link
   * for a key, if it has an idempotency header; without a key the link gets a new one.
   */
  createLink(request: PaymentLinkRequest, key?: string): Promise<CreatedLink>;
  /** One page of the links of a terminal. Throws like `createLink`, except `outcome_unknown`. */
  listLinks(query: LinksQuery): Promise<LinksPage>;
  /** Throws like `listLinks`. */
  readTransaction(uti: string): Promise<Transaction>;
  /** Obtains a new access token; false if the account has no client credentials. Throws like `listLinks`. */
  renewToken(): Promise<boolean>;
}

export function createApi(parts: ApiParts): Api {
  const { baseUrl, linksPath, linkAt, recordAt, idempotencyHeader, newId } = parts;
  return {
    createLink: async (request, key = newId()) => {
      const reply = await call(parts, {
        method: "POST",
        url: serviceUrl(baseUrl, linksPath),
        headers: [
          ["Content-Type", "application/json"],
          ...(idempotencyHeader === undefined ? [] : [[idempotencyHeader, key] as const]),
        ],
        body: new TextEncoder().encode(stringifyJson(request)),
        effect: "creates",
      });
      return readCreated(reply, request, linkAt);
    },
    listLinks: async (query) => {
      const reply = await call(parts, {
        method: "GET",
        url: pageAddress(serviceUrl(baseUrl, linksPath), query),
        // The documented service asks for it on every request.
        headers: [["Content-Type", "application/json"]],
        body: new Uint8Array(),
        effect: "reads",
      });
      return readPage(reply);
    },
    readTransaction: async (uti) => {
      const { body } = await call(parts, {
        method: "GET",
        url: transactionAddress(parts, uti),
        headers: [],
        body: new Uint8Array(),
        effect: "reads",
      });
      return { body, record: recordAt === undefined ? body : recordIn(body, recordAt) };
    },
    renewToken: async () => (await parts.tokens.renew()) !== undefined,
  };
}

function transactionAddress({ baseUrl, transactionUrl }: ApiParts, uti: string): URL {
  if (transactionUrl === undefined)
    throw new PaylinkError("usage", "The service has no known address for transactions. Nothing was read.", {
      hint: "Set it, with {uti} for the transaction: paylink config set transactionUrl <path or URL>",
    });
  const address = transactionUrl.replaceAll("{uti}", () => encodeURIComponent(uti));
  return address.startsWith("/") ? serviceUrl(baseUrl, address) : serviceUrl(address, "");
}

/** The URL of an operation. Throws if a token would be sent there without encryption. */
export function serviceUrl(baseUrl: string, path: string): URL {
  const url = parseWebAddress(baseUrl + path);
  if (url === undefined)
    throw new PaylinkError("usage", `The base URL ${baseUrl} is not an absolute http or https URL.`);
  if (isExposed(url))
    throw new PaylinkError("usage", `${baseUrl} is not https, and paylink sends a token only over https.`, {
      hint: "Set the https address of the service as the base URL.",
    });
  return url;
}

interface Call {
  readonly method: "GET" | "POST";
  readonly url: URL;
  /** Besides those that every request has. */
  readonly headers: readonly HeaderLine[];
  readonly body: Uint8Array;
  readonly effect: Effect;
}

async function call(parts: ApiParts, operation: Call): Promise<HttpReply> {
  const { send, tokens, timeout, clientCertificate, idempotencyHeader } = parts;
  const { effect } = operation;
  const isKeyed = effect === "creates" && idempotencyHeader !== undefined;
  const options = { timeout, clientCertificate, isKeyed };
  const exchange = (token: string): Promise<HttpReply> =>
    send(requestTo(operation, parts, token), options).catch((error: unknown) => {
      throw failureOf(error, effect);
    });
  const reply = await exchange(await tokens.current());
  // A 401 had no effect, so the request may be repeated with another token.
  const renewed = reply.status === 401 ? await tokens.renew() : undefined;
  const last = renewed === undefined ? reply : await exchange(renewed);
  if (last.status < 200 || last.status > 299) throw refusalOf(last, effect);
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
  return {
    method,
    ...addressOf(url),
    headers: [
      ...own.filter(([spelled]) => !replaced.has(spelled.toLowerCase())),
      ...configured.filter(([spelled]) => spelled.toLowerCase() !== name.toLowerCase()),
      [name, value.replaceAll("{token}", () => token)],
    ],
    body,
  };
}

/** The record keeps the spelling of its numbers. */
function recordIn(body: Uint8Array, pointer: string): Uint8Array {
  const json = parseJson(new TextDecoder().decode(body));
  // What is not JSON is not a record either: the reader of the record says so.
  if (!json.ok) return body;
  const record = valueAt(json.value.value, pointer);
  if (record === undefined)
    throw new PaylinkError("usage", `The answer of the service has nothing at ${pointer} (recordAt).`, {
      hint: "Set where the record is: paylink config set recordAt <JSON Pointer>",
      details: { recordAt: pointer, body: new TextDecoder().decode(body) },
    });
  return new TextEncoder().encode(stringifyJson(record));
}
