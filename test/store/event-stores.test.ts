/** The event store of either kind: durable before it resolves, each event once, read back byte for byte, within limits. */
import { describe, expect, it } from "vitest";
import type { EventStore } from "../../src/receiver/event-store.ts";
import { firstDelivery } from "../../src/receiver/events.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { usePgBouncer } from "../support/pgbouncer.ts";
import { usePostgres } from "../support/postgres.ts";
import {
  all,
  AT,
  event,
  forward,
  genuine,
  ids,
  idsOf,
  rejection,
  vector,
  verdict,
} from "../support/stored-events.ts";

describe("the event store in SQLite", () => {
  behavesAsEventStore(openSqlite, async () => eventsPath(temporaryHome()));
});

describe("the event store in PostgreSQL", () => {
  const server = usePostgres();
  behavesAsEventStore(openPostgres, () => server().createDatabase());

  describe("behind PgBouncer", () => {
    const pooled = usePgBouncer(server);
    behavesAsEventStore(openPostgres, async () => pooled(await server().createDatabase()));
  });
});

function behavesAsEventStore(open: (place: string) => EventStore, newPlace: () => Promise<string>): void {
  it("returns the same bytes, header lines, verdict and time", async () => {
    const store = open(await newPlace());
    const receivedAt = new Date(vector.context.now * 1000 + 123);
    await store.append({ ...event("a"), receivedAt, request: { ...genuine, trailers: [["X", "y"]] } });
    const [stored] = await all(store.events());
    expect(stored).toMatchObject({ id: "a", receivedAt, verdict, repeats: 0, accepted: false });
    expect(stored?.request).toMatchObject({
      ...genuine,
      trailers: [["X", "y"]],
      body: expect.any(Uint8Array),
    });
    expect(Buffer.compare(stored?.request.body ?? Buffer.of(), genuine.body)).toBe(0);
  });

  it("stores a record once, however often it is delivered", async () => {
    const store = open(await newPlace());
    const again = { ...event("c"), request: event("a").request, record: event("a").record };
    const results = await Promise.all([event("a"), event("b"), again].map((one) => store.append(one)));
    expect(results).toEqual([
      firstDelivery("a"),
      firstDelivery("b"),
      { ...firstDelivery("a"), repeated: true },
    ]);
    expect(await ids(store.events())).toEqual(["a", "b"]);
    expect(await store.arrivals("a")).toEqual([{ id: "c", receivedAt: AT }]);
    expect((await all(store.events())).map(({ repeats }) => repeats)).toEqual([1, 0]);
  });

  it("knows a delivery again whose uti is no valid text", async () => {
    const store = open(await newPlace());
    // A NUL, a lone surrogate, and a pair of surrogates where the index cuts the text.
    const utis = ["a\0b", "a\ud800b", `${"x".repeat(499)}\u{1f600}`];
    for (const [index, uti] of utis.entries()) {
      const first = event(`a${index}`, { uti, reference: uti });
      const again = { ...first, id: `b${index}` };
      expect(await store.append(first)).toMatchObject({ repeated: false, first: first.id });
      expect(await store.append(again)).toMatchObject({ repeated: true, first: first.id });
    }
    expect(await ids(store.events())).toEqual(["a0", "a1", "a2"]);
  });

  it("stores the same uti with another body as another event", async () => {
    const store = open(await newPlace());
    await store.append(event("a", { uti: "same" }));
    const other = await store.append(event("b", { uti: "same", amountTrans: 9 }));
    expect(other.repeated).toBe(false);
    expect(idsOf(await store.find("same"))).toEqual(["b", "a"]);
  });

  it("knows which events the application has accepted and which it has refused", async () => {
    const store = open(await newPlace());
    const again = async (id: string): Promise<boolean> =>
      (await store.append({ ...event("a"), id })).accepted;
    await store.append(event("a"));
    await store.forwarded("a", forward(500));
    expect(await again("b")).toBe(false);
    await store.forwarded("a", forward(204));
    expect(await again("c")).toBe(true);
    expect((await store.forwards("a")).map(({ status }) => status)).toEqual([500, 204]);
  });

  it("finds by the beginning of a uti or an id, and treats wildcards as text", async () => {
    const store = open(await newPlace());
    for (const id of ["a1", "a2", "b1"]) await store.append(event(id));
    expect(idsOf(await store.find("uti-a"))).toEqual(["a2", "a1"]);
    expect(idsOf(await store.find("b"))).toEqual(["b1"]);
    expect(await store.find("uti-%")).toEqual([]);
  });

  it("filters by outcome, reference, time and count, in order of arrival", async () => {
    const store = open(await newPlace());
    const later = new Date(AT.getTime() + 60_000);
    await store.append(event("a"));
    await store.append(event("b", { transApproved: false, reference: "INV-2-ABCDEFGHI" }));
    await store.append(event("c", {}, later));
    expect(await ids(store.events({ outcome: "DECLINED" }))).toEqual(["b"]);
    expect(await ids(store.events({ reference: "INV-1" }))).toEqual(["a", "c"]);
    expect(await ids(store.events({ since: later }))).toEqual(["c"]);
    expect(await ids(store.events({ until: later }))).toEqual(["a", "b"]);
    expect(await ids(store.events({ limit: 2 }))).toEqual(["b", "c"]);
  });

  it("reads more than one page while others write and prune", async () => {
    const path = await newPlace();
    const store = open(path);
    const names = Array.from({ length: 350 }, (_, index) => String(index).padStart(3, "0"));
    const after = (milliseconds: number): Date => new Date(AT.getTime() + milliseconds);
    for (const name of names) void store.append(event(name, {}, after(Number(name))));
    await store.append(event("350", { transApproved: false }, after(350)));
    const seen: string[] = [];
    for await (const { id } of store.events({ outcome: "APPROVED" })) {
      // On Node 20, garbage collection must not close the database while it is read.
      await new Promise((resolve) => setImmediate(resolve));
      if (seen.push(id) === 50) {
        await store.append(event("351", {}, after(351)));
        await open(path).prune(after(250));
      }
    }
    // The first page was in memory by then.
    expect(seen).toEqual([...names.slice(0, 100), ...names.slice(250)]);
    expect(await ids(store.events({ outcome: "APPROVED", limit: 100 }))).toEqual([
      ...names.slice(251),
      "351",
    ]);
    expect(await ids(store.events({ limit: 1000 }))).toHaveLength(102);
    const newest = await ids(store.events({ limit: 101, newestFirst: true }));
    expect(newest).toEqual((await ids(store.events({ limit: 101 }))).toReversed());
  });

  it("stores the newest rejections, limited by count and by size", async () => {
    const store = open(await newPlace());
    for (let round = 0; round < 6; round++) {
      for (let index = 0; index < 250; index++) void store.reject(rejection(`${round}-${index}`));
      await store.append(event(String(round)));
    }
    expect(await ids(store.rejections())).toHaveLength(1000);
    expect((await ids(store.rejections())).at(-1)).toBe("5-249");
    const [found] = await store.find("5-249");
    expect(found?.type).toBe("rejected");
    expect(Buffer.from(found?.request?.body ?? Buffer.of())).toEqual(Buffer.alloc(10, 1));
    for (let index = 0; index < 5; index++) void store.reject(rejection(`big-${index}`, 8 * 1024 * 1024));
    await store.append(event("last"));
    expect(await ids(store.rejections())).toEqual(["big-1", "big-2", "big-3", "big-4"]);
  });

  it("filters rejections by time and count", async () => {
    const store = open(await newPlace());
    const later = new Date(AT.getTime() + 60_000);
    for (const one of [rejection("a"), rejection("b"), { ...rejection("c"), receivedAt: later }])
      void store.reject(one);
    await store.append(event("event"));
    expect(await ids(store.rejections())).toEqual(["a", "b", "c"]);
    expect(await ids(store.rejections({ since: later }))).toEqual(["c"]);
    expect(await ids(store.rejections({ until: later, limit: 1 }))).toEqual(["b"]);
    expect(await ids(store.rejections({ newestFirst: true }))).toEqual(["c", "b", "a"]);
  });

  it("prunes in batches, which several receivers share", async () => {
    const path = await newPlace();
    const first = open(path);
    const stores = [first, open(path), open(path)];
    await Promise.all(Array.from({ length: 1200 }, (_, index) => first.append(event(String(index)))));
    let batches = 0;
    const later = new Date(AT.getTime() + 1);
    const pruned = await Promise.all(stores.map((store) => store.prune(later, async () => void batches++)));
    expect(pruned.reduce((sum, { events }) => sum + events, 0)).toBe(1200);
    expect(batches).toBeGreaterThanOrEqual(3);
    expect(await ids(open(path).events())).toEqual([]);
  });

  it("prunes events with their arrivals and forwards", async () => {
    const store = open(await newPlace());
    const later = new Date(AT.getTime() + 1);
    await store.append(event("a"));
    await store.append({ ...event("a"), id: "a2" });
    await store.forwarded("a", forward(200));
    await store.append(event("b", {}, later));
    void store.reject(rejection("r"));
    await store.append(event("c", {}, later));
    expect(await store.prune(later)).toEqual({ events: 1, rejections: 1 });
    expect(await ids(store.events())).toEqual(["b", "c"]);
    expect([await store.arrivals("a"), await store.forwards("a")]).toEqual([[], []]);
  });

  it("stores each event once when several stores write to one file", async () => {
    const path = await newPlace();
    const stores = [open(path), open(path)] as const;
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? stores[0] : stores[1]).append({
          ...event(`same-${index >> 1}`),
          id: `id-${index}`,
        }),
      ),
    );
    expect(results.filter(({ repeated }) => !repeated)).toHaveLength(25);
    expect(await ids(open(path).events())).toHaveLength(25);
  });

  it("keeps an event from others while it is claimed, unless a clock that was ahead claimed it", async () => {
    const path = await newPlace();
    const [store, other] = [open(path), open(path)];
    const claimedElsewhere = async (by: EventStore, id: string, ahead: number): Promise<boolean> => {
      const receivedAt = new Date(AT.getTime() + ahead);
      const stored = await by.append(
        { ...event(id[0] ?? ""), id, receivedAt },
        new Date(receivedAt.getTime() + 35_000),
      );
      return stored.claimedElsewhere;
    };
    await claimedElsewhere(store, "a", 0);
    await claimedElsewhere(store, "b", 20_000);
    await claimedElsewhere(store, "c", 86_400_000);
    expect(await claimedElsewhere(other, "a2", 34_000)).toBe(true);
    expect(await claimedElsewhere(other, "a3", 36_000)).toBe(false);
    expect(await claimedElsewhere(other, "b2", 0)).toBe(true);
    expect(await claimedElsewhere(other, "c2", 0)).toBe(false);
    expect(await claimedElsewhere(store, "c3", 0)).toBe(true);
  });

  it("tells others how the application answered the last attempt, if it did", async () => {
    const store = open(await newPlace());
    await store.append(event("a"), new Date(AT.getTime() + 35_000));
    const answered = async (status: number | null): Promise<number | undefined> => {
      await store.forwarded("a", { at: AT, target: "http://app/", status, ms: 1, detail: "" });
      return (await store.lookUp("a", AT)).answered;
    };
    expect(await answered(401)).toBe(401);
    expect(await answered(null)).toBeUndefined();
  });

  it("writes what is queued before it closes", async () => {
    const path = await newPlace();
    const store = open(path);
    const appended = store.append(event("a"));
    await store.close();
    await store.close();
    expect(await appended).toMatchObject({ repeated: false });
    expect(await ids(open(path).events())).toEqual(["a"]);
  });
}
