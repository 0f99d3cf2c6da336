/** Forwards webhooks before they are acknowledged, so that the service gets the application's answer: side by side, each in its time. */
import { textOf } from "../domain/transaction.ts";
import { type EventLog, type Forward, isAccepted, type StoreResult, type WebhookEvent } from "./events.ts";
import type { HttpReply } from "../http/message.ts";
import {
  ACCEPTED_BEFORE,
  type Attempt,
  forward,
  type Forwarder,
  type ForwardOptions,
  replyFor,
} from "./forward.ts";

/** Milliseconds in which the result of an attempt is recorded, also on a slow disk. */
const RECORDING_TIME = 5_000;
/** Milliseconds between checks for the result of another listener's attempt. */
const CHECK_EVERY = 100;
/** The answer if the application's answer is not known in time: the service delivers the event again. */
const UNKNOWN = replyFor(503, "error=http_response_timeout");

interface DirectForwarderParts extends ForwardOptions {
  /** The most requests to applications at the same time. */
  readonly concurrency: number;
  /** Undefined if the event is not forwarded. */
  readonly targetOf: (event: WebhookEvent) => URL | undefined;
  readonly log: EventLog;
  /** `first` is the id of the event's first delivery. */
  readonly observe: (event: WebhookEvent, forwarded: Forward, first: string) => void;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/** The time of the application begins with the arrival of the webhook: the service waits no longer for one that had to wait here. */
export function createDirectForwarder(parts: DirectForwarderParts): Forwarder {
  const { targetOf, timeout, now } = parts;
  const lanes = createLanes(parts.concurrency);
  const running = new Map<string, Promise<HttpReply>>();
  const deadlineOf = ({ receivedAt }: WebhookEvent): number => receivedAt.getTime() + timeout;
  const attempt = async (event: WebhookEvent, first: string, url: URL): Promise<HttpReply> => {
    const reference = (event.record && textOf(event.record, "reference")) || first;
    const remaining = (): number => deadlineOf(event) - now().getTime();
    const end = await lanes.enter(reference, remaining());
    const made = await attemptIn(remaining(), event, url, parts).finally(end);
    // The event is stored, so the application's answer counts even if a full disk does not record it.
    await parts.log.forwarded(first, made).catch(() => undefined);
    parts.observe(event, made, first);
    return answerFor(made);
  };
  return {
    plan: (event) =>
      targetOf(event) === undefined ? undefined : new Date(deadlineOf(event) + RECORDING_TIME),
    forward: (event, stored) => {
      const { first, claimedElsewhere } = stored;
      // A repeated delivery waits for the first one, so that the application gets the webhook once.
      const same = running.get(first);
      if (same !== undefined) return same;
      if (claimedElsewhere) return answerElsewhere(event, stored, deadlineOf(event), parts);
      const url = targetOf(event);
      if (url === undefined) return Promise.resolve(replyFor(200, 'details="not forwarded"'));
      const result = attempt(event, first, url).finally(() => running.delete(first));
      running.set(first, result);
      return result;
    },
  };
}

/** Another listener on the same store is forwarding the event: its result is the answer, if it comes in time. */
async function answerElsewhere(
  event: WebhookEvent,
  stored: StoreResult,
  deadline: number,
  { log, now, pause }: DirectForwarderParts,
): Promise<HttpReply> {
  let state = stored;
  try {
    while (state.claimedElsewhere && now().getTime() < deadline) {
      await pause(CHECK_EVERY);
      state = await log.lookUp(stored.first, now());
    }
  } catch {
    return UNKNOWN;
  }
  if (state.accepted) return ACCEPTED_BEFORE;
  return state.claimedElsewhere || state.answered === undefined ? UNKNOWN : received(state.answered);
}

async function attemptIn(
  remaining: number,
  event: WebhookEvent,
  url: URL,
  parts: DirectForwarderParts,
): Promise<Attempt> {
  if (remaining > 0) return forward(event, url, { ...parts, timeout: remaining });
  return {
    at: parts.now(),
    target: url.href,
    status: null,
    ms: 0,
    detail: "timed out in the queue: earlier webhooks took all the time",
    timedOut: true,
    sent: false,
  };
}

/**
 * The answer for the service, which delivers again what the application did not accept (RFC 9110 15.6.3, 15.6.5). An error names
 * its kind alone: its words may have addresses of this network.
 */
function answerFor({ status, timedOut, sent, reply }: Attempt): HttpReply {
  if (status !== null) return received(status, reply);
  if (timedOut) return replyFor(504, "error=http_response_timeout");
  return replyFor(502, `error=${sent ? "connection_terminated" : "destination_unavailable"}`);
}

/** What a proxy would pass on, and the status that it received: every 2xx is accepted, and a service may know only 200. */
function received(status: number, reply?: HttpReply): HttpReply {
  const answer = reply && {
    // Its body is decoded.
    headers: reply.headers.filter(([name]) => name.toLowerCase() === "content-type"),
    body: reply.body,
  };
  return replyFor(isAccepted(status) ? 200 : status, `received-status=${status}`, answer);
}

interface Lanes {
  /** Resolves with what leaves the lane: once one is free for this key, or when the time has passed. */
  readonly enter: (key: string, milliseconds: number) => Promise<() => void>;
}

/** So many at the same time, in order of arrival, and one of each key: a busy key does not delay others. */
function createLanes(most: number): Lanes {
  const taken = new Set<string>();
  const waiting = new Set<{ readonly key: string; readonly begin: () => void }>();
  const next = (): void => {
    for (const { key, begin } of waiting) {
      if (taken.size >= most) return;
      if (!taken.has(key)) begin();
    }
  };
  return {
    enter: (key, milliseconds) =>
      new Promise((resolve) => {
        const leave = (): void => {
          taken.delete(key);
          next();
        };
        const begin = (): void => {
          clearTimeout(timer);
          waiting.delete(one);
          taken.add(key);
          resolve(leave);
        };
        const one = { key, begin };
        const timer = setTimeout(() => {
          waiting.delete(one);
          resolve(() => undefined);
        }, milliseconds);
        waiting.add(one);
        next();
      }),
  };
}
