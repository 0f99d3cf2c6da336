/** The client of the service: creates payment links and reads transactions. */
import { PaylinkError, type Problem } from "../domain/errors.ts";
import { isJsonObject, parseJson, stringifyJson } from "../domain/json.ts";
import { readPaymentLink, type PaymentLink } from "../domain/payment-link-reply.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import { isExposed, parseWebAddress } from "../domain/web-address.ts";
import type { Send } from "../http/exchange.ts";
import { addressOf, fieldLines, type HttpReply, type HttpRequest } from "../http/message.ts";
import { errorInside, failureOf, isError, refusalOf, type Effect } from "./failures.ts";
import type { TokenSource } from "./tokens.ts";

export const CREATE_PATH = "/v1/payment-links";

export interface ApiParts {
  /** Retries are up to it: `withRetries`, `withoutRetries`. */
  readonly send: Send;
  readonly baseUrl: string;
  readonly tokens: TokenSource;
  /** Where a transaction is read: a path or a whole URL, with `{uti}` in it. */
  readonly transactionUrl: string | undefined;
  /** Milliseconds for one exchange. */
  readonly timeout: number;
}

export interface CreatedLink {
  /** The service's own JSON. */
  readonly text: string;
  readonly link: PaymentLink & { readonly url: string };
  readonly breaches: readonly Problem[];
}

export interface Api {
  /** "Create payment link": throws `refused`, `unauthorized`, `not_reached`, `outcome_unknown`, … */
  createLink(request: PaymentLinkRequest): Promise<CreatedLink>;
  /** The JSON of the transaction as the service sent it. Throws like `createLink`, except `outcome_unknown`. */
  readTransaction(uti: string): Promise<Uint8Array>;
}

export function createApi(parts: ApiParts): Api {
  return {
    createLink: async (request) => {
      const url = serviceUrl(parts.baseUrl, CREATE_PATH);
      const body = new TextEncoder().encode(stringifyJson(request));
      const reply = await call(parts, "POST", url, body, "creates");
      return readCreated(reply, request);
    },
    readTransaction: async (uti) => {
      const url = transactionAddress(parts, uti);
      const reply = await call(parts, "GET", url, new Uint8Array(), "reads");
      return reply.body;
    },
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

async function call(
  { send, tokens, timeout }: ApiParts,
  method: "GET" | "POST",
  url: URL,
  body: Uint8Array,
  effect: Effect,
): Promise<HttpReply> {
  const exchange = (token: string): Promise<HttpReply> =>
    send(requestTo(url, method, token, body), { timeout }).catch((error: unknown) => {
      throw failureOf(error, effect);
    });
  const reply = await exchange(await tokens.current());
  // A 401 had no effect, so the request may be repeated with another token.
  const renewed = reply.status === 401 ? await tokens.renew() : undefined;
  const last = renewed === undefined ? reply : await exchange(renewed);
  if (last.status < 200 || last.status > 299) throw refusalOf(last, effect);
  return last;
}

function requestTo(url: URL, method: "GET" | "POST", token: string, body: Uint8Array): HttpRequest {
  return {
    method,
    ...addressOf(url),
    headers: [
      ["Accept", "application/json"],
      ["Authorization", `Bearer ${token}`],
      ...(body.length > 0 ? ([["Content-Type", "application/json"]] as const) : []),
    ],
    body,
  };
}

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** After a 2xx reply that cannot be read, the link may exist. */
function readCreated(reply: HttpReply, request: PaymentLinkRequest): CreatedLink {
  const text = UTF8.decode(reply.body);
  const json = parseJson(text);
  if (!json.ok) throw unusable(reply, `a body that ${json.message}`, text);
  const body = json.value.value;
  if (!isJsonObject(body)) throw unusable(reply, "JSON that is not an object", text);
  const { link, breaches } = readPaymentLink(body, request);
  const { url } = link;
  if (url === undefined) throw isError(body) ? errorInside(reply) : unusable(reply, "no URL of a link", text);
  const repeated = json.value.duplicates.map((at) => ({
    at,
    message: "is given twice; the last one is shown",
  }));
  return { text, link: { ...link, url }, breaches: [...headBreaches(reply), ...repeated, ...breaches] };
}

const unusable = ({ status }: HttpReply, what: string, body: string): PaylinkError =>
  new PaylinkError("outcome_unknown", `The service answered ${status} with ${what}.`, {
    details: { status, body },
  });

/** Success of "Create payment link" is 200 with JSON (Errors rule 1). */
function* headBreaches({ status, headers }: HttpReply): Iterable<Problem> {
  if (status !== 200) yield { at: "", message: `the status is ${status}, not 200` };
  const [type = "missing"] = fieldLines(headers, "content-type");
  if (!/^application\/json(?:\s*;|\s*$)/i.test(type))
    yield { at: "", message: `the Content-Type is ${type}, not application/json` };
}
