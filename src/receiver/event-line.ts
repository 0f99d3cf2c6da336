/** An event as one line of JSON, with the record's text as received, not serialised again. */
import { stringifyJson } from "../domain/json.ts";
import { targetUri, type HttpRequest } from "../http/message.ts";
import { isEncoded } from "./content.ts";
import type { EventLine, WebhookEvent } from "./events.ts";

/** The text of an `EventLine`, joined from texts, since the largest ones exist already. */
export function eventLine({
  id,
  receivedAt,
  repeated,
  record,
  breaches,
  request,
  json,
}: WebhookEvent): string {
  const url = request.authority === "" ? request.target : targetUri(request);
  const members: Record<keyof EventLine, string | undefined> = {
    type: '"event"',
    id: JSON.stringify(id),
    receivedAt: JSON.stringify(receivedAt),
    repeated: String(repeated),
    verdict: json.verdict,
    record: record === null ? "null" : recordText(request, record),
    breaches: JSON.stringify(breaches),
    method: JSON.stringify(request.method),
    url: JSON.stringify(url),
    headers: json.headers,
    trailers: JSON.stringify(request.trailers),
    bodyBase64: `"${bytes(request.body).toString("base64")}"`,
  };
  let line = "";
  for (const [name, text] of Object.entries(members))
    if (text !== undefined) line += `${line === "" ? "{" : ","}"${name}":${text}`;
  return `${line}}`;
}

/** Replaces line breaks: in JSON they can only be white space between tokens. */
function recordText(request: HttpRequest, record: WebhookEvent["record"]): string {
  if (isEncoded(request)) return stringifyJson(record);
  const text = bytes(request.body).toString("utf8");
  return (text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text).replace(/[\r\n]+/g, " ");
}

const BYTE_ORDER_MARK = 0xfeff;

const bytes = (body: Uint8Array): Buffer => Buffer.from(body.buffer, body.byteOffset, body.byteLength);
