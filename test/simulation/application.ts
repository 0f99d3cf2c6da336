/** The application of a simulated world: the webhooks that it is sent, whether they may be sent, and what it answers. */
import type { AttemptResult } from "../../src/receiver/attempt.ts";
import { type HttpRequest, isSuccess } from "../../src/http/message.ts";
import { nameIn } from "../support/forwarding.ts";
import type { KnownPayment, KnownPayments } from "./known.ts";
import type { Receiver } from "./receiver.ts";
import { signerOf } from "./service.ts";
import type { Trace } from "./trace.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** A request that the application has not answered yet. */
interface Request {
  readonly uti: string;
  readonly receiver: Receiver;
  readonly end: (result: AttemptResult) => void;
}

/** How an attempt can end, and what a receiver then knows. */
export const ANSWERS = {
  ok: answered(200),
  "no content": answered(204),
  "not found": answered(404),
  error: answered(500),
  busy: answered(503),
  "busy for a while": answered(503, "20"),
  limited: answered(429),
  lost: { kind: "noAnswer", why: "the connection was closed", failure: "closed", sent: true },
  "not reached": { kind: "notReached", why: "nothing listens there", failure: "refused" },
} satisfies Record<string, AttemptResult>;

export type Answer = keyof typeof ANSWERS;

const TIMED_OUT: AttemptResult = { kind: "noAnswer", why: "no answer", failure: "timeout", sent: true };

function answered(status: number, retryAfter?: string): AttemptResult {
  const headers = retryAfter === undefined ? [] : [["Retry-After", retryAfter] as const];
  return { kind: "answered", status, headers, body: new Uint8Array() };
}

export interface ApplicationParts {
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly payments: KnownPayments;
}

export class Application {
  readonly #parts: ApplicationParts;
  #requests: readonly Request[] = [];

  constructor(parts: ApplicationParts) {
    this.#parts = parts;
  }

  /** A receiver forwards a webhook, and waits so many milliseconds for the answer. */
  deliver(receiver: Receiver, webhook: HttpRequest, timeout: number): Promise<AttemptResult> {
    const { time, trace, payments } = this.#parts;
    const uti = `uti-${nameIn(webhook)}`;
    const known = payments.byUti(uti);
    const signer = signerOf(webhook, known.payment);
    if (signer === undefined || !receiver.keys().includes(signer))
      trace.broken(`${receiver.name} forwards ${uti}, which another key has verified`);
    if (known.events.size <= 1) this.#checkAttempt(receiver, known);
    return new Promise((resolve) => {
      const request: Request = {
        uti,
        receiver,
        end: (result) => {
          this.#requests = this.#requests.filter((one) => one !== request);
          if (receiver.isAlive) resolve(result);
        },
      };
      this.#requests = [...this.#requests, request];
      time
        .timersOf(() => receiver.isAlive && this.#requests.includes(request))
        .after(timeout, () => request.end(TIMED_OUT));
    });
  }

  #checkAttempt(receiver: Receiver, known: KnownPayment): void {
    const { trace } = this.#parts;
    const { uti } = known.payment;
    const other = this.#requests.find((one) => one.uti === uti && one.receiver.isAlive);
    if (other !== undefined) trace.broken(`${receiver.name} sends ${uti} while ${other.receiver.name} does`);
    if (known.accepted.length >= known.allowed())
      trace.broken(`${receiver.name} sends ${uti}, which the application has accepted`);
    if (known.skipped.size > 0) trace.broken(`${receiver.name} sends ${uti}, which is skipped`);
  }

  /** Answers one of the requests. */
  answer(index: number, answer: Answer): void {
    const request = this.#requests[index % Math.max(1, this.#requests.length)];
    if (request === undefined) return;
    this.#parts.trace.say(`the application answers ${request.uti} of ${request.receiver.name}: ${answer}`);
    this.#end(request, answer);
  }

  /** Accepts the first request that does not hang. Returns whether there is one. */
  acceptNext(hangs: (uti: string) => boolean): boolean {
    const request = this.#requests.find(({ uti }) => !hangs(uti));
    if (request !== undefined) this.#end(request, "ok");
    return request !== undefined;
  }

  /** The connections of a receiver that has crashed are gone. */
  drop(receiver: Receiver): void {
    this.#requests = this.#requests.filter((one) => one.receiver !== receiver);
  }

  #end({ uti, receiver, end }: Request, answer: Answer): void {
    const result = ANSWERS[answer];
    if (receiver.isAlive && result.kind === "answered" && isSuccess(result.status))
      this.#parts.payments.byUti(uti).accepted.push({ receiver, isSettled: false, isExcused: false });
    end(result);
  }
}
