/** `paylink trigger`: posts sample webhooks, signed as the service signs them, and shows the answers. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import { breachesOf, type TransactionRecord } from "../../domain/transaction.ts";
import { targetUri, type HttpRequest } from "../../http/message.ts";
import { formatRequest } from "../../http/raw-request.ts";
import { renderAnswer } from "../../render/endpoint-answer.ts";
import type { SigningKey } from "../../signatures/keys.ts";
import { post, type Answer, type NoAnswer } from "../../webhooks/endpoint.ts";
import { recordOfSample } from "../../webhooks/samples.ts";
import { loadSigningKey } from "../../webhooks/signing-key.ts";
import { signedWebhook } from "../../webhooks/signed-webhook.ts";
import type { TriggerOptions } from "./options.ts";

interface Delivery {
  readonly record: TransactionRecord;
  readonly request: HttpRequest;
}

export async function trigger(context: Context, options: TriggerOptions): Promise<number> {
  const key = await loadSigningKey(options.keyPath, context);
  const pace = createPace(options.interval, context);
  for (let number = 0; number < options.count; number++) {
    const delivery = prepare(options, key, context);
    if (number === 0) warnOfBreaches(delivery.record, context);
    for (let time = 0; time < options.times; time++) {
      if (context.signal.aborted) return 0;
      if (options.dryRun) print(delivery.request, context);
      else {
        await pace();
        report(delivery, await post(delivery.request, context), context);
      }
    }
  }
  return 0;
}

function prepare(
  { url, sample, replaced, tampering, form }: TriggerOptions,
  key: SigningKey,
  context: Context,
): Delivery {
  const record = { ...recordOfSample(sample, context), ...replaced };
  const body = new TextEncoder().encode(stringifyJson(record));
  const sender = { url, key, form, created: Math.floor(context.now().getTime() / 1000) };
  return { record, request: tampering?.tamper(body, sender) ?? signedWebhook(body, sender) };
}

function warnOfBreaches(record: TransactionRecord, { out }: Context): void {
  for (const { path, message } of breachesOf(record))
    out.warn(`${path} ${message}, so the receiver will report it.`);
}

/** The raw request; with `--json`, the form that `verify` reads. */
function print(request: HttpRequest, { out }: Context): void {
  if (!out.json) return out.bytes(formatRequest(request));
  const { method, headers, body } = request;
  const bodyBase64 = Buffer.from(body).toString("base64");
  out.data(JSON.stringify({ method, url: targetUri(request), headers, bodyBase64 }));
}

function report({ record, request }: Delivery, answer: Answer | NoAnswer, { out }: Context): void {
  const url = targetUri(request);
  if (answer.status === null) throw unanswered(answer, url);
  if (out.json) {
    const { status, milliseconds: ms, body } = answer;
    out.data(stringifyJson({ type: "answer", url, uti: record["uti"], status, ms, body }));
  } else out.data(renderAnswer(record, answer, out.paint));
}

const unanswered = ({ sent, reason }: NoAnswer, url: string): PaylinkError =>
  sent
    ? new PaylinkError(
        "outcome_unknown",
        `The webhook was sent to ${url}, but there was no answer: ${reason}`,
        {
          hint: "See the endpoint's log: it may have received the webhook.",
        },
      )
    : new PaylinkError("not_reached", `Nothing answers at ${url}: ${reason}`, {
        hint: "Nothing was sent. Start the endpoint (paylink listen), or name another one with --to.",
      });

/** Resolves when the next webhook may be sent. */
function createPace(interval: number, { now, signal }: Context): () => Promise<void> {
  let next = now().getTime();
  return async () => {
    const wait = next - now().getTime();
    next = Math.max(next, now().getTime()) + interval;
    if (wait <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait);
      signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
  };
}
