/** An event as one line of JSON, its record in the service's own spelling: what is received is not written anew. */
import { stringifyJson } from "../domain/json.ts";
import { targetUri, type HttpRequest } from "../http/message.ts";
import { isEncoded } from "./content.ts";
import type { EventLine, WebhookEvent } from "./events.ts";

/** The text of an `EventLine`. */
export function eventLine({
  id,
  receivedAt,
  repeated,
  verdict,
  record,
  breaches,
  request,
}: WebhookEvent): string {
  const before = {
    type: "event",
    id,
    receivedAt: receivedAt.toISOString(),
    repeated,
    verdict,
  } satisfies Partial<EventLine>;
  const after = {
    breaches,
    method: request.method,
    url: request.authority === "" ? request.target : targetUri(request),
    headers: request.headers,
    ...(request.trailers === undefined ? {} : { trailers: request.trailers }),
    bodyBase64: base64(request.body),
  } satisfies Partial<EventLine>;
  // Two halves that are complete objects: the record is put between them as the text that it came as.
  const text = record === null ? "null" : recordText(request, record);
  return `${JSON.stringify(before).slice(0, -1)},"record":${text},${JSON.stringify(after).slice(1)}`;
}

/** A raw line break in JSON can only be white space between two tokens. */
function recordText(request: HttpRequest, record: WebhookEvent["record"]): string {
  if (isEncoded(request)) return stringifyJson(record);
  const text = bytes(request.body).toString("utf8");
  return (text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text).replace(/[\r\n]+/g, " ");
}

const BYTE_ORDER_MARK = 0xfeff;

const bytes = (body: Uint8Array): Buffer => Buffer.from(body.buffer, body.byteOffset, body.byteLength);
const base64 = (body: Uint8Array): string => bytes(body).toString("base64");
