/** The endpoint that webhooks are posted to: its answers, and its examination. */
import { hint, PaylinkError, type Hint, type WebhookEffect } from "../domain/errors.ts";
import { isOfUnknownAuthority, reasonOf, SendError, type Send } from "../http/exchange.ts";
import type { HttpRequest } from "../http/message.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { endpointCases, type EndpointCase } from "./cases.ts";
import { SERVICE_COVER, type CoveredComponents } from "../signatures/cover.ts";

export interface Answer {
  readonly status: number;
  readonly milliseconds: number;
  readonly body: string;
}

/** `sent` says whether the webhook may have arrived. */
export interface NoAnswer {
  readonly status: null;
  readonly sent: boolean;
  readonly reason: string;
  /** The endpoint's certificate is from an authority that Node does not know. */
  readonly untrusted: boolean;
}

/** Milliseconds that an endpoint may take: the service waits as long. */
const TIMEOUT = 10_000;

export async function post(
  request: HttpRequest,
  { send, now, signal }: { readonly send: Send; readonly now: () => Date; readonly signal: AbortSignal },
): Promise<Answer | NoAnswer> {
  const start = now().getTime();
  try {
    const { status, body } = await send(request, { timeout: TIMEOUT, signal });
    return { status, milliseconds: now().getTime() - start, body: new TextDecoder().decode(body) };
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    const { sent } = error;
    return { status: null, sent, reason: reasonOf(error), untrusted: isOfUnknownAuthority(error) };
  }
}

/** `effect` is what was not done, and `next` says how to reach an endpoint. */
export function notReached(
  url: string,
  { reason, untrusted }: NoAnswer,
  { effect, next }: { readonly effect: WebhookEffect; readonly next: Hint },
): PaylinkError {
  if (!untrusted)
    return new PaylinkError("not_reached", `Nothing answers at ${url}: ${reason}.`, {
      effect,
      hints: [next],
    });
  return new PaylinkError("not_reached", `The certificate of ${url} is not trusted: ${reason}.`, {
    effect,
    hints: [hint`Set NODE_EXTRA_CA_CERTS to the PEM file of the certificate, or of its authority.`],
  });
}

export interface CaseResult extends Omit<EndpointCase, "requests"> {
  /** Whether the answers are as expected. */
  readonly ok: boolean;
  /** The answers: "200", "200, 500", "no answer: …". */
  readonly answered: string;
  readonly statuses: readonly (number | null)[];
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

/** Yields each result. Ends with `unreachable` if the endpoint accepts no connection. */
export async function* checkEndpoint(
  parts: CheckParts,
): AsyncGenerator<CaseResult | { readonly unreachable: NoAnswer }> {
  const { cover, key, now } = parts;
  for (const one of endpointCases(cover, key.keyid !== null)) {
    parts.signal.throwIfAborted();
    const answers: (Answer | NoAnswer)[] = [];
    const form = { cover: cover ?? SERVICE_COVER, created: true };
    const sender = { ...parts, form, created: Math.floor(now().getTime() / 1000) };
    for (const request of one.requests(sender, parts)) {
      const answer = await post(request, parts);
      parts.signal.throwIfAborted();
      if (answer.status === null && !answer.sent) return yield { unreachable: answer };
      answers.push(answer);
    }
    yield resultOf(one, answers);
  }
}

function resultOf(
  { name, expects, required, sent, matters }: EndpointCase,
  answers: readonly (Answer | NoAnswer)[],
): CaseResult {
  const statuses = answers.map(({ status }) => status);
  const ok = statuses.every((status) => status !== null && ACCEPTABLE[expects](status));
  const answered = answers.map(describe).join(", ");
  return { name, expects, required, ok, sent, matters, answered, statuses };
}

/** A 5xx is not a refusal: the endpoint failed, and the service would send the webhook again. */
const ACCEPTABLE = {
  accepted: (status: number): boolean => status >= 200 && status < 300,
  refused: (status: number): boolean => status >= 400 && status < 500,
} as const;

const describe = (answer: Answer | NoAnswer): string =>
  answer.status === null ? `no answer: ${answer.reason}` : String(answer.status);
