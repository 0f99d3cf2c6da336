/** The client of the service: creates payment links and reads transactions, with a bearer token that stays safe. */
import { PaylinkError, type Problem } from "../domain/errors.ts";
import { parseJson, stringifyJson } from "../domain/json.ts";
import { readPaymentLink, type PaymentLink } from "../domain/payment-link-reply.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import { isExposed, parseWebAddress } from "../domain/web-address.ts";
import type { Send } from "../http/exchange.ts";
import type { HttpReply, HttpRequest } from "../http/message.ts";
import { failureOf, refusalOf, type Effect } from "./refusals.ts";

export interface ApiParts {
  readonly send: Send;
  readonly baseUrl: string;
  readonly token: string;
  /** Milliseconds for one exchange. */
  readonly timeout: number;
}

export interface CreatedLink {
  /** The service's own JSON. */
  readonly text: string;
  readonly link: PaymentLink;
  readonly breaches: readonly Problem[];
}

export interface Api {
  /** "Create payment link": throws `refused`, `unauthorized`, `not_reached`, `outcome_unknown`, … */
  createLink(request: PaymentLinkRequest): Promise<CreatedLink>;
}

export function createApi(parts: ApiParts): Api {
  return {
    createLink: async (request) => {
      const body = new TextEncoder().encode(stringifyJson(request));
      const reply = await call(parts, "POST", "/v1/payment-links", body, "creates");
      return readCreated(reply, request);
    },
  };
}

async function call(
  { send, baseUrl, token, timeout }: ApiParts,
  method: "GET" | "POST",
  path: string,
  body: Uint8Array,
  effect: Effect,
): Promise<HttpReply> {
  const url = parseWebAddress(baseUrl + path);
  if (url === undefined)
    throw new PaylinkError("usage", `The base URL ${baseUrl} is not an absolute http or https URL.`);
  if (isExposed(url))
    throw new PaylinkError("usage", `${baseUrl} is not https: a token is never sent in the open.`, {
      hint: "Give the service's https address as the base URL.",
    });
  const request: HttpRequest = {
    method,
    scheme: url.protocol === "https:" ? "https" : "http",
    authority: url.host,
    target: `${url.pathname}${url.search}`,
    headers: [
      ["Accept", "application/json"],
      ["Authorization", `Bearer ${token}`],
      ...(body.length > 0 ? ([["Content-Type", "application/json"]] as const) : []),
    ],
    body,
  };
  const reply = await send(request, { timeout }).catch((error: unknown) => {
    throw failureOf(error, effect);
  });
  if (reply.status < 200 || reply.status > 299) throw refusalOf(reply, effect);
  return reply;
}

/** A reply that says yes and cannot be read leaves open what was created. */
function readCreated(reply: HttpReply, request: PaymentLinkRequest): CreatedLink {
  const text = new TextDecoder().decode(reply.body);
  const json = parseJson(text);
  if (!json.ok)
    throw new PaylinkError(
      "outcome_unknown",
      `The service answered ${reply.status} with a body that ${json.message}.`,
      {
        details: { status: reply.status, body: text },
      },
    );
  const status = reply.status === 200 ? [] : [{ at: "", message: `the status is ${reply.status}, not 200` }];
  const { link, breaches } = readPaymentLink(json.value.value, request);
  return { text, link, breaches: [...status, ...breaches] };
}
