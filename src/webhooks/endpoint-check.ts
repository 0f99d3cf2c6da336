/** Sends an endpoint each case, one after the other, and judges its answers. */
import type { Send } from "../http/exchange.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { endpointCases } from "./endpoint-cases.ts";
import { post, type Answer, type NoAnswer } from "./endpoint.ts";
import type { EndpointCase } from "./genuine-cases.ts";
import { SERVICE_COVER, type CoveredComponents } from "./signature-form.ts";

export interface CaseResult {
  readonly name: string;
  readonly expects: EndpointCase["expects"];
  /** Whether the answers are as expected. */
  readonly ok: boolean;
  /** Whether a failure counts; if not, it is a warning. */
  readonly required: boolean;
  readonly sent: string;
  readonly matters: string;
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
    if (parts.signal.aborted) return;
    const answers: (Answer | NoAnswer)[] = [];
    const form = { cover: cover ?? SERVICE_COVER, created: true };
    const sender = { ...parts, form, created: Math.floor(now().getTime() / 1000) };
    for (const request of one.requests(sender, parts)) {
      const answer = await post(request, parts);
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
