/** An event as one line of JSON, with the record's text as received, not serialised again. */
import { stringifyJson } from "../domain/json.ts";
import { targetUri } from "../http/message.ts";
import { isEncoded } from "./content.ts";
import type { EventLine, WebhookEvent } from "./events.ts";

/** The text of an `EventLine`. It is joined from parts, because the largest of them exist as text already. */
export function eventLine(event: WebhookEvent, recordAt: string | undefined): string {
  const { id, receivedAt, repeated, verdict, breaches, request } = event;
  const url = request.authority === "" ? request.target : targetUri(request);
  const members: Record<keyof EventLine, string | undefined> = {
    type: '"event"',
    id: JSON.stringify(id),
    receivedAt: JSON.stringify(receivedAt),
    repeated: String(repeated),
    verdict: JSON.stringify(verdict),
    record: recordText(event, recordAt),
    breaches: JSON.stringify(breaches),
    method: JSON.stringify(request.method),
    url: JSON.stringify(url),
    headers: JSON.stringify(request.headers),
    trailers: JSON.stringify(request.trailers),
    bodyBase64: `"${bytes(request.body).toString("base64")}"`,
  };
  let line = "";
  for (const [name, text] of Object.entries(members))
    if (text !== undefined) line += `${line === "" ? "{" : ","}"${name}":${text}`;
  return `${line}}`;
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
