/** Whatever a run does to a store, it does to events of its own keys. */
import fc from "fast-check";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { NewEvent } from "../../src/events/event.ts";
import { openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { all, event, forward, idOf, verdict, wanted } from "../support/stored-events.ts";

const [OWN, OTHER] = ["o".repeat(43), "x".repeat(43)] as const;

const verifiedBy = (thumbprint: string, one: NewEvent): NewEvent => ({
  ...one,
  verdict: { ...verdict, key: { keyid: null, number: 1, bits: 2048, thumbprint } },
  keys: [thumbprint],
});

const events = fc.array(
  fc.record({ key: fc.constantFrom(OWN, OTHER), end: fc.constantFrom("waits", "failed", "delivered") }),
  { minLength: 1, maxLength: 6 },
);
const actions = fc.array(
  fc.constantFrom("claim", "claim and end", "retry all", "retry each", "repeat", "prune nothing"),
  { minLength: 1, maxLength: 5 },
);

it("changes no event of another key", async () => {
  await fc.assert(
    fc.asyncProperty(events, actions, async (list, does) => {
      const store = openSqlite(join(temporaryHome(), "events.db"));
      const stored = list.map(({ key }, index) => verifiedBy(key, event(idOf(`e${index}`))));
      for (const [index, one] of stored.entries()) {
        const { end } = list[index] ?? {};
        await store.append(one, end === "waits" ? 0 : 60_000);
        const claim = { id: one.id, attempt: 1 };
        if (end !== "waits") await store.ended(claim, forward(end === "failed" ? 500 : 200));
      }
      const others = async (): Promise<unknown> =>
        Promise.all(
          (await all(store.events({ keys: [OTHER] }))).map(async ({ id, delivery, repeats }) => ({
            id,
            delivery,
            repeats,
            history: await store.history(id),
          })),
        );
      const before = await others();
      for (const action of does) {
        if (action.startsWith("claim")) {
          const claimed = await store.claim({ ...wanted(), keys: [OWN] });
          for (const { id } of claimed) expect(stored.find((one) => one.id === id)?.keys).toEqual([OWN]);
          if (action === "claim and end")
            for (const claim of claimed) await store.ended(claim, forward(500), 0);
        } else if (action === "retry all") await store.retry({}, [OWN]);
        else if (action === "retry each") await store.retry({ ids: stored.map(({ id }) => id) }, [OWN]);
        // The same bytes under another key are another event.
        else if (action === "repeat")
          for (const [index, one] of stored.entries())
            await store.append(verifiedBy(OWN, { ...one, id: idOf(`again${index}-${does.length}`) }), 60_000);
        else await store.prune(new Date(0));
      }
      expect(await others()).toEqual(before);
      await store.close();
    }),
    { numRuns: 25 },
  );
}, 60_000);
