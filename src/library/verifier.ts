/** Verifies webhooks in an application: the listener's own judgement of a request in any form, as a typed result. */
import { isJsonNumber, memberOf, plainJson, plainObject } from "../values/json.ts";
import { CURRENCY_CODE, minorUnitsOf } from "../domain/money.ts";
import type { Outcome } from "../domain/outcome.ts";
import { parseDuration } from "../values/time.ts";
import { outcomeOf, textOf, type TransactionRecord, type Violation } from "../domain/transaction.ts";
import { TRANSACTION_FIELDS } from "../domain/transaction-fields.ts";
import { parseWebAddress } from "../values/addresses.ts";
import { publicAddress } from "../receiver/address.ts";
import { createJudge, type TimedJudge, type Judgement } from "../receiver/judge.ts";
import { parseComponent } from "../signatures/components.ts";
import { DEFAULT_POLICY, type Policy } from "../signatures/policy.ts";
import { judgingKeys } from "../receiver/keyring.ts";
import { keySourcesOf, openKeys, type KeyringAccess } from "./key-options.ts";
import type { ExactAmount, ExactAmounts, VerifiedWebhook, Verifier, VerifierOptions } from "./types.ts";
import { receivedRequest } from "./received-request.ts";
import { brokenRecord, unjudgedWebhook, unverifiedWebhook } from "./refusals.ts";

/** Milliseconds for which a key that cannot be read is not read again. */
const FAILURE_PAUSE = 5_000;

/** Throws a TypeError where an option is not valid, or the key can never verify a webhook. */
export function createVerifierWith(options: VerifierOptions, access: KeyringAccess): Verifier {
  const policy = verifierPolicy(options);
  const publicUrl =
    options.publicUrl === undefined ? undefined : publicAddress(parsePublicUrl(options.publicUrl));
  const sources = keySourcesOf(options.key, access);
  const fixed = options.now === undefined ? undefined : verificationTime(options.now);
  let opening: Promise<TimedJudge> | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  const open = async (): Promise<TimedJudge> => {
    try {
      return createJudge({ policy, ...judgingKeys(await openKeys(sources, access)) });
    } catch (error) {
      failedAt = access.now().getTime();
      throw error;
    }
  };
  const isPaused = (): boolean => Math.abs(access.now().getTime() - failedAt) < FAILURE_PAUSE;
  return async (request) => {
    const received = await receivedRequest(request, publicUrl);
    if (opening === undefined || (failedAt > Number.NEGATIVE_INFINITY && !isPaused())) {
      failedAt = Number.NEGATIVE_INFINITY;
      opening = open();
    }
    const judge = await opening;
    const judgement = await judge(received, fixed ?? access.now()).catch((error: unknown) => {
      throw unjudgedWebhook(error);
    });
    if (judgement.verdict.verdict === "invalid") throw unverifiedWebhook(judgement, received);
    if (options.strict === true && judgement.content.violations.length > 0) throw brokenRecord(judgement);
    return verifiedWebhook(judgement, received.body);
  };
}

function verifiedWebhook({ verdict, content }: Judgement, raw: Uint8Array): VerifiedWebhook {
  const { record, violations } = content;
  const webhook: AnyWebhook = {
    outcome: outcomeOf(record),
    transaction: record === null ? {} : transactionOf(record, violations),
    amounts: amountsOf(record),
    violations,
    verdict,
    raw,
    record: record === null ? null : plainObject(record),
  };
  if (isVerified(webhook)) return webhook;
  throw new TypeError(`a record with the outcome ${webhook.outcome} has no flag transApproved`);
}

interface AnyWebhook extends Omit<VerifiedWebhook, "outcome" | "transaction"> {
  readonly outcome: Outcome;
  readonly transaction: Readonly<Record<string, unknown>>;
}

/** The table of fields has checked each member, and the flags made the outcome. */
const isVerified = (webhook: AnyWebhook): webhook is VerifiedWebhook =>
  webhook.outcome === "UNCLEAR" || typeof webhook.transaction["transApproved"] === "boolean";

/** The fields of the specification that keep it. */
function transactionOf(record: TransactionRecord, violations: readonly Violation[]): Record<string, unknown> {
  const broken = new Set(violations.filter(({ code }) => code === "body_schema").map(({ path }) => path));
  const transaction: Record<string, unknown> = {};
  for (const { name } of TRANSACTION_FIELDS) {
    const value = memberOf(record, name);
    if (value !== undefined && !broken.has(name)) transaction[name] = plainJson(value);
  }
  return transaction;
}

function amountsOf(record: TransactionRecord | null): ExactAmounts {
  const code = record === null ? undefined : textOf(record, "transCurrencyCode");
  const currency = code !== undefined && CURRENCY_CODE.test(code) ? code.toUpperCase() : undefined;
  const exact = (name: keyof ExactAmounts): ExactAmount => {
    const amount = record === null ? undefined : memberOf(record, name);
    const text = isJsonNumber(amount) || typeof amount === "string" ? String(amount) : undefined;
    const isTold = text !== undefined && currency !== undefined;
    return { text, currency, minorUnits: isTold ? minorUnitsOf(text, currency) : undefined };
  };
  return {
    amountTrans: exact("amountTrans"),
    amountGratuity: exact("amountGratuity"),
    amountCashback: exact("amountCashback"),
  };
}

function verifierPolicy({ tolerance, require = [], requireCreated }: VerifierOptions): Policy {
  return {
    ...DEFAULT_POLICY,
    required: require.map((text) => {
      const parsed = parseComponent(text);
      if (parsed.ok) return parsed.value;
      throw new TypeError(`The option require has "${text}": ${parsed.message}.`);
    }),
    ...(requireCreated === undefined ? {} : { requireCreated }),
    ...(tolerance === undefined ? {} : { maxAge: secondsOf(tolerance) }),
  };
}

function secondsOf(tolerance: number | string): number {
  const parsed = parseDuration(typeof tolerance === "number" ? `${tolerance}s` : tolerance);
  if (parsed.ok) return parsed.value.milliseconds / 1000;
  throw new TypeError(`The option tolerance must be whole seconds, or a duration such as "10m".`);
}

function parsePublicUrl(address: string | URL): URL {
  const url = parseWebAddress(String(address));
  if (url !== undefined) return url;
  throw new TypeError(
    `The option publicUrl is "${String(address)}"; it must be an absolute http or https URL.`,
  );
}

function verificationTime(now: Date | number): Date {
  const time = typeof now === "number" ? new Date(now * 1000) : now;
  // At an invalid time, no signature would be too old.
  if (Number.isNaN(time.getTime())) throw new TypeError("The option now is not a valid time.");
  return time;
}
