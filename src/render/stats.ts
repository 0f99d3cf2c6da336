/** The one sentence that says whether money is being lost now. */
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
