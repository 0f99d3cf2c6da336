/** The client of the service: creates, lists, shows, updates and cancels payment links, and reads transactions. */
import { type Effect, hint, paylink, PaylinkError } from "../domain/errors.ts";
import { stringifyJson, valueAt } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import type { PaymentLinkUpdate } from "../domain/payment-link-reply.ts";
import {
  type CreatedLink,
  linkAddress,
  type LinkEffect,
  type LinksPage,
  type LinksQuery,
  pageAddress,
  readCreated,
  readPage,
  readServiceLink,
  type ServiceLink,
} from "./links.ts";
import { isExposed, parseWebAddress } from "../domain/addresses.ts";
import type { TlsFiles } from "../http/exchange.ts";
import { addressOf, type HeaderLine, type HttpReply, type HttpRequest } from "../http/message.ts";
import { failureOf, refusalOf } from "./failures.ts";
import type { SendWithRetries } from "./retries.ts";
import type { TokenSource } from "./tokens.ts";

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
  /** The details of one link. Throws like `listLinks`. */
  showLink(id: string): Promise<ServiceLink>;
  /** Changes the description or the expiry of a link. Throws like `createLink`. */
  updateLink(id: string, changes: PaymentLinkUpdate): Promise<ServiceLink>;
  /** Throws like `createLink`. */
  cancelLink(id: string): Promise<ServiceLink>;
  /** Throws like `listLinks`. */
  readTransaction(uti: string): Promise<Transaction>;
  /** Obtains a new access token; false if the account has no client credentials. Throws like `listLinks`. */
  renewToken(): Promise<boolean>;
}

/** The documented service asks for it on every request for links. */
const JSON_TYPE = [["Content-Type", "application/json"]] as const;
const NOTHING = new Uint8Array();

interface LinkCall extends Pick<Call, "method" | "body"> {
  readonly effect: LinkEffect;
  /** What follows the id in the path. */
  readonly action: string;
}

export function createApi(parts: ApiParts): Api {
  const { baseUrl, linksPath, linkAt, recordAt, idempotencyHeader, newId } = parts;
  let knownAddress: URL | undefined;
  const linksAddress = (): URL => (knownAddress ??= serviceUrl(baseUrl, linksPath));
  const callLink = async (id: string, operation: LinkCall): Promise<ServiceLink> => {
    const { action, ...request } = operation;
    const url = linkAddress(linksAddress(), id, action);
    const reply = await call(parts, { ...request, url, headers: JSON_TYPE, link: id });
    return readServiceLink(reply, { id, linkAt, effect: operation.effect });
  };
  return {
    createLink: async (request, key = newId()) => {
      const reply = await call(parts, {
        method: "POST",
        url: linksAddress(),
        headers: [
          ...JSON_TYPE,
          ...(idempotencyHeader === undefined ? [] : [[idempotencyHeader, key] as const]),
        ],
        body: new TextEncoder().encode(stringifyJson(request)),
        effect: "create",
      });
      return readCreated(reply, request, linkAt);
    },
    listLinks: async (query) => {
      const reply = await call(parts, {
        method: "GET",
        url: pageAddress(linksAddress(), query),
        headers: JSON_TYPE,
        body: NOTHING,
        effect: "list",
      });
      return readPage(reply);
    },
    showLink: (id) => callLink(id, { method: "GET", action: "", body: NOTHING, effect: "show" }),
    updateLink: (id, changes) => {
      const body = new TextEncoder().encode(stringifyJson(changes));
      return callLink(id, { method: "PATCH", action: "", body, effect: "update" });
    },
    cancelLink: (id) => callLink(id, { method: "POST", action: "/cancel", body: NOTHING, effect: "cancel" }),
    readTransaction: async (uti) => {
      const { body } = await call(parts, {
        method: "GET",
        url: transactionAddress(parts, uti),
        headers: [],
        body: NOTHING,
        effect: "read",
      });
      return { body, record: recordAt === undefined ? body : recordIn(body, recordAt) };
    },
    renewToken: async () => (await parts.tokens.renew("read")) !== undefined,
  };
}

function transactionAddress({ baseUrl, transactionUrl }: ApiParts, uti: string): URL {
  if (transactionUrl === undefined)
    throw new PaylinkError("usage", "The service has no known address for transactions. Nothing was read.", {
      hints: [
        hint`Set it, with {uti} for the transaction: ${paylink("config", "set", "transactionUrl", "<path or URL>")}`,
      ],
    });
  const address = transactionUrl.replaceAll("{uti}", () => encodeURIComponent(uti));
  return address.startsWith("/") ? serviceUrl(baseUrl, address) : serviceUrl(address, "");
}

/** The record keeps the spelling of its numbers. */
function recordIn(body: Uint8Array, pointer: string): Uint8Array {
  const json = parseJson(new TextDecoder().decode(body));
  // The reader of the record reports a body that is not JSON.
  if (!json.ok) return body;
  const record = valueAt(json.value.value, pointer);
  if (record === undefined)
    throw new PaylinkError("usage", `The answer of the service has nothing at ${pointer} (recordAt).`, {
      hints: [hint`Set where the record is: ${paylink("config", "set", "recordAt", "<JSON Pointer>")}`],
      details: { recordAt: pointer, body: new TextDecoder().decode(body) },
    });
  return new TextEncoder().encode(stringifyJson(record));
}

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
