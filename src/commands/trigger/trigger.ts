/** `paylink trigger`: posts sample webhooks, signed as the service signs them, and shows the answers. */
import type { Context } from "../../context.ts";
import { isLoopback, parseUrl } from "../../values/addresses.ts";
import { LISTENER_URL } from "../../domain/known-services.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { hint, paylink } from "../../domain/hint.ts";
import { type JsonNumber, stringifyJson } from "../../values/json.ts";
import { decimalsProblem } from "../../domain/money.ts";
import { SAMPLE_OUTCOMES } from "../../domain/outcome.ts";
import { textOf, type TransactionRecord, type Violation, violationsOf } from "../../domain/transaction.ts";
import { type HttpRequest, targetUri, isSuccess } from "../../http/message.ts";
import { formatRequest } from "../../http/capture.ts";
import { requestDocument } from "../../events/event-json.ts";
import { renderAnswer } from "../../render/check-report.ts";
import { likelyCause, samplesKey } from "../../render/likely-cause.ts";
import { fitLines } from "../../render/layout.ts";
import { safeText } from "../../render/safe-text.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import type { SigningKey } from "../../signatures/keys.ts";
import { type MissingAnswer, type PostAnswer, postWebhook } from "../../check/endpoint.ts";
import { recordOfSample, SAMPLE_CURRENCY } from "../../sender/samples.ts";
import { SERVICE_COVER, type SignatureForm } from "../../signatures/cover.ts";
import { coverToTamper, TAMPERINGS, type Tampering } from "../../sender/tamperings.ts";
import { loadSigningKey } from "../../sender/signing-key.ts";
import { signedWebhook } from "../../sender/signed-webhook.ts";
import type { ReadValues, Usage, ValuesOf } from "../command.ts";
import { checkLocal } from "../shared-flags.ts";
import { endpointNotReached } from "../unreached-endpoint.ts";
import type { triggerArguments, triggerFlags } from "./command.ts";
import { storedRecord, withOutcome } from "./stored-record.ts";

type TriggerValues = ValuesOf<typeof triggerArguments> & ValuesOf<typeof triggerFlags>;

interface TriggerOptions extends Omit<TriggerValues, "tamper"> {
  readonly tamper: Tampering | undefined;
  readonly url: URL;
  readonly form: SignatureForm;
}

/** What to send, with what is wrong with flags together. */
export async function triggerOptions(
  { all, ifRead }: ReadValues<TriggerValues>,
  usage: Usage,
  { settings }: Context,
): Promise<TriggerOptions | undefined> {
  ifRead(["to", "allowRemote"], ({ to, allowRemote }) => {
    if (to !== undefined) checkLocal("--to", to, allowRemote, usage);
  });
  ifRead(["outcome", "from"], ({ outcome, from }) => {
    if (outcome === undefined && from === undefined)
      usage.problems.push({
        at: "<outcome>",
        message: `is required: ${SAMPLE_OUTCOMES.join(", ")}; or --from, with the record of a stored event`,
      });
  });
  ifRead(["from", "amount", "currency"], ({ from, amount, currency }) => {
    // That of a stored event is not known yet.
    if (from === undefined || currency !== undefined)
      checkDecimals(amount, currency ?? SAMPLE_CURRENCY, usage.problems);
  });
  ifRead(["tamper", "cover"], ({ tamper: name, cover }) => {
    const tamper = tamperingNamed(name);
    if (tamper && cover && coverToTamper(tamper, cover) === undefined)
      usage.problems.push({
        at: "--cover",
        message: `must include ${tamper.detectedBy.join(" or ")}; without it, --tamper ${tamper.name} cannot be detected (got "${cover.join(" ")}")`,
      });
  });
  if (all === undefined) return undefined;
  const { to, cover } = all;
  const tamper = tamperingNamed(all.tamper);
  const form: SignatureForm = {
    cover: cover ?? (tamper && coverToTamper(tamper, undefined)) ?? SERVICE_COVER,
    created: all.created,
  };
  return { ...all, tamper, url: to ?? listenerOf(await settings()), form };
}

const tamperingNamed = (name: string | undefined): Tampering | undefined =>
  TAMPERINGS.find((tampering) => tampering.name === name);

function checkDecimals(amount: JsonNumber | undefined, currency: string, problems: Problem[]): void {
  const problem = amount && decimalsProblem(amount, currency);
  if (problem !== undefined)
    problems.push({ at: "--amount", message: `${problem} (got "${amount?.toString()}")` });
}

/** The profile's own callback if it is on this machine: a sample must not reach a live endpoint by accident. */
function listenerOf(settings: ResolvedSettings): URL {
  const callback = parseUrl(settings.get("callbackUrl") ?? "");
  return callback.ok && isLoopback(callback.value.hostname) ? callback.value : new URL(LISTENER_URL);
}

interface SampleWebhook {
  readonly record: TransactionRecord;
  /** How the record breaks the specification. */
  readonly violations: readonly Violation[];
  readonly request: HttpRequest;
}

export async function trigger(context: Context, options: TriggerOptions): Promise<number> {
  const key = await loadSigningKey(options.signWith, context);
  const makeRecord = await recordMaker(options, context);
  let wrong = 0;
  for (let number = 0; number < options.count; number++) {
    const delivery = prepare(makeRecord(), options, key, context);
    if (number === 0) warnOfViolations(delivery, context);
    context.signal.throwIfAborted();
    if (options.dryRun) {
      print(delivery.request, context);
      continue;
    }
    const answer = await postWebhook(delivery.request, context);
    context.signal.throwIfAborted();
    if (isWrong(showAnswer(delivery, answer, context, options), delivery, options.tamper)) wrong++;
  }
  if (wrong > 0) throw wrongAnswers(options, wrong);
  return 0;
}

/** An endpoint may accept or refuse an authentic webhook whose record breaks the specification. */
function isWrong(status: number, { violations }: SampleWebhook, tampering: Tampering | undefined): boolean {
  if (tampering !== undefined) return isSuccess(status);
  return violations.length === 0 && !isSuccess(status);
}

function wrongAnswers({ url, tamper, count }: TriggerOptions, wrong: number): PaylinkError {
  const how = count === 1 ? "" : ` (${wrong} of ${count})`;
  if (tamper === undefined)
    return new PaylinkError("not_accepted", `${url.href} refused a well-formed webhook${how}.`, {
      hints: [
        hint`The service would deliver it again and then give up, so your application would miss the payment. To see which webhooks the endpoint refuses: ${paylink`check ${url.href}`}`,
      ],
    });
  return new PaylinkError("check_failed", `${url.href} accepted ${tamper.description}${how}.`, {
    hints: [[tamper.consequence]],
  });
}

/** Makes the record of one webhook after the other: of samples, or of the payment of a stored event. */
async function recordMaker(options: TriggerOptions, context: Context): Promise<() => TransactionRecord> {
  const { outcome, link, reference, from, sameUti, db } = options;
  const [amount, currency] = [options.amount?.toString(), options.currency];
  const set = Object.fromEntries(options.set.map(({ name, value }) => [name, value]));
  if (from === undefined) {
    const sample = { outcome: outcome ?? "approved", link, amount, currency, reference };
    return () => ({ ...recordOfSample(sample, context), ...set });
  }
  const base = await storedRecord(from, db, context);
  const problems: Problem[] = [];
  checkDecimals(options.amount, currency ?? textOf(base, "transCurrencyCode") ?? "", problems);
  if (problems.length > 0) throw new PaylinkError("usage", "Nothing was sent.", { problems });
  const fields = {
    ...(options.amount === undefined ? {} : { amountTrans: options.amount }),
    ...(currency === undefined ? {} : { transCurrencyCode: currency }),
    ...(reference === undefined ? {} : { reference }),
    ...set,
  };
  return () => ({
    ...(outcome === undefined ? base : withOutcome(base, outcome, context)),
    ...(sameUti ? {} : { uti: context.newId() }),
    ...fields,
  });
}

function prepare(
  record: TransactionRecord,
  { url, tamper, form }: TriggerOptions,
  key: SigningKey,
  context: Context,
): SampleWebhook {
  const body = new TextEncoder().encode(stringifyJson(record));
  const sender = { url, key, form, created: Math.floor(context.now().getTime() / 1000) };
  const request = tamper?.tamper(body, sender) ?? signedWebhook(body, sender);
  return { record, violations: violationsOf(record), request };
}

function warnOfViolations({ violations }: SampleWebhook, { out }: Context): void {
  for (const { path, message } of violations) out.warn(`${path} ${message}, so the receiver will report it.`);
}

/** The raw request; with `--json`, the form that `verify` reads. */
function print(request: HttpRequest, { out }: Context): void {
  if (!out.json) return out.bytes(formatRequest(request));
  out.data(JSON.stringify(requestDocument(request)));
}

/** Returns the status of the answer. Throws `outcome_unknown` or `not_reached` without an answer. */
function showAnswer(
  { record, request }: SampleWebhook,
  answer: PostAnswer,
  { out }: Context,
  { quiet, tamper, signWith }: TriggerOptions,
): number {
  const url = targetUri(request);
  if (answer.status === null) throw endpointUnanswered(answer, url);
  const endings = tamper === undefined ? { genuine: [answer] } : { genuine: [], forged: [answer] };
  const cause = likelyCause(endings, { comesAgain: false, ownKey: samplesKey(signWith) });
  const { status, milliseconds: ms, reply } = answer;
  out.result({ type: "answer", url, uti: record["uti"], status, ms, body: reply.text, hint: cause }, () =>
    quiet
      ? safeText(textOf(record, "uti") ?? "")
      : fitLines(renderAnswer(record, answer, cause, out.paint), out.lineWidth),
  );
  return answer.status;
}

const endpointUnanswered = (answer: MissingAnswer, url: string): PaylinkError =>
  answer.sent
    ? new PaylinkError(
        "outcome_unknown",
        `The webhook was sent to ${url}, but there was no answer: ${answer.reason}.`,
        {
          effect: "send",
          hints: [
            [
              likelyCause({ genuine: [{ ...answer, target: url }] }, { comesAgain: false }) ??
                "Check its log.",
            ],
          ],
        },
      )
    : endpointNotReached(url, answer, {
        effect: "send",
        next: hint`Start the endpoint (${paylink`listen`}), or name another one with --to.`,
      });
