/** The one sentence that says whether money is being lost now. */
import { parseWebAddress } from "../domain/addresses.ts";
import { isAccepted, type Forward } from "../receiver/events.ts";
import type { Stats } from "../store/stats.ts";
import { safeText } from "./safe-text.ts";

export function statsSentence({ pending, failed, oldest, refused, lastAttempt }: Stats, now: Date): string {
  const refusals = Object.values(refused).reduce((sum, count) => sum + count, 0);
  const parts = [
    ...(pending.events === 0
      ? []
      : [
          `${counted(pending.events, "acknowledged payment is", "acknowledged payments are")} not delivered${[
            ...pending.sums.map((sum) => `, ${sum}`),
            ...(oldest === null ? [] : [`, the oldest for ${ageWords(now.getTime() - oldest.getTime())}`]),
          ].join("")}`,
        ]),
    ...(failed.events === 0
      ? []
      : [`${failed.events} failed${failed.sums.map((sum) => `, ${sum}`).join("")}`]),
    ...(pending.events + failed.events === 0 ? ["Nothing waits, nothing has failed"] : []),
    ...(refusals === 0
      ? []
      : [`${refusals} refused in the last hour (${Object.keys(refused).slice(0, 3).join(", ")})`]),
  ];
  const last =
    pending.events + failed.events > 0 || lastAttempt === null
      ? ""
      : ` Last forwarded ${ageWords(now.getTime() - lastAttempt.getTime())} ago.`;
  return safeText(`${parts.join("; ")}.${last}`);
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

const UNITS: readonly (readonly [name: string, milliseconds: number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
];

/** In the largest unit of which it has two: "14 minutes", "26 hours". */
export function ageWords(milliseconds: number): string {
  const [name, length] = UNITS.find(([, unit]) => milliseconds >= 2 * unit) ?? ["second", 1_000];
  const count = Math.max(0, Math.floor(milliseconds / length));
  return counted(count, name, `${name}s`);
}

/** What somebody wants to know at three in the morning; `attempt` is the last one of what waits or failed. */
export function situationSentence(
  { pending, failed, oldest, lastAttempt }: Stats,
  attempt: Pick<Forward, "target" | "status"> | undefined,
  now: Date,
): string {
  const age = (since: Date): string => ageWords(now.getTime() - since.getTime());
  if (pending.events + failed.events === 0)
    return `Nothing waits, nothing has failed.${lastAttempt === null ? "" : ` Last forwarded ${age(lastAttempt)} ago.`}`;
  const parts = [
    pending.events === 0
      ? ""
      : `${counted(pending.events, "waits", "wait")}${oldest === null ? "" : `, the oldest for ${age(oldest)}`}`,
    failed.events === 0 ? "" : counted(failed.events, "has failed", "have failed"),
  ].filter((part) => part !== "");
  return safeText(`${causeOf(attempt)}${parts.join("; ")}.`);
}

function causeOf(attempt: Pick<Forward, "target" | "status"> | undefined): string {
  if (attempt === undefined || isAccepted(attempt.status)) return "";
  const host = parseWebAddress(attempt.target)?.host ?? attempt.target;
  return attempt.status === null ? `${host} does not answer: ` : `${host} answers ${attempt.status}: `;
}
