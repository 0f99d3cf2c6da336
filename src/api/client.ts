/** The client of the service: creates, lists, shows, updates and cancels payment links, and reads transactions. */
import { hint, paylink, PaylinkError } from "../domain/errors.ts";
import { stringifyJson } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { valueAt } from "../domain/json-pointer.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import type { PaymentLinkUpdate } from "../domain/payment-link-reply.ts";
import { type CreatedLink, readCreated } from "./created-link.ts";
import { type LinksPage, type LinksQuery, pageAddress, readPage } from "./links-page.ts";
import { type ApiParts, call, type Call, serviceUrl } from "./service-call.ts";
import { linkAddress, type LinkEffect, readServiceLink, type ServiceLink } from "./service-link.ts";

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
