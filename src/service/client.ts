/** The client of the service: creates, lists, shows, updates and cancels payment links, and reads transactions. */
import type { PaymentLinkRequest } from "../domain/payment-link-values.ts";
import { type Effect, PaylinkError } from "../domain/errors.ts";
import { hint, paylink } from "../domain/hint.ts";
import { type Json, stringifyJson } from "../domain/json.ts";
import {
  type CreatedLink,
  expiryIn,
  isWithoutLink,
  linkAddress,
  type LinkChanges,
  type LinkEffect,
  type LinksQuery,
  pageAddress,
  readCreated,
  readPage,
  readServiceLink,
  requireCancelled,
  requireUpdated,
  type ServiceLink,
} from "./links.ts";
import { LINKS_PATH } from "../domain/known-services.ts";
import { recordIn } from "./envelopes.ts";
import { isExposed, parseWebAddress } from "../domain/addresses.ts";
import type { Send } from "../http/exchange.ts";
import {
  addressOf,
  fieldLines,
  type HeaderLine,
  type HttpReply,
  type HttpRequest,
  NO_BODY,
} from "../http/message.ts";
import { failureOfExchange, isTokenRefused, failureOfReply, whenUnknown } from "./failures.ts";
import type { TokenSource } from "./tokens.ts";

/** The documented service asks for it on every request for links. */
const JSON_CONTENT = [["Content-Type", "application/json"]] as const;

/** Operations throw `refused`, `unauthorized`, `not_reached`, …; those that change something also `outcome_unknown`. */
export interface Api {
  /** "Create payment link". */
  readonly createLink: (request: PaymentLinkRequest) => Promise<CreatedLink>;
  /** One page of the links of a terminal. */
  readonly listLinks: (query: LinksQuery) => Promise<readonly Json[]>;
  /** The details of one link. */
  readonly showLink: (id: string) => Promise<ServiceLink>;
  /**
   * Changes the description or the expiry of a link. The service requires an expiry: by default, the link's own is sent.
   * Throws `outcome_unknown` for a link that was not changed as asked.
   */
  readonly updateLink: (id: string, changes: LinkChanges) => Promise<ServiceLink>;
  /** Throws `outcome_unknown` for a link that can still be paid afterwards. */
  readonly cancelLink: (id: string) => Promise<ServiceLink>;
  /** The record, without what the service wraps it in. */
  readonly readTransaction: (uti: string) => Promise<Uint8Array>;
  /** Obtains a new access token; false if the account has no client credentials. */
  readonly renewToken: () => Promise<boolean>;
}

export function createApi(parts: ApiParts): Api {
  let knownAddress: URL | undefined;
  const linksAddress = (): URL => (knownAddress ??= serviceUrl(parts.baseUrl, LINKS_PATH));
  /** `action` follows the id in the path. */
  const callLink = async (
    id: string,
    action: string,
    operation: Pick<Call, "method" | "body"> & { readonly effect: LinkEffect },
  ): Promise<ServiceLink> => {
    const url = linkAddress(linksAddress(), id, action);
    const reply = await call(parts, { ...operation, url, headers: JSON_CONTENT, link: id });
    if (operation.effect !== "show" && isWithoutLink(reply)) return readAgain(reply, id, operation.effect);
    return readServiceLink(reply, id, operation.effect);
  };
  const showLink = (id: string): Promise<ServiceLink> => callLink(id, "", { method: "GET", effect: "show" });
  /** The link after a change that the service acknowledged without giving it. */
  const readAgain = ({ status }: HttpReply, id: string, effect: LinkEffect): Promise<ServiceLink> =>
    showLink(id).catch((error: unknown) => {
      if (!(error instanceof PaylinkError) || error.isInterruption) throw error;
      throw new PaylinkError(
        "outcome_unknown",
        `The service answered ${status} without the link, and reading it failed: ${error.message}`,
        { effect, hints: whenUnknown(effect, id), details: { ...error.details, link: id }, cause: error },
      );
    });
  return {
    createLink: async (request) => {
      const body = new TextEncoder().encode(stringifyJson(request));
      const operation = { method: "POST", url: linksAddress(), headers: JSON_CONTENT, body } as const;
      return readCreated(await call(parts, { ...operation, effect: "create" }), request);
    },
    listLinks: async (query) => {
      const url = pageAddress(linksAddress(), query);
      return readPage(await call(parts, { method: "GET", url, headers: JSON_CONTENT, effect: "list" }));
    },
    showLink,
    updateLink: async (id, changes) => {
      const own = "expirationDate" in changes ? {} : expiryIn(await showLink(id).catch(asUnchanged));
      const body = new TextEncoder().encode(stringifyJson({ ...own, ...changes }));
      const updated = await callLink(id, "", { method: "PATCH", body, effect: "update" });
      requireUpdated(updated, id, changes);
      return updated;
    },
    cancelLink: async (id) => {
      const cancelled = await callLink(id, "/cancel", { method: "POST", effect: "cancel" });
      requireCancelled(cancelled, id);
      return cancelled;
    },
    readTransaction: async (uti) => {
      const url = transactionAddress(parts, uti);
      return recordIn(await call(parts, { method: "GET", url, headers: [], effect: "read" }));
    },
    renewToken: async () => (await parts.tokens.renew("read")) !== undefined,
  };
}

/** A link that could not be read before it was to be changed is not changed. */
function asUnchanged(error: unknown): never {
  if (!(error instanceof PaylinkError) || error.effect !== "show") throw error;
  const { code, message, hints, details } = error;
  throw new PaylinkError(code, message, { effect: "update", hints, details, cause: error });
}

function transactionAddress({ baseUrl, transactionUrl }: ApiParts, uti: string): URL {
  if (transactionUrl === undefined)
    throw new PaylinkError("usage", "The service has no known address for transactions.", {
      consequence: "Nothing was read.",
      hints: [
        hint`Set it, with {uti} for the transaction: ${paylink("config", "set", "transactionUrl", "<path or URL>")}`,
      ],
    });
  const address = transactionUrl.replaceAll("{uti}", () => encodeURIComponent(uti));
  return address.startsWith("/") ? serviceUrl(baseUrl, address) : serviceUrl(address, "");
}

export interface ApiParts {
  /** With retries, unless the caller retries. */
  readonly send: Send;
  readonly now: () => Date;
  /** The setting. */
  readonly baseUrl: string;
  /** The setting. */
  readonly transactionUrl: string | undefined;
  readonly tokens: TokenSource;
  /** Milliseconds for one exchange. */
  readonly timeout: number;
}

/** The URL of an operation. Throws if a token would be sent there without encryption. */
export function serviceUrl(baseUrl: string, path: string): URL {
  const url = parseWebAddress(baseUrl + path);
  if (url === undefined)
    throw new PaylinkError("usage", `The base URL ${baseUrl} is not an absolute http or https URL.`, {
      consequence: "Nothing was sent.",
    });
  if (isExposed(url))
    throw new PaylinkError("usage", `${baseUrl} is not https, and paylink sends a token only over https.`, {
      consequence: "Nothing was sent.",
      hints: [hint`Set the https address of the service: ${paylink("config", "set", "baseUrl", "<url>")}`],
    });
  return url;
}

/** One operation of the service. */
interface Call {
  readonly method: "GET" | "POST" | "PATCH";
  readonly url: URL;
  /** Besides those that every request has. */
  readonly headers: readonly HeaderLine[];
  /** Empty by default. */
  readonly body?: Uint8Array;
  readonly effect: Effect;
  /** The id of the one link that the operation is about. */
  readonly link?: string;
}

/** Sends the request with the token in force, and once more if the service refuses that token. Throws unless it answers 2xx. */
async function call(parts: ApiParts, operation: Call): Promise<HttpReply> {
  const { send, now, tokens, timeout } = parts;
  const { effect, link } = operation;
  // Only a request that may change something (RFC 9110 9.2.1) must be completed.
  const options = { timeout, finish: operation.method !== "GET" };
  const exchange = (token: string): Promise<HttpReply> =>
    withSlash(operation.url, (url) => send(requestTo({ ...operation, url }, token), options)).catch(
      (error: unknown) => {
        throw failureOfExchange(error, effect, link);
      },
    );
  const token = await tokens.current(effect);
  const reply = await exchange(token);
  // Neither had an effect, so the request may be repeated with another token. Some gateways answer 403 to one that has ended.
  const isRefused = reply.status === 403 || isTokenRefused(reply);
  const renewed = isRefused ? await tokens.renew(effect, token) : undefined;
  const last = renewed === undefined ? reply : await exchange(renewed);
  if (last.status < 200 || last.status > 299) throw failureOfReply(last, effect, { link, now: now() });
  return last;
}

/**
 * Sends once more where a redirect only adds a slash: both forms are the same address of the service, so the token may go there. Every
 * other redirect is the answer.
 */
async function withSlash(url: URL, exchange: (url: URL) => Promise<HttpReply>): Promise<HttpReply> {
  const reply = await exchange(url);
  // These two keep the method and the body (RFC 9110 15.4).
  if (reply.status !== 307 && reply.status !== 308) return reply;
  const [location = ""] = fieldLines(reply.headers, "location");
  const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  if (target?.origin !== url.origin || target.pathname !== `${url.pathname}/`) return reply;
  // A server may leave out the query.
  if (target.search !== "" && target.search !== url.search) return reply;
  const same = new URL(url);
  same.pathname = target.pathname;
  return exchange(same);
}

function requestTo({ method, url, headers, body = NO_BODY }: Call, token: string): HttpRequest {
  const { scheme, authority, target } = addressOf(url);
  // Lists each member: on Node 20, a spread among them makes this call several times slower (bulk bench).
  return {
    method,
    scheme,
    authority,
    target,
    headers: [["Accept", "application/json"], ...headers, ["Authorization", `Bearer ${token}`]],
    body,
  };
}
