/** The endpoint that webhooks are posted to: its answers, and the cases that it is checked with. */
import { millisecondsSince, type Timers } from "../values/timers.ts";
import { exchangeFailure, SendError, type Send } from "../http/exchange.ts";
import { type HeaderLine, type HttpRequest, isSuccess } from "../http/message.ts";
import { type SendFailure, sendFailure } from "../http/send-failure.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { endpointCases } from "./cases.ts";
import type { CaseWebhook, EndpointCase, ExpectedAnswer } from "./endpoint-case.ts";
import { knownOrders, type OrderFor, ownOrders } from "./orders.ts";
import type { SampleOrder } from "../sender/samples.ts";
import { impostorsKey } from "../sender/tamperings.ts";
import { SERVICE_COVER, type CoveredComponents } from "../signatures/cover.ts";

export interface EndpointAnswer {
  readonly status: number;
  readonly failure: null;
  readonly milliseconds: number;
  readonly reply: { readonly headers: readonly HeaderLine[]; readonly text: string };
}

/** `sent` says whether the webhook may have arrived. */
export interface MissingAnswer {
  readonly status: null;
  readonly failure: SendFailure;
  readonly reply: null;
  readonly sent: boolean;
  readonly reason: string;
}

/** What came of a webhook that was posted. */
export type PostAnswer = EndpointAnswer | MissingAnswer;

/** Milliseconds that an endpoint may take: the service waits as long. */
const ANSWER_TIMEOUT = 10_000;
/** Webhooks in a row without an answer in time after which no other is posted: all cases would take a quarter of an hour. */
const SILENT = 3;
/** Bytes of an answer: more tells nothing more. */
const ANSWER_BYTES = 64 * 1024;

export async function postWebhook(
  request: HttpRequest,
  { send, timers, signal }: Pick<EndpointCheckParts, "send" | "timers" | "signal">,
): Promise<PostAnswer> {
  const start = timers.elapsed();
  try {
    const { status, headers, body } = await send(request, {
      timeout: ANSWER_TIMEOUT,
      signal,
      keep: ANSWER_BYTES,
    });
    const reply = { headers, text: new TextDecoder().decode(body) };
    return { status, failure: null, milliseconds: millisecondsSince(timers, start), reply };
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    const { sent } = error;
    return { status: null, failure: sendFailure(error), reply: null, sent, reason: exchangeFailure(error) };
  }
}

/** What one round of a case did with an order. */
export interface OrderUse {
  readonly case: Pick<EndpointCase, "name" | "description" | "order" | "books" | "atOnce">;
  readonly order: SampleOrder;
  readonly payments: readonly PostedPayment[];
}

/** What a webhook says that was paid of an order, and the answer to it; null where none arrived. */
export interface PostedPayment extends Pick<CaseWebhook, "sum" | "pays"> {
  readonly status: number | null;
}

export interface CaseResult extends Pick<
  EndpointCase,
  "name" | "expects" | "required" | "description" | "consequence"
> {
  /** Whether the answers are as expected. */
  readonly ok: boolean;
  /** The answers: "200", "200, 500", "200 (5 times)", "no answer: …". */
  readonly answered: string;
  readonly answers: readonly PostAnswer[];
  /** Of a case that failed, the first answer that is not as expected. */
  readonly wrong: PostAnswer | undefined;
  readonly uses: readonly OrderUse[];
}

interface EndpointCheckParts {
  readonly url: URL;
  readonly key: SigningKey;
  /** The only cover that the endpoint must accept; undefined checks the endpoint for the real service. */
  readonly cover: CoveredComponents | undefined;
  /** Those that the application knows; without them, each case has an order number of its own. */
  readonly orders: readonly SampleOrder[];
  readonly send: Send;
  readonly now: () => Date;
  readonly timers: Pick<Timers, "elapsed">;
  readonly newId: () => string;
  readonly signal: AbortSignal;
}

/** Why the cases end before the last one. */
export interface Ended {
  readonly why: "unreachable" | "silent";
  /** The last of them: the endpoint accepts no connections, or has not answered `SILENT` webhooks in a row. */
  readonly last: MissingAnswer;
  /** Cases that were not tried. */
  readonly left: number;
}

export const caseCount = (parts: Pick<EndpointCheckParts, "cover" | "key" | "orders">): number =>
  casesFor(parts).length;

const casesFor = ({ cover, key, orders }: Pick<EndpointCheckParts, "cover" | "key" | "orders">) =>
  endpointCases({ cover, hasKeyid: key.keyid !== null, knowsOrders: orders.length > 0 });

/**
 * Yields each result. If the endpoint accepts no connection any more, or answers nothing in time, the case fails and the others are
 * not tried.
 */
export async function* runChecks(parts: EndpointCheckParts): AsyncGenerator<CaseResult | Ended> {
  const cases = casesFor(parts);
  const [first, ...others] = parts.orders;
  const orderFor =
    first === undefined ? ownOrders(parts.newId) : knownOrders([first, ...others], parts.newId);
  // Before the first connection.
  impostorsKey();
  let silent = 0;
  for (const [at, one] of cases.entries()) {
    const { answers, uses } = await runCase(one, orderFor, parts);
    const unreachable = answers.find(isUnreachable);
    if (unreachable === undefined || at > 0) yield caseResult(one, answers, uses);
    if (unreachable !== undefined)
      return yield { why: "unreachable", last: unreachable, left: cases.length - at - (at > 0 ? 1 : 0) };
    const last = answers.at(-1);
    silent = answers.every(isTooLate) ? silent + answers.length : 0;
    if (silent >= SILENT && last?.status === null)
      return yield { why: "silent", last, left: cases.length - at - 1 };
  }
}

const isUnreachable = (answer: PostAnswer): answer is MissingAnswer => answer.status === null && !answer.sent;
const isTooLate = ({ failure }: PostAnswer): boolean => failure === "timeout";

interface CaseRun {
  readonly answers: readonly PostAnswer[];
  readonly uses: readonly OrderUse[];
}

async function runCase(one: EndpointCase, orderFor: OrderFor, parts: EndpointCheckParts): Promise<CaseRun> {
  const { cover, now, orders } = parts;
  const rounds = orders.length === 0 ? (one.rounds ?? 1) : 1;
  const run = { answers: [] as PostAnswer[], uses: [] as OrderUse[] };
  const isOver = (): boolean =>
    run.answers.some(isUnreachable) || (run.answers.length > 0 && run.answers.every(isTooLate));
  for (let round = 0; round < rounds && !isOver(); round++) {
    const order = orderFor(one);
    const form = { cover: cover ?? SERVICE_COVER, created: true };
    const sender = { ...parts, form, created: Math.floor(now().getTime() / 1000) };
    const webhooks = one.webhooks(sender, parts, order);
    const answers = await postAll(webhooks, one.atOnce === true, parts);
    const payments = answers.flatMap(({ status }, at) => {
      const webhook = webhooks[at];
      return webhook === undefined ? [] : [{ sum: webhook.sum, pays: webhook.pays, status }];
    });
    run.answers.push(...answers);
    run.uses.push({ case: one, order, payments });
  }
  return run;
}

async function postAll(
  webhooks: readonly CaseWebhook[],
  atOnce: boolean,
  parts: EndpointCheckParts,
): Promise<readonly PostAnswer[]> {
  const postOne = async ({ request }: CaseWebhook): Promise<PostAnswer> => {
    const answer = await postWebhook(request, parts);
    parts.signal.throwIfAborted();
    return answer;
  };
  parts.signal.throwIfAborted();
  if (atOnce) return Promise.all(webhooks.map(postOne));
  const answers: PostAnswer[] = [];
  for (const webhook of webhooks) {
    if (answers.some(isUnreachable)) break;
    if (answers.length >= SILENT && answers.every(isTooLate)) break;
    answers.push(await postOne(webhook));
  }
  return answers;
}

function caseResult(
  { name, expects, refusedBy5xx, required, description, consequence, atOnce }: EndpointCase,
  answers: readonly PostAnswer[],
  uses: readonly OrderUse[],
): CaseResult {
  const statuses = answers.map(({ status }) => status);
  const isRight = refusedBy5xx === true ? isError : IS_RIGHT[expects];
  const wrong = answers.find(({ status }) => status === null || !isRight(status));
  const ok = wrong === undefined;
  const isBelieved = statuses.some(isSuccess);
  // Of copies that arrive together, the service sends the refused ones again: that costs no payment.
  const isHarmless = atOnce === true && isBelieved;
  return {
    name,
    expects,
    required: required && !isHarmless,
    ok,
    description,
    consequence: isHarmless ? SENT_AGAIN : expects !== "refused" || isBelieved ? consequence : NOT_REFUSED,
    answered: answersIn(answers),
    answers,
    wrong,
    uses,
  };
}

const isRefused = (status: number): boolean => status >= 400 && status < 500;
const isError = (status: number): boolean => status >= 400;

const IS_RIGHT: Readonly<Record<ExpectedAnswer, (status: number) => boolean>> = {
  accepted: isSuccess,
  refused: isRefused,
  answered: (status) => isSuccess(status) || isRefused(status),
};

const NOT_REFUSED =
  "The endpoint did not accept the webhook, but only 4xx refuses it: after any other status the service sends it again, or takes the endpoint to have failed.";
const SENT_AGAIN =
  "One copy was accepted, and the service sends the others again, so no payment is lost. An endpoint that answers 2xx to every copy avoids the repeats.";

/** "200", "200, 500" or "200 (5 times)". */
export function answersIn(answers: readonly PostAnswer[]): string {
  const words = answers.map((answer) =>
    answer.status === null ? `no answer: ${answer.reason}` : String(answer.status),
  );
  if (words.length < 3) return words.join(", ");
  return [...new Set(words)]
    .map((word) => {
      const times = words.filter((one) => one === word).length;
      return times === 1 ? word : `${word} (${times === 2 ? "twice" : `${times} times`})`;
    })
    .join(", ");
}
