/** The endpoint that webhooks are posted to: its answers, and the cases that it is checked with. */
import { reasonOf, SendError, type Send } from "../http/exchange.ts";
import type { HeaderLine, HttpRequest } from "../http/message.ts";
import { type SendFailure, sendFailure } from "../http/send-failure.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { endpointCases, type EndpointCase } from "./cases.ts";
import { impostorsKey } from "./tamperings.ts";
import { SERVICE_COVER, type CoveredComponents } from "../signatures/cover.ts";

export interface Answer {
  readonly status: number;
  readonly failure: null;
  readonly milliseconds: number;
  readonly reply: { readonly headers: readonly HeaderLine[]; readonly text: string };
}

/** `sent` says whether the webhook may have arrived. */
export interface NoAnswer {
  readonly status: null;
  readonly failure: SendFailure;
  readonly reply: null;
  readonly sent: boolean;
  readonly reason: string;
}

/** Milliseconds that an endpoint may take: the service waits as long. */
const TIMEOUT = 10_000;
/** Bytes of an answer: more tells nothing more. */
const LONGEST_ANSWER = 64 * 1024;

export async function post(
  request: HttpRequest,
  { send, now, signal }: Pick<CheckParts, "send" | "now" | "signal">,
): Promise<Answer | NoAnswer> {
  const start = now().getTime();
  try {
    const { status, headers, body } = await send(request, { timeout: TIMEOUT, signal, keep: LONGEST_ANSWER });
    const reply = { headers, text: new TextDecoder().decode(body) };
    return { status, failure: null, milliseconds: now().getTime() - start, reply };
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    const { sent } = error;
    return { status: null, failure: sendFailure(error), reply: null, sent, reason: reasonOf(error) };
  }
}

export interface CaseResult extends Omit<EndpointCase, "requests"> {
  /** Whether the answers are as expected. */
  readonly ok: boolean;
  /** The answers: "200", "200, 500", "no answer: …". */
  readonly answered: string;
  readonly statuses: readonly (number | null)[];
  /** Of a case that failed, the first answer that is not as expected. */
  readonly wrong: Answer | NoAnswer | undefined;
}

interface CheckParts {
  readonly url: URL;
  readonly key: SigningKey;
  /** The only cover that the endpoint must accept; undefined checks the endpoint for the real service. */
  readonly cover: CoveredComponents | undefined;
  readonly send: Send;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly signal: AbortSignal;
}

/** Why the cases end before the last one. */
export interface Ended {
  /** The endpoint accepts no connection. */
  readonly unreachable: NoAnswer;
  /** Cases that were not tried. */
  readonly left: number;
}

/** Yields each result. If the endpoint accepts no connection any more, the case fails and the others are not tried. */
export async function* runChecks(parts: CheckParts): AsyncGenerator<CaseResult | Ended> {
  const { cover, key, now } = parts;
  const cases = endpointCases(cover, key.keyid !== null);
  // Before the first connection.
  impostorsKey();
  for (const [at, one] of cases.entries()) {
    parts.signal.throwIfAborted();
    const answers: (Answer | NoAnswer)[] = [];
    const form = { cover: cover ?? SERVICE_COVER, created: true };
    const sender = { ...parts, form, created: Math.floor(now().getTime() / 1000) };
    for (const request of one.requests(sender, parts)) {
      const answer = await post(request, parts);
      parts.signal.throwIfAborted();
      answers.push(answer);
      if (answer.status !== null || answer.sent) continue;
      if (at > 0) yield resultOf(one, answers);
      return yield { unreachable: answer, left: cases.length - at - (at > 0 ? 1 : 0) };
    }
    yield resultOf(one, answers);
  }
}

function resultOf(
  { name, expects, required, description, consequence }: EndpointCase,
  answers: readonly (Answer | NoAnswer)[],
): CaseResult {
  const statuses = answers.map(({ status }) => status);
  const isRefusal = name === "method" ? isError : isRefused;
  const isRight = expects === "accepted" ? isAccepted : isRefusal;
  const wrong = answers.find(({ status }) => status === null || !isRight(status));
  const ok = wrong === undefined;
  const believed = expects === "accepted" || statuses.some((status) => status !== null && isAccepted(status));
  return {
    name,
    expects,
    required,
    ok,
    description,
    consequence: believed ? consequence : NOT_REFUSED,
    answered: answers.map(answerWords).join(", "),
    statuses,
    wrong,
  };
}

const isAccepted = (status: number): boolean => status >= 200 && status < 300;
/** A 5xx is not a refusal: the endpoint failed, and the service would send the webhook again. */
const isRefused = (status: number): boolean => status >= 400 && status < 500;
/** To another method than POST, which the service never uses, some servers answer 501. */
const isError = (status: number): boolean => status >= 400;

const NOT_REFUSED =
  "It did not accept it, but anything other than 4xx asks the service to send it again, or says that the endpoint failed.";

const answerWords = (answer: Answer | NoAnswer): string =>
  answer.status === null ? `no answer: ${answer.reason}` : String(answer.status);
