/** One attempt to hand a webhook to a target, which may be an application or a broker, and how it ended. */
import { maskCardNumbers } from "../domain/card-numbers.ts";
import { isBroker } from "./brokers/addresses.ts";
import { messageOf } from "../values/system-reason.ts";
import { millisecondsSince, type Timers } from "../values/timers.ts";
import { exchangeFailure, type Send, SendError } from "../http/exchange.ts";
import { answerWords } from "../http/answer-words.ts";
import { fieldLines, type HeaderLine, type HttpRequest, isSuccess } from "../http/message.ts";
import { type SendFailure, sendFailure } from "../http/send-failure.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { type Forward, lateAge, type RunKeys } from "../events/event.ts";
import { type Forwarded, forwardedRequest, signAgain } from "./forwarded-request.ts";

/** The most bytes of the application's answer in memory, which the service gets if it waits for it. */
const LONGEST_ANSWER = 64 * 1024;
/** Characters of the application's answer that are stored, of a refusal and of another. */
const TEXT_LENGTH = { refused: 16 * 1024, accepted: 1024 };
/** Characters of a refusal that are shown beside its status. */
const DETAIL_LENGTH = 500;

/** A broker that confirms a message answers 200. */
export interface AnsweredAttempt {
  readonly kind: "answered";
  readonly status: number;
  readonly headers: readonly HeaderLine[];
  /** Its beginning, without content codings. */
  readonly body: Uint8Array;
}

/** No connection was made: nothing was sent, and another webhook would fail in the same way now. */
export interface NotReached {
  readonly kind: "notReached";
  /** In plain words, without a final stop. */
  readonly why: string;
  readonly failure: SendFailure;
}

/** There was a connection, and no usable answer. */
export interface NoAnswer {
  readonly kind: "noAnswer";
  readonly why: string;
  readonly failure: SendFailure;
  /** Whether the target may have the webhook: a broker can say that it does not. */
  readonly sent: boolean;
}

export type AttemptResult = AnsweredAttempt | NotReached | NoAnswer;

export interface DeliverOptions {
  /** Milliseconds that the target may take. */
  readonly timeout: number;
  /** Accepts a self-signed certificate of the application. */
  readonly insecure: boolean;
}

/** Sends a webhook to a target. A failed exchange is a result; it rejects only for an error that has nothing to do with the target. */
export type Deliver = (request: HttpRequest, options: DeliverOptions, target: URL) => Promise<AttemptResult>;

/** Sends to applications. */
export const deliverOver =
  (send: Send): Deliver =>
  async (request, { timeout, insecure }) => {
    try {
      const { status, headers, body } = await send(request, { timeout, insecure, keep: LONGEST_ANSWER });
      return { kind: "answered", status, headers, body };
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      const [why, failure] = [exchangeFailure(error), sendFailure(error)];
      return error.sent
        ? { kind: "noAnswer", why, failure, sent: true }
        : { kind: "notReached", why, failure };
    }
  };

export interface AttemptParts extends DeliverOptions {
  readonly deliver: Deliver;
  readonly now: () => Date;
  readonly timers: Pick<Timers, "elapsed">;
  readonly headers: readonly HeaderLine[];
  /** Signs each attempt in place of the service; without it, the service's signature is passed on. */
  readonly signWith?: SigningKey | undefined;
  /** The keys of this run: a webhook that another key has verified is not signed. */
  readonly keys: () => RunKeys;
}

export interface ForwardAttempt {
  readonly result: AttemptResult;
  /** As it is stored and shown. */
  readonly forward: Forward;
}

/** Makes one attempt. Never rejects: the result says why there is no answer. */
export async function makeAttempt(
  forwarded: Forwarded,
  url: URL,
  parts: AttemptParts,
): Promise<ForwardAttempt> {
  const { now, timers, signWith } = parts;
  const [at, began] = [now(), timers.elapsed()];
  const result = await deliverOne(forwarded, url, at, parts).catch((error: unknown): NoAnswer => ({
    kind: "noAnswer",
    why: messageOf(error),
    failure: "other",
    sent: false,
  }));
  const ms = millisecondsSince(timers, began);
  const age = signWith === undefined ? lateAge(forwarded, at) : undefined;
  const isLate = age !== undefined && result.kind === "answered" && REFUSES_SIGNATURE.has(result.status);
  return {
    result,
    forward: {
      ...forwardOf(result, { at, target: url.href, ms }),
      ...(isLate ? { signatureAge: age } : {}),
    },
  };
}

/** A result as it is stored and shown. */
export const forwardOf = (result: AttemptResult, when: Pick<Forward, "at" | "target" | "ms">): Forward => ({
  ...when,
  ...(result.kind === "answered"
    ? answerOf(result)
    : { status: null, failure: result.failure, reply: null, detail: reasonFor(result) }),
});

async function deliverOne(
  forwarded: Forwarded,
  url: URL,
  at: Date,
  { deliver, headers, insecure, timeout, signWith, keys }: AttemptParts,
): Promise<AttemptResult> {
  const passedOn = forwardedRequest(forwarded, url, headers, signWith !== undefined);
  const request =
    signWith === undefined
      ? passedOn
      : signAgain(passedOn, forwarded.verdict, { key: signWith, keys: keys() }, at, !isBroker(url));
  return deliver(request, { timeout, insecure }, url);
}

/** A cookie may be the key of a session: it is not kept. */
function answerOf({ status, headers, body }: AnsweredAttempt) {
  const text = maskCardNumbers(decodedText(headers, body));
  const isOk = isSuccess(status);
  const shown = headers.filter(([name]) => name.toLowerCase() !== "set-cookie");
  const reply = { headers: shown, text: beginning(text, isOk ? TEXT_LENGTH.accepted : TEXT_LENGTH.refused) };
  return {
    status,
    failure: null,
    reply,
    detail: isOk ? "" : beginning(answerWords(headers, text), DETAIL_LENGTH),
  };
}

function reasonFor(result: NotReached | NoAnswer): string {
  if (result.kind === "notReached") return `not reached: ${result.why}`;
  // A broker that refuses a message says so itself.
  if (result.failure === "other") return result.why;
  return `${result.failure === "timeout" ? "timed out" : "no answer"}: ${result.why}`;
}

/** What applications answer to a signature that they do not accept. */
const REFUSES_SIGNATURE: ReadonlySet<number> = new Set([400, 401, 403]);

/** By the charset that the answer names, if it is known; else as UTF-8. */
function decodedText(headers: readonly HeaderLine[], body: Uint8Array): string {
  const [type = ""] = fieldLines(headers, "content-type");
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(type) ?? [];
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

const beginning = (text: string, length: number): string =>
  text.length <= length
    ? text
    : Array.from(text.slice(0, 2 * length))
        .slice(0, length)
        .join("");
