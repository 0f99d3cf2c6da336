/** Forwards webhooks to the merchant's application: the bytes and signature headers as received, in order of arrival. */
import { messageOf } from "../domain/errors.ts";
import { SendTimeout, type Send } from "../http/exchange.ts";
import { addressOf, type HeaderLine, type HttpRequest } from "../http/message.ts";
import { isAccepted, type EventLog, type Forward, type StoreResult, type WebhookEvent } from "./events.ts";

/** Milliseconds from a webhook's arrival to the application's answer, including the time in the queue. */
const TIMEOUT = 30_000;
/** Milliseconds in which the result of an attempt is recorded, also on a slow disk. */
const RECORDING_TIME = 5_000;
/** Milliseconds between two looks at what another listener's attempt gave. */
const LOOK_EVERY = 100;
/** The status where nobody knows in time whether the application accepted: the service delivers the event again. */
const UNKNOWN = 503;
/** Characters of the application's answer that are kept and shown. */
const DETAIL_LENGTH = 500;

export interface ForwardOptions {
  readonly send: Send;
  readonly now: () => Date;
  readonly headers: readonly HeaderLine[];
  /** Takes a self-signed certificate from the application. */
  readonly insecure: boolean;
}

/** Makes one attempt. Never throws: the result says why the application did not answer. */
export async function forward(
  request: HttpRequest,
  url: URL,
  { send, now, headers, insecure }: ForwardOptions,
  timeout = TIMEOUT,
): Promise<Forward> {
  const at = now();
  const result = (status: number, detail: string): Forward => ({
    at,
    target: url.href,
    status,
    ms: now().getTime() - at.getTime(),
    detail,
  });
  try {
    const reply = await send(forwardRequest(request, url, headers), { timeout, insecure });
    return result(reply.status, isAccepted(reply.status) ? "" : beginning(reply.body));
  } catch (error) {
    const reason = messageOf(error);
    return result(error instanceof SendTimeout ? 504 : 502, reason);
  }
}

function beginning(body: Uint8Array): string {
  // Four bytes are the longest character of UTF-8.
  const text = new TextDecoder().decode(body.subarray(0, 4 * DETAIL_LENGTH));
  return [...text].slice(0, DETAIL_LENGTH).join("");
}

/** Fields of a single connection (RFC 9110 7.6.1), and fields that each connection sets itself. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
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

/** Fields that the application needs unchanged to verify the signature. */
const SIGNED: ReadonlySet<string> = new Set([
  "content-digest",
  "content-type",
  "signature",
  "signature-input",
]);

/** Whether the user may add a header of this name. */
export const mayAdd = (name: string): boolean =>
  name.toLowerCase() === "host" ||
  (!NOT_FORWARDED.has(name.toLowerCase()) && !SIGNED.has(name.toLowerCase()));

function forwardRequest(request: HttpRequest, url: URL, added: readonly HeaderLine[]): HttpRequest {
  const names = new Set(request.headers.map(([name]) => name.toLowerCase()));
  const forwarded = request.headers.filter(([name]) => !NOT_FORWARDED.has(name.toLowerCase()));
  const host: readonly HeaderLine[] = added.some(([name]) => name.toLowerCase() === "host")
    ? []
    : [["Host", url.host]];
  // To verify the signature, the application has to know which address was signed.
  const origin: readonly HeaderLine[] =
    names.has("x-forwarded-host") || request.authority === ""
      ? []
      : [
          ["X-Forwarded-Host", request.authority],
          ["X-Forwarded-Proto", request.scheme],
        ];
  return {
    method: request.method,
    ...addressOf(url),
    headers: [...host, ...forwarded, ["Content-Length", String(request.body.length)], ...origin, ...added],
    body: request.body,
  };
}

interface ForwarderParts extends ForwardOptions {
  /** Undefined where the event is not forwarded. */
  readonly targetOf: (event: WebhookEvent) => URL | undefined;
  readonly log: EventLog;
  readonly observe: (event: WebhookEvent, forwarded: Forward) => void;
  readonly pause: (milliseconds: number) => Promise<void>;
}

export interface Forwarder {
  /** Until when no other listener may forward the event; undefined where it is not forwarded. */
  readonly claimUntil: (event: WebhookEvent) => Date | undefined;
  /** Forwards a stored event and resolves with the status to answer the service. */
  readonly forward: (event: WebhookEvent, stored: StoreResult) => Promise<number>;
}

/** Keeps one queue for each target. */
export function createForwarder(parts: ForwarderParts): Forwarder {
  const queues = new Map<string, Promise<unknown>>();
  const pending = new Map<string, Promise<number>>();
  const enqueue = (event: WebhookEvent, first: string, url: URL): Promise<number> => {
    const attempted = (queues.get(url.href) ?? Promise.resolve()).then(() =>
      attempt(event, first, url, deadlineOf(event), parts),
    );
    queues.set(
      url.href,
      attempted.catch(() => undefined),
    );
    return attempted;
  };
  return {
    claimUntil: (event) =>
      parts.targetOf(event) === undefined ? undefined : new Date(deadlineOf(event) + RECORDING_TIME),
    forward: (event, stored) => {
      const { first, claimedElsewhere } = stored;
      // A repeated delivery while the first one is queued: the application gets the webhook once.
      const running = pending.get(first);
      if (running !== undefined) return running;
      if (claimedElsewhere) return answerElsewhere(event, stored, parts);
      const url = parts.targetOf(event);
      if (url === undefined) return Promise.resolve(200);
      const result = enqueue(event, first, url).finally(() => pending.delete(first));
      pending.set(first, result);
      return result;
    },
  };
}

const deadlineOf = ({ receivedAt }: WebhookEvent): number => receivedAt.getTime() + TIMEOUT;

/** Another listener on the same store is forwarding the event: its result is the answer, if it comes in time. */
async function answerElsewhere(
  event: WebhookEvent,
  stored: StoreResult,
  { log, now, pause }: ForwarderParts,
): Promise<number> {
  let state = stored;
  try {
    while (state.claimedElsewhere && now().getTime() < deadlineOf(event)) {
      await pause(LOOK_EVERY);
      state = await log.lookUp(stored.first, now());
    }
  } catch {
    return UNKNOWN;
  }
  if (state.accepted) return 200;
  return state.claimedElsewhere ? UNKNOWN : (state.answered ?? UNKNOWN);
}

/** Webhooks ahead of it in the queue have earlier deadlines, so no webhook waits past its own. */
async function attempt(
  event: WebhookEvent,
  first: string,
  url: URL,
  deadline: number,
  parts: ForwarderParts,
): Promise<number> {
  const at = parts.now();
  const remaining = deadline - at.getTime();
  const forwarded: Forward =
    remaining > 0
      ? await forward(event.request, url, parts, remaining)
      : {
          at,
          target: url.href,
          status: 504,
          ms: 0,
          detail: "timed out in the queue: earlier webhooks took all the time",
        };
  // The event is stored already, so the application's answer counts even where the disk has no room to record it.
  await parts.log.forwarded(first, forwarded).catch(() => undefined);
  parts.observe(event, forwarded);
  return isAccepted(forwarded.status) ? 200 : forwarded.status;
}
