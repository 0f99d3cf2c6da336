/** Every place that knows only what has arrived says of every history what `standingOf` says: the store in both databases, and memory. */
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { comparableText } from "../../src/domain/comparable-text.ts";
import { readRecord } from "../../src/domain/transaction.ts";
import type { EventLog, NewEvent, Stored } from "../../src/events/event.ts";
import { createMemoryLog } from "../../src/receiver/memory-log.ts";
import type { EventStore } from "../../src/store/event-store.ts";
import { openPostgres, openWithoutThread } from "../support/event-stores.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import { all, AT, genuine, idOf, verdict } from "../support/stored-events.ts";
import { asMembers, bodyOf, histories, type History, orderOf, type VectorEvent } from "./vectors.ts";

const keyOf = (key = 1): string => `key-${key}`;

/** The event as a receiver has verified it. */
function arrived(event: VectorEvent, history: Pick<History, "number" | "keys">, id: string): NewEvent {
  const request = { ...genuine, body: bodyOf(event, history) };
  const key = verdict.key && { ...verdict.key, thumbprint: keyOf(event.key) };
  return {
    type: "event",
    id,
    receivedAt: AT,
    verdict: { ...verdict, key },
    request,
    content: readRecord(request.body),
    keys: (history.keys ?? [1, 2]).map(keyOf),
  };
}

const own = ({ keys = [1, 2], events }: History): VectorEvent[] =>
  events.filter(({ key = 1 }) => keys.includes(key));

/** Appends the events that the run can verify. Gives those that were warned of, and how the order stood at the last of its own. */
async function appendAll(log: Pick<EventLog, "append">, history: History, prefix: string) {
  const events = own(history);
  const stored = await Promise.all(
    events.map((event, at) => log.append(arrived(event, history, idOf(`${prefix}-${at + 10}`)))),
  );
  const isOwn = ({ order }: Stored): boolean => order?.number === comparableText(history.number);
  const last = stored.findLast(isOwn)?.order;
  return {
    warned: stored.flatMap(({ isPaidBefore, repeated }, at) =>
      isPaidBefore === true && !repeated ? [at] : [],
    ),
    last: last && asMembers(last),
  };
}

/** What is expected of a place that knows no links. */
const expected = (history: History) => {
  const isSeen = own(history).length > 0 && history.withoutLinks["standing"] !== undefined;
  return { warned: history.warned, last: isSeen && hasOwnEvent(history) ? history.withoutLinks : undefined };
};

const hasOwnEvent = (history: History): boolean =>
  (orderOf(history, { knowsLinks: false }).payments ?? []).length > 0;

describe("the vectors", () => {
  it("are said by --no-store", async () => {
    const log = createMemoryLog();
    for (const [at, history] of histories.entries())
      expect([history.name, await appendAll(log, history, `v${at + 100}`)]).toEqual([
        history.name,
        expected(history),
      ]);
  });

  it("are said by the store in SQLite", async () => {
    expect(await differencesIn(openWithoutThread(eventsPath(temporaryHome())))).toEqual([]);
  });

  const server = usePostgres();
  it("are said by the store in PostgreSQL", async () => {
    expect(await differencesIn(openPostgres(await server().createDatabase()))).toEqual([]);
  });

  /** The histories of which the store says something else, at their arrival or when they are read. */
  async function differencesIn(store: EventStore): Promise<unknown[]> {
    const different: unknown[] = [];
    for (const [at, history] of histories.entries()) {
      const said = await appendAll(store, history, `v${at + 100}`);
      const keys = (history.keys ?? [1, 2]).map(keyOf);
      const stored = (await all(store.events({ order: history.number, keys }))).filter(
        ({ reference }) => reference === comparableText(history.number),
      );
      const orders = [...(await store.orders(stored, async () => keys)).values()].map(asMembers);
      const isSame =
        isDeepStrictEqual(said, expected(history)) &&
        orders.length === stored.length &&
        orders.every((order) => isDeepStrictEqual(order, history.withoutLinks));
      if (!isSame) different.push({ name: history.name, said, orders });
    }
    return different;
  }
});
