/** What takes long to read in a store of many events is kept for a while: an open page asks for it every two seconds. */
import type { EventStore } from "../store/event-store.ts";

/** An answer is kept for so many times as long as it took, so that reading takes a twentieth of the time at most. */
const TIMES_KEPT = 20;

/** The store with its sums, charts and paths kept; `now` is the clock. */
export function keepingStore(store: EventStore, now: () => Date): EventStore {
  return {
    ...store,
    totals: kept(store.totals, now),
    bars: kept(store.bars, now),
    paths: kept(store.paths, now),
  };
}

function kept<Given extends readonly unknown[], Answer>(
  read: (...given: Given) => Promise<Answer>,
  now: () => Date,
): (...given: Given) => Promise<Answer> {
  const answers = new Map<string, { readonly until: number; readonly answer: Answer }>();
  return async (...given) => {
    // "The last 24 hours" begin a little later each time.
    const key = JSON.stringify(given).replaceAll(/:\d\d\.\d{3}Z/g, "Z");
    const asked = now().getTime();
    for (const [name, { until }] of answers) if (until <= asked) answers.delete(name);
    const known = answers.get(key);
    if (known !== undefined) return known.answer;
    const answer = await read(...given);
    const done = now().getTime();
    answers.set(key, { until: done + TIMES_KEPT * (done - asked), answer });
    return answer;
  };
}
