/** One link at the service, by its id: the address of an operation on it, and the link in the reply. */
import { PaylinkError, type Effect, type Problem } from "../domain/errors.ts";
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { parseJson } from "../domain/parse-json.ts";
import { type PaymentLink, readPaymentLink } from "../domain/payment-link-reply.ts";
import type { HttpReply } from "../http/message.ts";
import { valueOfLink } from "./created-link.ts";
import { checkAddress, reportedError, whenUnknown } from "./failures.ts";
import { reportsError, serviceWords } from "./service-words.ts";

export type LinkEffect = Extract<Effect, "show" | "update" | "cancel">;

export interface ServiceLink {
  /** The service's own JSON. */
  readonly text: string;
  /** The JSON of the link in it: `linkAt`, or all of it. */
  readonly json: JsonObject;
  readonly link: PaymentLink;
  readonly violations: readonly Problem[];
}

/** `links` is the address where links are created; its query is kept. */
export function linkAddress(links: URL, id: string, action: string): URL {
  const address = new URL(links);
  address.pathname = `${links.pathname.replace(/\/$/, "")}/${encodeURIComponent(id)}${action}`;
  return address;
}

interface Expected {
  readonly id: string;
  /** The setting. */
  readonly linkAt: string | undefined;
  readonly effect: LinkEffect;
}

/** Throws `outcome_unknown` for a 2xx reply without a link to a change, which may have had its effect. */
export function readServiceLink(reply: HttpReply, { id, linkAt, effect }: Expected): ServiceLink {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(reply.body);
  const parsed = parseJson(text);
  const body = parsed.ok ? parsed.value.value : null;
  const json = linkAt === undefined ? body : valueOfLink(body, linkAt);
  const { link, violations } = readPaymentLink(json);
  if (!isJsonObject(json) || (link.id === undefined && link.url === undefined)) {
    if (reportsError(body)) throw reportedError(reply, effect);
    throw noLink(reply, effect, id);
  }
  const other = link.id === undefined || link.id === id ? [] : [{ at: "id", message: `must be ${id}` }];
  return { text, json, link, violations: [...other, ...violations] };
}

function noLink({ status, body }: HttpReply, effect: LinkEffect, id: string): PaylinkError {
  const service = serviceWords(body).text;
  const message = `The service answered ${status}, but not with a link: ${service || "an empty body"}`;
  const details = { status, service, link: id };
  return effect === "show"
    ? new PaylinkError("not_reached", message, {
        effect,
        hints: [checkAddress("baseUrl", "linksPath", "linkAt")],
        details,
      })
    : new PaylinkError("outcome_unknown", message, { effect, hints: whenUnknown(effect, id), details });
}
