/** What people ask of a store in one sentence: whether money is being lost now, and why nothing goes out. */
import { wordFor, formatCount } from "../values/plural.ts";
import { isSuccess } from "../http/message.ts";
import { parseWebAddress } from "../values/addresses.ts";
import { groupedAmount } from "../domain/money.ts";
import { shortKey } from "../signatures/thumbprint.ts";
import type { CurrencySum, KeyStats, StateStats, Stats } from "../store/stats.ts";
import { safeText } from "./safe-text.ts";
import { durationWords } from "../values/time.ts";

/** Says whether money is being lost now. */
export function statsSentence({ keys, refused, lastAttempt }: Stats, now: Date): string {
  const refusals = Object.values(refused).reduce((sum, count) => sum + count, 0);
  const open = keys
    .filter(hasOpen)
    .map((one) => `${keys.length > 1 ? ofKey(one) : ""}${openWords(one, now)}`);
  const parts = [
    ...(open.length === 0 ? [NOTHING_WAITS] : open),
    refusals > 0 && `${refusals} refused in the last hour (${Object.keys(refused).slice(0, 3).join(", ")})`,
  ];
  const last = open.length > 0 ? "" : lastForwarded(lastAttempt, now);
  return safeText(`${parts.filter((part) => part !== false).join("; ")}.${last}`);
}

/** How many events got one answer of one target in their last attempt. */
export interface CountedAnswer {
  /** Null for events that were not attempted. */
  readonly target: string | null;
  readonly status: number | null;
  readonly count: number;
}

/** Answers what an operator asks at three in the morning; `answers` are the last ones to what waits or failed. */
export function situationSentence(
  { keys, lastAttempt }: Stats,
  answers: readonly CountedAnswer[],
  now: Date,
): string {
  const open = keys.filter(hasOpen);
  if (open.length === 0) return `${NOTHING_WAITS}.${lastForwarded(lastAttempt, now)}`;
  const parts = open.flatMap((one) => {
    const { pending, failed, comesAgain, oldest } = one;
    const words = [
      pending.events > 0 && `${countPhrase(pending, "waits", "wait")}${sinceOldest(oldest, now)}`,
      failed.events > 0 && `${countPhrase(failed, "has failed", "have failed")}${sentAgain(comesAgain)}`,
    ].filter((part) => part !== false);
    return keys.length > 1 ? `${ofKey(one)}${words.join(", ")}` : words;
  });
  return safeText(`${causesPhrase(answers)}${parts.join("; ")}.`);
}

const hasOpen = ({ pending, failed }: KeyStats): boolean => pending.events + failed.events > 0;

function openWords({ pending, failed, comesAgain, oldest }: KeyStats, now: Date): string {
  const waiting = countPhrase(pending, "acknowledged payment is", "acknowledged payments are");
  return [
    pending.events > 0 && `${waiting} not delivered${sumsPhrase(pending)}${sinceOldest(oldest, now)}`,
    failed.events > 0 &&
      `${countPhrase(failed, "failed", "failed")}${sumsPhrase(failed)}${sentAgain(comesAgain)}`,
  ]
    .filter((part) => part !== false)
    .join("; ");
}

/** The part of what failed that reaches the application by itself. */
const sentAgain = (comesAgain: StateStats): string =>
  comesAgain.events === 0 ? "" : ` (the service sends ${countPhrase(comesAgain, "", "").trim()} again)`;

const ofKey = ({ key }: KeyStats): string => `key ${shortKey(key)}: `;

const NOTHING_WAITS = "Nothing waits, nothing has failed";

const lastForwarded = (at: Date | null, now: Date): string =>
  at === null ? "" : ` Last forwarded ${durationWords(now.getTime() - at.getTime())} ago.`;

const sinceOldest = (oldest: Date | null, now: Date): string =>
  oldest === null ? "" : `, the oldest for ${durationWords(now.getTime() - oldest.getTime())}`;

const sumsPhrase = ({ sums }: StateStats): string =>
  sumTexts(sums)
    .map((sum) => `, ${sum}`)
    .join("");

/** "EUR 1,152.80" for each currency. */
export const sumTexts = (sums: readonly CurrencySum[] | null): string[] =>
  (sums ?? []).map(({ amount, currency }) => groupedAmount(amount, currency).trim());

const countPhrase = ({ events, sums }: StateStats, one: string, many: string): string =>
  `${events}${sums === null ? " or more" : ""} ${wordFor(events, one, many)}`;

/** The most causes in a sentence, the most frequent first. */
const MOST_CAUSES = 3;

function causesPhrase(answers: readonly CountedAnswer[]): string {
  const causes = new Map<string, { host: string; answer: string; count: number }>();
  for (const { target, status, count } of answers) {
    if (target === null || isSuccess(status)) continue;
    const host = parseWebAddress(target)?.host ?? target;
    const answer = status === null ? "does not answer" : `answers ${status}`;
    const before = causes.get(`${host} ${answer}`)?.count ?? 0;
    causes.set(`${host} ${answer}`, { host, answer, count: before + count });
  }
  const sorted = [...causes.values()].toSorted((one, other) => other.count - one.count);
  const words = sorted.slice(0, MOST_CAUSES).map(({ host, answer, count }, at) => {
    const named = sorted[at - 1]?.host === host ? answer : `${host} ${answer}`;
    return sorted.length === 1 ? named : `${named} (${formatCount(count)})`;
  });
  if (words.length === 0) return "";
  return `${words.join(", ")}${sorted.length > MOST_CAUSES ? " and others" : ""}: `;
}
