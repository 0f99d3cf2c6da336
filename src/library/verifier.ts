/** Verifies webhooks in an application: the listener's own judgement of a request in any form, as a typed result. */
import { isJsonNumber, type Json, memberOf, plainJson } from "../domain/json.ts";
import { parseDuration } from "../domain/time.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import { parseWebAddress } from "../domain/addresses.ts";
import { publicAddress } from "../receiver/address.ts";
import { DEFAULT_MAX_BODY } from "../receiver/admit.ts";
import { createJudge, type TimedJudge, type Judgement } from "../receiver/judge.ts";
import { parseComponent } from "../signatures/components.ts";
import { DEFAULT_POLICY, type Policy } from "../signatures/policy.ts";
import type { OpenKeys } from "./key-options.ts";
import type { ExactAmounts, VerifiedWebhook, Verifier, VerifierOptions } from "./types.ts";
import { receivedRequest } from "./received-request.ts";
import { brokenRecord, internalError, unverifiedWebhook } from "./refusals.ts";
import type { Transaction } from "./transaction-types.ts";

/** What verifiers need of the runtime. */
export interface VerifierParts {
  readonly openKeys: OpenKeys;
  readonly now: () => Date;
}

/** Throws a TypeError where an option is not valid. */
export function createVerifierWith(options: VerifierOptions, { openKeys, now }: VerifierParts): Verifier {
  const policy = policyOf(options);
  const address = options.publicUrl === undefined ? undefined : publicAddress(parseUrl(options.publicUrl));
  const rules = { policy, maxBody: DEFAULT_MAX_BODY, recordAt: options.recordAt };
  const time = clockOf(options.now, now);
  const open = async (): Promise<TimedJudge> => {
    try {
      const { keys, renew } = await openKeys(options.key);
      return createJudge({ ...rules, keys, renewKeys: renew });
    } catch (error) {
      opening = undefined;
      throw error;
    }
  };
  let opening: Promise<TimedJudge> | undefined;
  return async (request) => {
    const received = await receivedRequest(request, { ...rules, publicAddress: address });
    const judge = await (opening ??= open());
    const judgement = await judge(received, time()).catch((error: unknown) => {
      throw internalError(error);
    });
    if (judgement.verdict.verdict === "invalid") throw unverifiedWebhook(judgement.verdict, received);
    return verifiedWebhook(judgement, received.body);
  };
}

function verifiedWebhook(judgement: Judgement, raw: Uint8Array): VerifiedWebhook {
  const { verdict, record } = judgement;
  const transaction = plainJson(record);
  if (record === null || !isTransaction(transaction, judgement)) throw brokenRecord(judgement, transaction);
  const rest = { amounts: amountsOf(record), verdict, raw };
  if (transaction.transApproved) return { outcome: "APPROVED", transaction, ...rest };
  if (transaction.transCancelled) return { outcome: "CANCELLED", transaction, ...rest };
  return { outcome: "DECLINED", transaction, ...rest };
}

/** A record without violations is a transaction: the table of fields has checked it. */
const isTransaction = (_: unknown, { violations }: Judgement): _ is Transaction => violations.length === 0;

const amountsOf = (record: TransactionRecord): ExactAmounts => ({
  amountTrans: exactText(memberOf(record, "amountTrans")),
  amountGratuity: exactText(memberOf(record, "amountGratuity")),
  amountCashback: exactText(memberOf(record, "amountCashback")),
});

const exactText = (amount: Json | undefined): string => (isJsonNumber(amount) ? amount.toString() : "");

function policyOf({ tolerance, require = [], requireCreated }: VerifierOptions): Policy {
  return {
    ...DEFAULT_POLICY,
    required: require.map((text) => {
      const parsed = parseComponent(text);
      if (parsed.ok) return parsed.component;
      throw new TypeError(`The option require has "${text}": ${parsed.reason}.`);
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

function parseUrl(address: string | URL): URL {
  const url = parseWebAddress(String(address));
  if (url !== undefined) return url;
  throw new TypeError(
    `The option publicUrl is "${String(address)}"; it must be an absolute http or https URL.`,
  );
}

function clockOf(now: VerifierOptions["now"], system: () => Date): () => Date {
  if (now === undefined) return system;
  return () => {
    const moment = typeof now === "function" ? now() : now;
    const time = typeof moment === "number" ? new Date(moment * 1000) : moment;
    // At a time that is no number, no signature would be too old.
    if (Number.isNaN(time.getTime())) throw new TypeError("The option now is not a valid time.");
    return time;
  };
}
