/** An event, a rejected request or a record as a line of JSON. */
import { type ReadRecord, recordSummary } from "../domain/transaction.ts";
import { capturedUrl, type HttpRequest } from "../http/message.ts";
import { stringifyJson } from "../values/json.ts";
import { orderText } from "../orders/order-json.ts";
import type { OrderStanding } from "../orders/standing.ts";
import type { Rejection, WebhookEvent } from "./event.ts";

/** How much the line of JSON matters to somebody who reads a log. */
export type Level = "info" | "warning" | "error";

/** A line of `listen --json` that is not an event. Every one says when it was and how much it matters. */
export const jsonLine = (
  type: string,
  at: Date,
  members: Readonly<Record<string, unknown>>,
  level: Level = "info",
): string => JSON.stringify({ type, ...members, at, level });

/** The check that refused a request; undefined where its signature verified, and something else was wrong. */
export const failedCheckOf = (verdict: Rejection["verdict"]): string | undefined =>
  verdict === null ? "http" : verdict.failure?.check;

export function rejectionLine(rejection: Omit<Rejection, "request">): string {
  const { type, id, receivedAt, code, status, detail, verdict, hint } = rejection;
  const check = failedCheckOf(verdict);
  return jsonLine(type, receivedAt, { id, receivedAt, code, status, detail, check, hint }, "warning");
}

export const levelOf = ({ verdict }: Pick<WebhookEvent, "verdict">): Level =>
  verdict.verdict === "valid" ? "info" : "warning";

/** What is stored and printed of an event, as texts: they are made once, and cheap to post to a thread. */
export interface EventTexts {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  /** The thumbprint of the key that has verified it; null if none has. */
  readonly key: string | null;
  /** As JSON, as the header lines. */
  readonly verdict: string;
  readonly headers: string;
  readonly method: string;
  readonly scheme: HttpRequest["scheme"];
  readonly authority: string;
  readonly target: string;
  readonly body: Uint8Array;
}

type OfTexts = Pick<WebhookEvent, "id" | "receivedAt" | "verdict" | "request">;

export function textsOf({ id, receivedAt, verdict, request }: OfTexts): EventTexts {
  const { method, scheme, authority, target, headers, body } = request;
  return {
    id,
    receivedAt: receivedAt.getTime(),
    key: verdict.key?.thumbprint ?? null,
    verdict: JSON.stringify(verdict),
    headers: JSON.stringify(headers),
    method,
    scheme,
    authority,
    target,
    body,
  };
}

/**
 * An event as `listen --json` prints it: enough to verify it again. With `--compact`, headers, record and body are left out. It is
 * joined from texts: the largest, record and body, exist already, and one object of all would take three times as long (listen bench).
 */
export const eventLine = (event: WebhookEvent, isCompact = false): string =>
  joinedLine(textsOf(event), event.content, {
    repeated: event.repeated,
    level: levelOf(event),
    order: event.order,
    isCompact,
  });

interface LineParts {
  readonly repeated: boolean;
  readonly level: Level;
  readonly order: OrderStanding | undefined;
  readonly isCompact: boolean;
}

export function joinedLine(
  texts: EventTexts,
  content: ReadRecord,
  { repeated, level, order, isCompact }: LineParts,
): string {
  const { outcome, reason, amount, currency, reference, uti, violations } = recordSummary(content);
  const at = `"${new Date(texts.receivedAt).toISOString()}"`;
  const line =
    `{"type":"event","id":${JSON.stringify(texts.id)},"receivedAt":${at},"at":${at},"level":"${level}"` +
    `,"outcome":"${outcome}"${reason === undefined ? "" : `,"reason":${JSON.stringify(reason)}`}` +
    `,"amount":${stringifyJson(amount)},"currency":${stringifyJson(currency)}` +
    `,"reference":${stringifyJson(reference)},"uti":${stringifyJson(uti)}` +
    `,"violations":${JSON.stringify(violations)}${order === undefined ? "" : `,"order":${orderText(order)}`},"repeated":${repeated},"key":${JSON.stringify(texts.key)},"verdict":${texts.verdict}` +
    `,"method":${JSON.stringify(texts.method)},"url":${JSON.stringify(capturedUrl(texts))}`;
  if (isCompact) return `${line}}`;
  const body = bytes(texts.body);
  return `${line},"headers":${texts.headers},"record":${recordText(content, body)},"bodyBase64":"${body.toString("base64")}"}`;
}

/** A request in the form that `verify` reads: the members that the line of an event has of it. */
export function requestDocument(request: HttpRequest) {
  const { method, headers, body } = request;
  return { method, url: capturedUrl(request), headers, bodyBase64: bytes(body).toString("base64") };
}

/** The record as one line: the text of the body, if it is the record. In JSON, line breaks are only between tokens. */
function recordText({ record, isWhole }: ReadRecord, body: Buffer): string {
  if (!isWhole) return stringifyJson(record);
  return body.toString("utf8").replaceAll("\r", " ").replaceAll("\n", " ");
}

/** A record that is not an event, in the same members. */
export const recordLine = (read: Pick<ReadRecord, "record" | "violations">): string =>
  stringifyJson({ ...recordSummary(read), record: read.record });

const bytes = (body: Uint8Array): Buffer => Buffer.from(body.buffer, body.byteOffset, body.byteLength);
