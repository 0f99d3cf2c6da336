/** A look at a store that is followed: each event once, in either database, also one that is committed after later ones. */
import { describe, expect, it } from "vitest";
import type { EventStore } from "../../src/store/event-store.ts";
import type { EventQuery } from "../../src/store/event-query.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { appendAll, openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import { AT, event, idOf, idsOf, rejection, sealWithId } from "../support/stored-events.ts";

/** Looks until there is no more for now. */
function following(store: EventStore, filter: EventQuery = {}, rejected = false) {
  const look = store.follow(filter, rejected);
  let time = AT.getTime();
  return async (wait = 0) => {
    time += wait;
    const found: string[] = [];
    for (;;) {
      const { found: stored, isEnd } = await look(new Date(time));
      found.push(...idsOf(stored).map((id) => id.slice(8)));
      if (isEnd) return found;
    }
  };
}

const add = async (store: EventStore, ...names: string[]): Promise<void> => {
  for (const name of names) await store.append(event(idOf(name)));
};

describe("a file that is followed", () => {
  followsEvents(openSqlite, async () => eventsPath(temporaryHome()));
});

describe("a server that is followed", () => {
  const server = usePostgres();
  followsEvents(openPostgres, () => server().createDatabase());

  it("returns an event that is committed after one with a higher number", async () => {
    const url = await server().createDatabase();
    const store = openPostgres(url);
    await add(store, "a", "b", "c");
    const look = following(store, { since: new Date(0) });
    const name = new URL(url).pathname.slice(1);
    const move = (from: number, to: number) =>
      server().query(
        `ALTER TABLE paylink.events ALTER seq DROP IDENTITY;
        UPDATE paylink.events SET seq = ${to} WHERE seq = ${from}`,
        name,
      );
    await move(2, 1000);
    expect(await look()).toEqual(["a", "c", "b"]);
    const [row = {}] = await server().query("SELECT * FROM paylink.events WHERE seq = 1", name);
    await server().query(
      `INSERT INTO paylink.events SELECT 500, '${idOf("late")}', uti, received_at, outcome, reference, key, path, currency, amount, card, payment, verdict, head, '${idOf("late")}', body,
         '${sealWithId(row, idOf("late"))}'
         FROM paylink.events WHERE seq = 1`,
      name,
    );
    expect(await look(9_000)).toEqual(["late"]);
    expect(await look(11_000)).toEqual([]);
    expect(await look(11_000)).toEqual([]);
  });
});

function followsEvents(open: (place: string) => EventStore, newPlace: () => Promise<string>): void {
  it("returns what is stored after the first read, once, whoever stores it", async () => {
    const place = await newPlace();
    const [store, other] = [open(place), open(place)];
    await add(store, "a", "b");
    const look = following(store);
    expect(await look()).toEqual([]);
    await add(other, "c");
    await add(store, "d");
    expect(await look()).toEqual(["c", "d"]);
    expect(await look(60_000)).toEqual([]);
    await store.append({ ...event(idOf("c")), id: idOf("c2") });
    await add(other, "e");
    expect(await look(60_000)).toEqual(["e"]);
  });

  it("begins with the events since a time, a page at a time, and filters", async () => {
    const store = open(await newPlace());
    const later = new Date(AT.getTime() + 1000);
    await add(store, "before");
    const names = Array.from({ length: 250 }, (_, index) => String(index));
    await appendAll(
      store,
      names.map((name) => event(idOf(name, later), {}, later)),
    );
    const look = following(store, { since: later });
    expect((await look()).toSorted()).toEqual(names.toSorted());
    const declined = following(store, { since: later, outcome: "DECLINED" });
    expect(await declined()).toEqual([]);
    await store.append(event(idOf("no", later), { transApproved: false }, later));
    await store.append(event(idOf("yes", later), {}, later));
    expect(await declined()).toEqual(["no"]);
    expect(await look()).toEqual(["no", "yes"]);
  });

  it("returns rejections in place of events, once, whoever stores them", async () => {
    const place = await newPlace();
    const [store, other] = [open(place), open(place)];
    await store.reject(rejection(idOf("before")));
    const look = following(store, {}, true);
    const since = following(store, { since: AT }, true);
    expect(await look()).toEqual([]);
    await add(store, "an event");
    await other.reject(rejection(idOf("a")));
    await store.reject(rejection(idOf("b")));
    expect(await look()).toEqual(["a", "b"]);
    expect(await since()).toEqual(["before", "a", "b"]);
    await store.prune(new Date(AT.getTime() + 1));
    expect(await look()).toEqual([]);
    await other.reject(rejection(idOf("c")));
    expect(await look()).toEqual(["c"]);
  });
}
