/** Group commit: items that are added during a commit share the next one, and so one sync of the disk. */
import { setImmediate } from "node:timers/promises";

interface Pending<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/** Makes items durable and returns one result for each, in order. Stores each item whole or not at all. */
type Commit<Item, Result> = (items: readonly Item[]) => Promise<readonly PromiseSettledResult<Result>[]>;

/** A `commit` that rejects has stored nothing. Up to `atOnce` commits run at the same time. */
export function createGroupCommit<Item, Result>(
  commit: Commit<Item, Result>,
  { atOnce = 1 }: { readonly atOnce?: number } = {},
) {
  let pending: Pending<Item, Result>[] = [];
  let isGathering = false;
  const running = new Set<Promise<void>>();
  const run = async (): Promise<void> => {
    // Everything that is added in one turn of the event loop is in the same group.
    await setImmediate();
    const group = pending;
    pending = [];
    isGathering = false;
    await settle(group, commit);
  };
  const schedule = (): void => {
    if (isGathering || pending.length === 0 || running.size >= atOnce) return;
    isGathering = true;
    const committing = run().then(() => {
      running.delete(committing);
      schedule();
    });
    running.add(committing);
  };
  return {
    /** Resolves once the item is durable; rejects if it is not stored. */
    add: (item: Item) =>
      new Promise<Result>((resolve, reject) => {
        pending.push({ item, resolve, reject });
        schedule();
      }),
    /** Resolves when everything added so far is stored or has failed. */
    settled: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

async function settle<Item, Result>(
  group: readonly Pending<Item, Result>[],
  commit: Commit<Item, Result>,
): Promise<void> {
  try {
    const results = await commit(group.map(({ item }) => item));
    group.forEach(({ resolve, reject }, index) => {
      const result = results[index];
      if (result?.status === "fulfilled") resolve(result.value);
      else reject(result?.reason);
    });
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}
