/** Group commit: what is added together is committed together, one commit at a time, and each item gets its own result. */
import { expect, it } from "vitest";
import { createGroupCommit } from "../../src/store/group-commit.ts";

const fulfilled = <T>(value: T) => ({ status: "fulfilled", value }) as const;
const rejected = (reason: unknown) => ({ status: "rejected", reason }) as const;

it("commits entries that are added during another commit together", async () => {
  const groups: string[][] = [];
  let running = 0;
  let finish = (): void => undefined;
  const group = createGroupCommit(async (items: readonly string[]) => {
    expect(++running).toBe(1);
    groups.push([...items]);
    if (groups.length === 1) await new Promise<void>((resolve) => (finish = resolve));
    running -= 1;
    return items.map((item) => fulfilled(item.toUpperCase()));
  });
  const first = [group.add("a"), group.add("b")];
  await expect.poll(() => groups.length).toBe(1);
  const second = [group.add("c"), group.add("d")];
  finish();
  expect(await Promise.all([...first, ...second])).toEqual(["A", "B", "C", "D"]);
  expect(groups).toEqual([
    ["a", "b"],
    ["c", "d"],
  ]);
});

it("runs as many commits at once as allowed, and no more", async () => {
  const finish: (() => void)[] = [];
  const group = createGroupCommit(
    async (items: readonly string[]) => {
      await new Promise<void>((resolve) => finish.push(resolve));
      return items.map(fulfilled);
    },
    { atOnce: 2 },
  );
  // A commit begins one turn after its first entry.
  const turn = async () => {
    for (let count = 0; count < 3; count++) await new Promise(setImmediate);
  };
  const results: Promise<string>[] = [];
  for (const item of ["a", "b", "c", "d"]) {
    results.push(group.add(item));
    await turn();
  }
  expect(finish).toHaveLength(2);
  finish[0]?.();
  expect(await results[0]).toBe("a");
  await expect.poll(() => finish.length).toBe(3);
  for (const resolve of finish) resolve();
  expect(await Promise.all(results)).toEqual(["a", "b", "c", "d"]);
});

it("gives each item its own result", async () => {
  const group = createGroupCommit(async (items: readonly number[]) =>
    items.map((item) => (item < 0 ? rejected(new Error(`no ${item}`)) : fulfilled(item))),
  );
  const results = await Promise.allSettled([1, -2, 3].map((item) => group.add(item)));
  expect(results).toEqual([fulfilled(1), rejected(new Error("no -2")), fulfilled(3)]);
});

it("rejects a whole group whose commit fails, and commits the next one", async () => {
  let failing = true;
  const group = createGroupCommit(async (items: readonly number[]) => {
    if (failing) throw new Error("disk full");
    return items.map(fulfilled);
  });
  const results = await Promise.allSettled([group.add(1), group.add(2)]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  failing = false;
  expect(await group.add(3)).toBe(3);
});

it("is idle once nothing is left to commit", async () => {
  const stored: number[] = [];
  const group = createGroupCommit(async (items: readonly number[]) => {
    stored.push(...items);
    return items.map(fulfilled);
  });
  void group.add(1).then(() => group.add(2));
  await group.settled();
  expect(stored).toEqual([1, 2]);
});
