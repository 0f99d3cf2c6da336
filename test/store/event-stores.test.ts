/** The event store of either kind: durable before it resolves, each event once, read back byte for byte, within limits. */
import { describe, expect, it } from "vitest";
import type { HeaderLine } from "../../src/http/message.ts";
import { contentDigest } from "../../src/signatures/digest.ts";
import type { EventStore } from "../../src/store/event-store.ts";
import type { EventQuery } from "../../src/store/event-query.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { appendAll, openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { usePgBouncer } from "../support/pgbouncer.ts";
import { usePostgres } from "../support/postgres.ts";
import {
  all,
  AT,
  event,
  forward,
  genuine,
  idOf,
  ids,
  idsOf,
  rejection,
  vector,
  verdict,
  wanted,
  backlogOf,
} from "../support/stored-events.ts";

describe("the event store in SQLite", () => {
  behavesAsEventStore(openSqlite, async () => eventsPath(temporaryHome()));
});

describe("the event store in PostgreSQL", () => {
  const server = usePostgres();
  behavesAsEventStore(openPostgres, () => server().createDatabase());

  const pooled = usePgBouncer(server);

  it("works behind PgBouncer: two receivers store, claim and end each event once, and a group that fails leaves nothing", async () => {
    const own = await server().createDatabase();
    const stores = [openPostgres(pooled(own)), openPostgres(pooled(own))] as const;
    const events = Array.from({ length: 50 }, (_, index) => event(`e${10 + index}`));
    const results = await Promise.all(
      stores.flatMap((store, index) =>
        events.map((one) => store.append({ ...one, id: `${one.id}-${index}` }, 0)),
      ),
    );
    expect(results.filter(({ repeated }) => !repeated)).toHaveLength(50);
    const claimed = await Promise.all(stores.map((one) => one.claim(wanted({ limit: 50 }))));
    expect(claimed.flat()).toHaveLength(50);
    expect(new Set(claimed.flatMap(idsOf)).size).toBe(50);
    const [store, other] = stores;
    await Promise.all(claimed.flat().map((one) => store.ended(one, forward(200))));
    expect(await backlogOf(other)).toMatchObject({ events: 0, failed: 0 });
    const database = new URL(own).pathname.slice(1);
    await server().query(`ALTER TABLE paylink.events ADD CONSTRAINT no CHECK (id <> 'b')`, database);
    await expect(store.append(event("b"))).rejects.toThrow("violates check constraint");
    expect((await store.append(event("c"))).repeated).toBe(false);
    for (const one of stores) expect(await all(one.events())).toHaveLength(51);
  });
});

function behavesAsEventStore(open: (place: string) => EventStore, newPlace: () => Promise<string>): void {
  it("returns the same bytes, header lines, verdict and time", async () => {
    const store = open(await newPlace());
    const receivedAt = new Date(vector.context.now * 1000 + 123);
    await store.append({ ...event("a"), receivedAt, request: genuine });
    const [stored] = await all(store.events());

    expect(stored).toMatchObject({ id: "a", receivedAt, verdict, repeats: 0, delivery: null });
    expect(stored?.request).toMatchObject({ ...genuine, body: expect.any(Uint8Array) });
    expect(Buffer.compare(stored?.request.body ?? Buffer.of(), genuine.body)).toBe(0);
  });

  it("stores a record once, however often it is delivered", async () => {
    const store = open(await newPlace());
    const again = { ...event("c"), request: event("a").request, content: event("a").content };
    const results = await Promise.all([event("a"), event("b"), again].map((one) => store.append(one)));
    expect(results).toMatchObject([
      { repeated: false, first: "a", state: null, order: { standing: "paid" } },
      { repeated: false, first: "b", state: null, order: { standing: "twice" }, isPaidBefore: true },
      { repeated: true, first: "a", state: null, order: { standing: "paid" } },
    ]);
    expect(await ids(store.events())).toEqual(["a", "b"]);
    expect((await store.history("a")).arrivals).toEqual([{ id: "c", receivedAt: AT }]);
    expect((await all(store.events())).map(({ repeats }) => repeats)).toEqual([1, 0]);
  });

  it("marks a payment of an order that another one has paid, whenever it arrives, and no other", async () => {
    const store = open(await newPlace());
    const marked = async (id: string, record: Record<string, unknown>): Promise<boolean> =>
      (await store.append(event(id, record))).isPaidBefore ?? false;
    const part = { transPartiallyApproved: true, reference: "P" };
    const declined = { transApproved: false, reference: "D" };
    expect(await marked("a", { reference: "A" })).toBe(false);
    expect(await marked("b", { reference: "B" })).toBe(false);
    expect(await marked("c", { reference: "A" })).toBe(true);
    // The same payment in other bytes, a part and the rest, an attempt that was declined, and no order at all.
    expect(await marked("d", { reference: "B", uti: "uti-b", status: "Complete" })).toBe(false);
    expect([await marked("e", part), await marked("f", { reference: "P" })]).toEqual([false, false]);
    expect([await marked("g", declined), await marked("h", { reference: "D" })]).toEqual([false, false]);
    expect([await marked("i", { reference: "" }), await marked("j", { reference: "" })]).toEqual([
      false,
      false,
    ]);
    const group = await Promise.all(["k", "l"].map((id) => marked(id, { reference: "G" })));
    expect(group).toEqual([false, true]);
    const stored = await all(store.events());
    const warned = stored.filter(({ verdict: { warnings } }) => warnings.includes("order_paid_before"));
    expect(idsOf(warned)).toEqual(["c", "l"]);
    // Its repeat says it too.
    const again = { ...event("c", { reference: "A" }), id: "m" };
    expect(await store.append(again)).toMatchObject({ repeated: true, first: "c", isPaidBefore: true });
    // A verification of the card over 0 pays nothing, before what is charged to it or after it; a second charge does.
    const verification = { reference: "S", amountTrans: 0, transCurrencyCode: "EUR" };
    const charge = { ...verification, amountTrans: 9.99 };
    expect([await marked("n", verification), await marked("o", charge)]).toEqual([false, false]);
    expect([await marked("p", verification), await marked("q", charge)]).toEqual([false, true]);
  });

  it("gives reconcile every event since a time, by reference, with the state of its delivery", async () => {
    const store = open(await newPlace());
    const later = new Date(AT.getTime() + 1000);
    const paid = { reference: "A", amountTrans: 10, transCurrencyCode: "eur" };
    await store.append(event(idOf("1"), paid));
    await store.append(event(idOf("2", later), { ...paid, reference: "B" }), 0);
    await store.append(event(idOf("3", later), paid));
    await store.append(event(idOf("4", later), { reference: "C", transApproved: false }));
    const found = await all(store.paymentsSince(later));
    expect(found.map(({ reference, delivery, hasEarlier }) => [reference, delivery, hasEarlier])).toEqual([
      ["A", null, true],
      ["B", "pending", false],
      ["C", null, false],
    ]);
    expect(found.map(({ money }) => money)).toEqual([
      { amount: "10", currency: "EUR" },
      { amount: "10", currency: "EUR" },
      undefined,
    ]);
    expect((await all(store.paymentsOf(["A", "none"]))).map(({ event: id }) => id)).toEqual([
      idOf("1"),
      idOf("3", later),
    ]);
  });

  it("gives reconcile all payments of a reusable link, however many, and none of another order", async () => {
    const store = open(await newPlace());
    const suffixes = Array.from({ length: 250 }, (_, number) => `D-${String(number).padStart(9, "0")}`);
    const references = ["D", "DA-000000001", "C-000000001", ...suffixes];
    await appendAll(
      store,
      references.map((reference, at) => event(idOf(`${at}`), { reference })),
    );
    const found = await all(store.paymentsOfReusable("D"));
    expect(found.map(({ reference }) => reference)).toEqual(suffixes);
  });

  it("knows how far back it goes: to its creation, or to where older events were deleted", async () => {
    const store = open(await newPlace());
    const made = Date.now();
    const at = (milliseconds: number): Date => new Date(made + milliseconds);
    expect(await store.keptSince()).toBeUndefined();
    await store.append(event(idOf("1", at(60_000)), {}, at(60_000)));
    await store.append(event(idOf("2", at(90_000)), {}, at(90_000)));
    // The clock of a server may differ a little.
    expect(Math.abs(((await store.keptSince())?.getTime() ?? 0) - made)).toBeLessThan(30_000);
    await store.prune(at(70_000));
    expect(await store.keptSince()).toEqual(at(70_000));
    // An empty store has received something all the same.
    await store.prune(at(100_000));
    expect(await store.keptSince()).toEqual(at(100_000));
  });

  it("stores text that a database or its indexes do not accept, and recognises it again", async () => {
    const store = open(await newPlace());
    // A NUL, a lone surrogate, a pair of surrogates where the index cuts the text, and more than an index takes.
    const utis = ["a\0b", "a\ud800b", `${"x".repeat(499)}\u{1f600}`, "é".repeat(20_000)];
    for (const [index, uti] of utis.entries()) {
      const first = event(`a${index}`, { uti, reference: uti });
      const again = { ...first, id: `b${index}` };
      expect(await store.append(first)).toMatchObject({ repeated: false, first: first.id });
      expect(await store.append(again)).toMatchObject({ repeated: true, first: first.id });
    }
    expect(await ids(store.events())).toEqual(["a0", "a1", "a2", "a3"]);
    await store.reject({ ...rejection("r"), detail: "\0" });
  });

  it("stores the same uti with another body as another event", async () => {
    const store = open(await newPlace());
    await store.append(event("a", { uti: "same" }));
    const other = await store.append(event("b", { uti: "same", amountTrans: 9 }));
    expect(other.repeated).toBe(false);
    expect(idsOf(await store.find("same"))).toEqual(["b", "a"]);
  });

  it("finds by the beginning of a uti or an id, and treats wildcards as text", async () => {
    const store = open(await newPlace());
    for (const id of ["a1", "a2", "b1"]) await store.append(event(id));
    expect(idsOf(await store.find("uti-a"))).toEqual(["a2", "a1"]);
    expect(idsOf(await store.find("b"))).toEqual(["b1"]);
    expect(await store.find("uti-%")).toEqual([]);
    await store.append(event("c1", { reference: "A-4-ABCDEFGHI" }));
    await store.append(event("c2", { reference: "A-40" }));
    expect(idsOf(await store.find("A-4"))).toEqual(["c1"]);
    expect(await ids(store.events({ order: "A-40" }))).toEqual(["c2"]);
  });

  it("filters by outcome, reference, time and count, in order of arrival", async () => {
    const store = open(await newPlace());
    const later = new Date(AT.getTime() + 60_000);
    const [a, b, c] = [idOf("a"), idOf("b"), idOf("c", later)];
    await store.append(event(a));
    await store.append(event(b, { transApproved: false, reference: "INV-2-ABCDEFGHI" }));
    await store.append(event(c, {}, later));
    expect(await ids(store.events({ outcome: "DECLINED" }))).toEqual([b]);
    expect(await ids(store.events({ reference: "INV-1" }))).toEqual([a, c]);
    expect(await ids(store.events({ since: later }))).toEqual([c]);
    expect(await ids(store.events({ until: later }))).toEqual([a, b]);
    expect(await ids(store.events({ limit: 2 }))).toEqual([b, c]);
    expect(await store.count({ reference: "INV-1" }, 10)).toBe(2);
  });

  it("reads more than one page while others write and prune", async () => {
    const path = await newPlace();
    const store = open(path);
    const names = Array.from({ length: 350 }, (_, index) => String(index).padStart(3, "0"));
    const after = (milliseconds: number): Date => new Date(AT.getTime() + milliseconds);
    const idFor = (name: string): string => idOf(name, after(Number(name)));
    const named = (name: string, record = {}) => event(idFor(name), record, after(Number(name)));
    await appendAll(
      store,
      names.map((name) => named(name)),
    );
    await store.append(named("350", { transApproved: false }));
    const seen: string[] = [];
    for await (const { id } of store.events({ outcome: "APPROVED" })) {
      // On Node 20, garbage collection must not close the database while it is read.
      await new Promise((resolve) => setImmediate(resolve));
      if (seen.push(id) === 50) {
        await store.append(named("351"));
        await open(path).prune(after(250));
      }
    }
    // The first page was in memory by then.
    expect(seen).toEqual([...names.slice(0, 100), ...names.slice(250)].map(idFor));
    expect(await ids(store.events({ outcome: "APPROVED", limit: 100 }))).toEqual(
      [...names.slice(251), "351"].map(idFor),
    );
    expect(await ids(store.events({ limit: 1000 }))).toHaveLength(102);
    const newest = await ids(store.events({ limit: 101, newestFirst: true }));
    expect(newest).toEqual((await ids(store.events({ limit: 101 }))).toReversed());
  });

  it("keeps rejections with a signature apart from those without one", async () => {
    const store = open(await newPlace());
    await store.reject(rejection("signed"));
    expect(await store.refusalsDroppedUntil()).toBeUndefined();
    const unsigned = { ...genuine, headers: [], body: Buffer.alloc(10, 1) };
    for (let round = 0; round < 5; round++)
      await Promise.all(
        Array.from({ length: 250 }, (_, index) =>
          store.reject({ ...rejection(`${round}-${index}`), request: unsigned, verdict: null }),
        ),
      );
    expect(await ids(store.rejections())).toHaveLength(1001);
    // To the next minute.
    expect(await store.refusalsDroppedUntil()).toEqual(new Date(Math.ceil(AT.getTime() / 60_000) * 60_000));
    const [found] = await store.find("signed");
    expect(found).toMatchObject({
      type: "rejected",
      verdict: { failure: { check: "signature-value" } },
      detail: "no",
    });
    expect(Buffer.from(found?.request?.body ?? Buffer.of())).toEqual(Buffer.alloc(10, 1));
    await store.reject(rejection("large", 65 * 1024));
    expect((await store.find("large"))[0]?.request?.body).toHaveLength(0);
  });

  it("keeps a rejected record through 10,000 requests that have a signature and no record, and drops the oldest of these", async () => {
    const store = open(await newPlace());
    const body = Buffer.from(JSON.stringify({ uti: "u-1", transApproved: true, amountTrans: 10 }));
    const digest: HeaderLine = ["Content-Digest", contentDigest(body)];
    const headers = [...genuine.headers.filter(([name]) => name.toLowerCase() !== "content-digest"), digest];
    await store.reject({ ...rejection("genuine"), request: { ...genuine, headers, body } });
    const junk = [
      { ...genuine, body: Buffer.from("{}") },
      { ...genuine, headers, body: Buffer.from("[]") },
      // Its digest is right, and it is not a record.
      {
        ...genuine,
        headers: [...headers.slice(0, -1), ["Content-Digest", contentDigest(Buffer.from("{}"))] as const],
        body: Buffer.from("{}"),
      },
      // It is a record, and its digest is wrong.
      { ...genuine, headers, body: Buffer.from(body.toString().replace("10", "99")) },
    ];
    for (let round = 0; round < 41; round++)
      await Promise.all(
        Array.from({ length: 250 }, (_, index) =>
          store.reject({ ...rejection(`j${round}-${index}`), request: junk[index % junk.length] ?? null }),
        ),
      );
    const kept = await ids(store.rejections());
    expect(kept).toHaveLength(10_000);
    expect(kept).toContain("genuine");
    expect(kept).not.toContain("j0-0");
    expect(kept).toContain("j40-249");
  }, 60_000);

  it("filters rejections by time and count", async () => {
    const store = open(await newPlace());
    const later = new Date(AT.getTime() + 60_000);
    const [a, b, c] = [idOf("a"), idOf("b"), idOf("c", later)];
    for (const one of [rejection(a), rejection(b), { ...rejection(c), receivedAt: later }])
      await store.reject(one);
    expect(await ids(store.rejections())).toEqual([a, b, c]);
    expect(await ids(store.rejections({ since: later }))).toEqual([c]);
    expect(await ids(store.rejections({ until: later, limit: 1 }))).toEqual([b]);
    expect(await ids(store.rejections({ newestFirst: true }))).toEqual([c, b, a]);
  });

  it("gives events and rejections together, a page at a time", async () => {
    const store = open(await newPlace());
    for (const id of ["a", "c", "e"]) await store.append(event(id), id === "c" ? 0 : undefined);
    for (const id of ["b", "d"]) await store.reject(rejection(id));
    const page = async (query: EventQuery = {}, before?: string) =>
      idsOf(await store.list(query, { before, limit: 3 }));
    expect(await page()).toEqual(["e", "d", "c"]);
    expect(await page({}, "c")).toEqual(["b", "a"]);
    expect(await page({ state: "rejected" })).toEqual(["d", "b"]);
    expect(await page({ state: "pending" })).toEqual(["c"]);
  });

  it("turns an accepted rejection into an event, and keeps who did it", async () => {
    const store = open(await newPlace());
    await store.reject(rejection("r"));
    expect(await store.accept(event("r"))).toMatchObject({ repeated: false, state: "pending" });
    expect(await ids(store.rejections())).toEqual([]);
    expect(await all(store.events({ state: "pending" }))).toMatchObject([{ id: "r" }]);
    expect((await store.history("r")).actions).toMatchObject([{ action: "accept", actor: "tester" }]);
  });

  it("logs what is accepted under the event that arrived meanwhile with the same bytes", async () => {
    const store = open(await newPlace());
    const late = event("r", { uti: "same" });
    await store.reject(rejection("r"));
    await store.append({ ...late, id: "arrived" });
    expect(await store.accept(late)).toMatchObject({ repeated: true, first: "arrived" });
    expect(await ids(store.rejections())).toEqual([]);
    expect((await store.history("arrived")).actions).toMatchObject([{ action: "accept", actor: "tester" }]);
    expect((await store.history("r")).actions).toEqual([]);
  });

  it("prunes in batches, which several receivers share", async () => {
    const path = await newPlace();
    const first = open(path);
    const stores = [first, open(path), open(path)];
    await appendAll(
      first,
      Array.from({ length: 1200 }, (_, index) => event(idOf(String(index)))),
    );
    let batches = 0;
    const later = new Date(AT.getTime() + 1);
    const pruned = await Promise.all(stores.map((store) => store.prune(later, async () => void batches++)));
    expect(pruned.reduce((sum, { events }) => sum + events, 0)).toBe(1200);
    expect(batches).toBeGreaterThanOrEqual(3);
    expect(await ids(open(path).events())).toEqual([]);
  });

  it("prunes events with their history, and recognises them when they arrive again", async () => {
    const store = open(await newPlace());
    const later = new Date(AT.getTime() + 1);
    const [a, b, c] = [idOf("a"), idOf("b", later), idOf("c", later)];
    await store.append(event(a), 60_000);
    await store.append({ ...event(a), id: idOf("a2") });
    await store.ended({ id: a, attempt: 1 }, forward(200));
    await store.append(event(b, {}, later));
    await store.reject(rejection(idOf("r")));
    await store.append(event(c, {}, later));
    expect(await store.countBefore(later)).toEqual({ events: 1, rejections: 1 });
    expect(await store.prune(later)).toEqual({ events: 1, rejections: 1 });
    expect(await ids(store.events())).toEqual([b, c]);
    expect(await store.history(a)).toEqual({ arrivals: [], attempts: [], actions: [] });
    const again = await store.append({ ...event(a), id: idOf("again", later) }, 60_000);
    expect(again).toMatchObject({ repeated: true, first: a, state: "delivered" });
    expect(await ids(store.events())).toEqual([b, c]);
    // Nothing would delete them.
    expect(await store.history(a)).toEqual({ arrivals: [], attempts: [], actions: [] });
  });

  it("takes the same bytes that two keys of a run have verified for one event, also in one group and after it was deleted", async () => {
    const store = open(await newPlace());
    const [own = "", next] = [verdict.key?.thumbprint, "n".repeat(43)];
    const signedBy = (thumbprint: string, name: string, id: string, keys = [own, next]) => ({
      ...event(name),
      id: idOf(id),
      verdict: { ...verdict, key: { keyid: null, number: 1, bits: 2048, thumbprint } },
      keys,
    });
    const together = ["1", "2"].map((id) => store.append(signedBy(id === "1" ? own : next, "a", id), 0));
    expect(await Promise.all(together)).toMatchObject([
      { repeated: false, first: idOf("1") },
      { repeated: true, first: idOf("1") },
    ]);
    expect(await store.append(signedBy(next, "a", "3"))).toMatchObject({ repeated: true, first: idOf("1") });
    expect(await store.append(signedBy(next, "a", "4", [next]))).toMatchObject({ repeated: false });
    // An event of its own key comes first.
    expect(await store.append(signedBy(next, "a", "5"))).toMatchObject({ repeated: true, first: idOf("4") });
    expect(await ids(store.events())).toEqual([idOf("1"), idOf("4")]);
    await store.skip({ ids: [idOf("1")] });
    await store.prune(new Date(AT.getTime() + 1));
    expect(await store.append(signedBy(own, "a", "6"))).toMatchObject({ repeated: true, first: idOf("1") });
    expect(await store.append(signedBy(next, "a", "7"))).toMatchObject({ repeated: true, first: idOf("4") });
    expect(await ids(store.events())).toEqual([]);
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
