/** Passes webhooks on to the merchant's application: the bytes and signature headers as they came, in order of arrival. */
import { SendTimeout, type Send } from "../http/exchange.ts";
import type { HeaderLine, HttpRequest } from "../http/message.ts";
import { isAccepted, type EventLog, type Forward, type WebhookEvent } from "./events.ts";

/** Milliseconds from a webhook's arrival that the application may take, its turn in the line included. */
const PATIENCE = 30_000;
/** Characters of what the application says that are kept and shown. */
const DETAIL_LENGTH = 500;

export interface ForwardWay {
  readonly send: Send;
  readonly now: () => Date;
  readonly headers: readonly HeaderLine[];
  /** Takes a self-signed certificate from the application. */
  readonly insecure: boolean;
}

/** One attempt. It never throws: what kept the application from answering is in the result. */
export async function forward(
  request: HttpRequest,
  url: URL,
  { send, now, headers, insecure }: ForwardWay,
  timeout = PATIENCE,
): Promise<Forward> {
  const at = now();
  const end = (status: number, detail: string): Forward => ({
    at,
    target: url.href,
    status,
    ms: now().getTime() - at.getTime(),
    detail,
  });
  try {
    const reply = await send(forwardRequest(request, url, headers), { timeout, insecure });
    return end(reply.status, isAccepted(reply.status) ? "" : beginning(reply.body));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return end(error instanceof SendTimeout ? 504 : 502, reason);
  }
}

function beginning(body: Uint8Array): string {
  // Four bytes are the longest character of UTF-8.
  const text = new TextDecoder().decode(body.subarray(0, 4 * DETAIL_LENGTH));
  return [...text].slice(0, DETAIL_LENGTH).join("");
}

/** Of one connection alone (RFC 9110 7.6.1), or said anew for the next one. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** What the signature covers may not be added to: the application verifies it again. */
const SIGNED: ReadonlySet<string> = new Set([
  "content-digest",
  "content-type",
  "signature",
  "signature-input",
]);

/** Whether the user may add a header of this name. */
export const mayAdd = (name: string): boolean =>
  name.toLowerCase() === "host" ||
  (!NOT_PASSED_ON.has(name.toLowerCase()) && !SIGNED.has(name.toLowerCase()));

function forwardRequest(request: HttpRequest, url: URL, added: readonly HeaderLine[]): HttpRequest {
  const names = new Set(request.headers.map(([name]) => name.toLowerCase()));
  const passed = request.headers.filter(([name]) => !NOT_PASSED_ON.has(name.toLowerCase()));
  const host: readonly HeaderLine[] = added.some(([name]) => name.toLowerCase() === "host")
    ? []
    : [["Host", url.host]];
  // An application that verifies the signature itself has to know which address was signed.
  const origin: readonly HeaderLine[] =
    names.has("x-forwarded-host") || request.authority === ""
      ? []
      : [
          ["X-Forwarded-Host", request.authority],
          ["X-Forwarded-Proto", request.scheme],
        ];
  return {
    method: request.method,
    scheme: url.protocol === "https:" ? "https" : "http",
    authority: url.host,
    target: `${url.pathname}${url.search}`,
    headers: [...host, ...passed, ["Content-Length", String(request.body.length)], ...origin, ...added],
    body: request.body,
  };
}

interface ForwarderParts extends ForwardWay {
  /** Undefined where the event is not to be passed on. */
  readonly targetOf: (event: WebhookEvent) => URL | undefined;
  readonly log: EventLog;
  readonly observe: (event: WebhookEvent, forwarded: Forward) => void;
}

/** Gives each target a line of its own; resolves with the status that the service is answered. */
export function createForwarder(
  parts: ForwarderParts,
): (event: WebhookEvent, first: string) => Promise<number> {
  const lines = new Map<string, Promise<unknown>>();
  const pending = new Map<string, Promise<number>>();
  const inLine = (event: WebhookEvent, first: string, url: URL): Promise<number> => {
    const deadline = event.receivedAt.getTime() + PATIENCE;
    const turn = (lines.get(url.href) ?? Promise.resolve()).then(() =>
      attempt(event, first, url, deadline, parts),
    );
    lines.set(
      url.href,
      turn.catch(() => undefined),
    );
    return turn;
  };
  return (event, first) => {
    // Delivered again while it waits for its turn: the application gets it once.
    const running = pending.get(first);
    if (running !== undefined) return running;
    const url = parts.targetOf(event);
    if (url === undefined) return Promise.resolve(200);
    const result = inLine(event, first, url).finally(() => pending.delete(first));
    pending.set(first, result);
    return result;
  };
}

/** Those before it in the line were given up by their own, earlier deadlines: none waits longer than its patience. */
async function attempt(
  event: WebhookEvent,
  first: string,
  url: URL,
  deadline: number,
  parts: ForwarderParts,
): Promise<number> {
  const at = parts.now();
  const left = deadline - at.getTime();
  const forwarded: Forward =
    left > 0
      ? await forward(event.request, url, parts, left)
      : { at, target: url.href, status: 504, ms: 0, detail: "those before it took all the time there was" };
  // The event itself is kept: what the application answered counts, even where the disk has no room to note it.
  await parts.log.forwarded(first, forwarded).catch(() => undefined);
  parts.observe(event, forwarded);
  return isAccepted(forwarded.status) ? 200 : forwarded.status;
}
