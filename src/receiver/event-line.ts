/** An event as one line of JSON, with the record's text as received, not serialised again. */
import { stringifyJson } from "../domain/json.ts";
import { targetUri } from "../http/message.ts";
import { isEncoded } from "./content.ts";
import type { EventLine, WebhookEvent } from "./events.ts";

type Members = Partial<Record<keyof EventLine, unknown>>;

/** The text of an `EventLine`. It is joined from parts: the largest, record and body, exist as text already. */
export function eventLine(event: WebhookEvent, recordAt: string | undefined): string {
  const { type, id, receivedAt, repeated, verdict, breaches, request } = event;
  const { method, headers, trailers, body } = request;
  const url = request.authority === "" ? request.target : targetUri(request);
  const first = JSON.stringify({ type, id, receivedAt, repeated, verdict } satisfies Members);
  const middle = JSON.stringify({ breaches, method, url, headers, trailers } satisfies Members);
  const record = recordText(event, recordAt);
  const base64 = bytes(body).toString("base64");
  return `${first.slice(0, -1)},"record":${record},${middle.slice(1, -1)},"bodyBase64":"${base64}"}`;
}

/**
 * The record as one line: the text of the body, if it is the record. In JSON, line breaks are only between tokens. A body
 * with breaches may contain a card number that the record masks.
 */
export function recordText(
  { record, breaches, request }: Pick<WebhookEvent, "record" | "breaches" | "request">,
  recordAt: string | undefined,
): string {
  if (record === null || breaches.length > 0 || recordAt !== undefined || isEncoded(request))
    return stringifyJson(record);
  const text = bytes(request.body).toString("utf8");
  return (text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text).replace(/[\r\n]+/g, " ");
}

const BYTE_ORDER_MARK = 0xfeff;

const bytes = (body: Uint8Array): Buffer => Buffer.from(body.buffer, body.byteOffset, body.byteLength);
