/** The client of the service: creates, lists, shows, updates and cancels payment links, and reads transactions. */
import type { PaymentLinkRequest } from "../domain/payment-link-shapes.ts";
import { PaylinkError } from "../domain/errors.ts";
import type { Exchanges } from "../domain/exchanges.ts";
import { hint, type Hint, paylink } from "../domain/hint.ts";
import { type Json, stringifyJson } from "../values/json.ts";
import {
  type CreatedLink,
  expiryIn,
  isWithoutLink,
  type LinkChanges,
  type ListQuery,
  pageAddress,
  readCreated,
  readPage,
  readServiceLink,
  requireCancelled,
  requireUpdated,
  type ServiceLink,
} from "./links.ts";
import {
  filledPath,
  isReading,
  type LinkOperation,
  type OperationName,
  OPERATIONS,
} from "../domain/operations.ts";
import { type About, whenUnknown } from "./advice.ts";
import { recordIn } from "./envelopes.ts";
import { isExposed, parseWebAddress } from "../values/addresses.ts";
import type { Send } from "../http/exchange.ts";
import { addressOf, fieldLines, type HttpReply, type HttpRequest, NO_BODY } from "../http/message.ts";
import { failureOfExchange, isTokenRefused, failureOfReply } from "./failures.ts";
import type { TokenSource } from "./tokens.ts";

/** Operations throw `refused`, `unauthorized`, `not_reached`, …; those that change something also `outcome_unknown`. */
export interface Api {
  /** "Create payment link". */
  readonly createLink: (request: PaymentLinkRequest) => Promise<CreatedLink>;
  /** One page of the links of a terminal. */
  readonly listLinks: (query: ListQuery) => Promise<readonly Json[]>;
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
  const callLink = async <Name extends LinkOperation>(
    operation: Name,
    id: string,
    request?: Call<Name>["request"],
  ): Promise<ServiceLink> => {
    const url = operationUrl(parts.baseUrl, operation, { id });
    const reply = await call(parts, { operation, url, request, about: { link: id } });
    if (operation !== "details" && isWithoutLink(reply)) return readAgain(reply, id, operation);
    return readServiceLink(reply, id, operation);
  };
  const showLink = (id: string): Promise<ServiceLink> => callLink("details", id);
  /** The link after a change that the service acknowledged without giving it. */
  const readAgain = (
    { status }: HttpReply,
    link: string,
    effect: Exclude<LinkOperation, "details">,
  ): Promise<ServiceLink> =>
    showLink(link).catch((error: unknown) => {
      if (!(error instanceof PaylinkError) || error.isInterruption) throw error;
      throw error.with({
        code: "outcome_unknown",
        message: `The service answered ${status} without the link, and reading it failed: ${error.message}`,
        effect,
        hints: whenUnknown(effect, { link }),
        problems: [],
        details: { ...error.details, link },
      });
    });
  return {
    createLink: async (request) => {
      const url = operationUrl(parts.baseUrl, "create");
      const { terminalId, invoiceId } = request;
      const about = { terminalId, invoiceId, sent: parts.sent() };
      const reply = await call(parts, { operation: "create", url, request, about });
      return readCreated(reply, request, about);
    },
    listLinks: async (query) => {
      const url = pageAddress(operationUrl(parts.baseUrl, "list"), query);
      return readPage(await call(parts, { operation: "list", url }));
    },
    showLink,
    updateLink: async (id, changes) => {
      const own = "expirationDate" in changes ? {} : expiryIn(await showLink(id).catch(asUnchanged));
      const updated = await callLink("update", id, { ...own, ...changes });
      requireUpdated(updated, id, changes);
      return updated;
    },
    cancelLink: async (id) => {
      const cancelled = await callLink("cancel", id);
      requireCancelled(cancelled, id);
      return cancelled;
    },
    readTransaction: async (uti) =>
      recordIn(await call(parts, { operation: "transaction", url: transactionAddress(parts, uti) })),
    renewToken: async () => (await parts.tokens.renew("token")) !== undefined,
  };
}

/** A link that could not be read before it was to be changed is not changed. */
function asUnchanged(error: unknown): never {
  if (!(error instanceof PaylinkError) || error.effect !== "details") throw error;
  throw error.with({ effect: "update" });
}

function transactionAddress({ baseUrl, transactionUrl }: ApiParts, uti: string): URL {
  if (transactionUrl === undefined)
    throw new PaylinkError("usage", "The service has no known address for transactions.", {
      consequence: "Nothing was read.",
      hints: [
        hint`Set it, with {uti} for the transaction: ${paylink`config set transactionUrl <path or URL>`}`,
      ],
    });
  const address = filledPath(transactionUrl, { uti });
  return address.startsWith("/") ? serviceUrl(baseUrl, address) : serviceUrl(address, "");
}

export interface ApiParts {
  /** With retries, unless the caller retries. */
  readonly send: Send;
  /** The time by this clock or by that of the service, whichever is behind. */
  readonly sent: () => Date;
  /** Called after an interruption, when the answer to a request that may have changed something is awaited. */
  readonly awaiting: (next: readonly Hint[]) => void;
  readonly now: () => Date;
  readonly baseUrl: string;
  readonly transactionUrl: string | undefined;
  readonly tokens: TokenSource;
  /** Milliseconds for one exchange. */
  readonly timeout: number;
}

const operationUrl = (
  baseUrl: string,
  operation: OperationName,
  values: Readonly<Record<string, string>> = {},
): URL => serviceUrl(baseUrl, filledPath(OPERATIONS[operation].path, values));

/** Throws if a token would be sent there without encryption. */
export function serviceUrl(baseUrl: string, path: string): URL {
  const url = parseWebAddress(baseUrl + path);
  if (url === undefined)
    throw new PaylinkError("usage", `The base URL ${baseUrl} is not an absolute http or https URL.`, {
      consequence: "Nothing was sent.",
    });
  if (isExposed(url))
    throw new PaylinkError("usage", `${baseUrl} is not https, and paylink sends a token only over https.`, {
      consequence: "Nothing was sent.",
      hints: [hint`Set the https address of the service: ${paylink`config set baseUrl <url>`}`],
    });
  return url;
}

interface Call<Name extends OperationName> {
  readonly operation: Name;
  readonly url: URL;
  /** Sent as JSON. */
  readonly request?: Partial<Exchanges[Name]["request"]> | undefined;
  readonly about?: About;
}

/** Sends the request with the token in force, and once more if the service refuses that token. Throws unless it answers 2xx. */
async function call<Name extends OperationName>(
  parts: ApiParts,
  { operation: name, url, request, about = {} }: Call<Name>,
): Promise<HttpReply> {
  const { send, now, tokens, timeout } = parts;
  const operation: OperationName = name;
  const body = request === undefined ? NO_BODY : new TextEncoder().encode(stringifyJson(request));
  // Only a request that may change something (RFC 9110 9.2.1) must be completed.
  const options = isReading(operation)
    ? { timeout }
    : { timeout, finish: true, awaiting: () => parts.awaiting(whenUnknown(operation, about)) };
  const exchange = (token: string): Promise<HttpReply> =>
    withSlash(url, (address) => send(requestTo(operation, address, token, body), options)).catch(
      (error: unknown) => {
        throw failureOfExchange(error, operation, about);
      },
    );
  const token = await tokens.current(operation);
  const reply = await exchange(token);
  // Neither had an effect, so the request may be repeated with another token. Some gateways answer 403 to one that has ended.
  const isRefused = reply.status === 403 || isTokenRefused(reply);
  const renewed = isRefused ? await tokens.renew(operation, token) : undefined;
  const last = renewed === undefined ? reply : await exchange(renewed);
  if (last.status < 200 || last.status > 299) throw failureOfReply(last, operation, { about, now: now() });
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

function requestTo(operation: OperationName, url: URL, token: string, body: Uint8Array): HttpRequest {
  const { scheme, authority, target } = addressOf(url);
  // Lists each member: on Node 20, a spread among them makes this call several times slower (bulk bench).
  return {
    method: OPERATIONS[operation].method,
    scheme,
    authority,
    target,
    // The documented service asks for the type of JSON on every request.
    headers: [
      ["Accept", "application/json"],
      ["Content-Type", "application/json"],
      ["Authorization", `Bearer ${token}`],
    ],
    body,
  };
}
