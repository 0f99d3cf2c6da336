/** How both databases find rows in a store of many events: by indexes, in every statement of `listen` and of a look at an event. */
import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { POSTGRES, SQLITE, type Dialect, type Statements, type Value } from "../../src/events/dialects.ts";
import { createConnections } from "../../src/events/postgres/connections.ts";
import { openPostgresEventStore } from "../../src/events/postgres.ts";
import { statementsOf, openEventDatabase } from "../../src/events/sqlite-database.ts";
import { createEventStore } from "../../src/events/store.ts";
import { createGroupWriter } from "../../src/events/write-group.ts";
import type { EventStore } from "../../src/receiver/event-store.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import { all as allOf, AT, event, forward, wanted } from "../support/stored-events.ts";

const MANY = 100_000;
const FORMER_TABLES = readFileSync(new URL("0.2.0/events-postgres.sql", import.meta.url), "utf8");
/** Later than few events. */
const OLD = new Date(AT.getTime() + 5);

/**
 * Many events with their history: every second one is in the queue, those of one reference first; of these, four of five
 * have failed. `numbers` is a table of 1 to MANY.
 */
const history = ({ schema, types }: Dialect, numbers: string): readonly string[] => [
  `INSERT INTO ${schema}events (id, uti, digest, received_at, outcome, reference, code, warnings, details,
     method, scheme, authority, target, headers, trailers, body)
   SELECT 'id' || n, 'uti' || n, CAST('digest' AS ${types.bytes}), ${AT.getTime()} + n, CASE n % 4 WHEN 1 THEN 'DECLINED' ELSE 'APPROVED' END, 'INV-' || n, 'ok', '',
     '{}', 'POST', 'http', 'localhost', '/', '[]', '[]', CAST('{}' AS ${types.bytes}) FROM ${numbers}`,
  `INSERT INTO ${schema}arrivals (event, id, received_at) SELECT 'id' || n, 'again', 1 FROM ${numbers}`,
  `INSERT INTO ${schema}forwards (event, at, target, status, ms, detail)
   SELECT 'id' || n, 1, 'http://localhost/', CASE n % 2 WHEN 0 THEN 500 ELSE 200 END, 1, '' FROM ${numbers}`,
  `INSERT INTO ${schema}queued (event, reference, outcome, received_at)
   SELECT 'id' || n, CASE WHEN n > ${MANY / 4} THEN 'INV-' || n ELSE 'INV-1' END, 'APPROVED', 1 FROM ${numbers} WHERE n > 10 AND n % 2 = 0`,
  `UPDATE ${schema}queued SET attempts = 9, due = NULL WHERE seq % 5 > 0`,
  `INSERT INTO ${schema}rejections (id, received_at, code, status, detail, checks)
   SELECT 'id' || n, ${AT.getTime()} + n, 'signature_invalid', 401, '', '[]' FROM ${numbers} WHERE n BETWEEN 10 AND 1000`,
  `INSERT INTO ${schema}turns (reference, due, seq, outcome)
   SELECT reference, min(due), min(seq), 'APPROVED' FROM ${schema}queued WHERE due IS NOT NULL GROUP BY reference ON CONFLICT DO NOTHING`,
];

/** Everything that `listen` does with an event, and what shows one. Resolves with the statements and their plans. */
async function plansOf(dialect: Dialect, run: Statements, explain: (sql: string) => string) {
  const plans = new Map<string, string>();
  const note = async (sql: string, values?: readonly Value[]): Promise<void> => {
    const rows = await run.all(explain(sql), values);
    plans.set(sql, rows.map((row) => String(row["QUERY PLAN"] ?? row["detail"])).join("\n"));
  };
  const statements: Statements = {
    all: async (sql, values) => (await note(sql, values), run.all(sql, values)),
    change: async (sql, values) => (await note(sql, values), run.change(sql, values)),
  };
  const store = createEventStore(
    {
      dialect,
      place: "many",
      open: () => ({ ...statements, close: () => undefined }),
      write: createGroupWriter({ dialect, transaction: (work) => work(statements), isOfOne: () => false }),
      ready: async () => undefined,
      shrink: async () => undefined,
      close: async () => undefined,
      damaged: (reason) => {
        throw new Error(reason);
      },
    },
    { owner: "own", now: () => new Date() },
  );
  await store.append(event("new"), "queue");
  await store.append({ ...event("new"), id: "again" }, "queue");
  await store.append(event("claimed"), new Date());
  await store.lookUp("claimed", AT);
  await store.forwarded("claimed", forward(200));
  const { events } = await store.queue.claim(wanted({ limit: 8, held: ["id1"], back: ["id1"] }));
  expect(events).toHaveLength(8);
  for (const one of events.slice(0, 2)) await store.queue.attempted(one, forward(500), 1000);
  for (const prefix of ["uti123", "id123"]) await store.find(prefix);
  await store.arrivals("new");
  await store.forwards("new");
  return { store, plans };
}

/** Without statistics, a server may read a table of this size as a whole for these. */
async function planFilterAndPrune(store: EventStore): Promise<void> {
  await store.queue.claim(wanted({ limit: 1, bytes: 1, delays: [1000] }));
  await allOf(store.events({ limit: 20 }));
  await allOf(store.events({ limit: 20, newestFirst: true }));
  await allOf(store.events({ limit: 20, outcome: "APPROVED", reference: "INV-1" }));
  for (const newestFirst of [true, false]) {
    const few = { limit: 20, newestFirst };
    await allOf(store.events({ ...few, pending: true }));
    await allOf(store.events({ ...few, failed: true }));
    await allOf(store.events({ ...few, outcome: "DECLINED" }));
    await allOf(store.events({ ...few, reference: "no such" }));
    await allOf(store.events({ ...few, since: OLD, until: new Date(OLD.getTime() + 5) }));
    expect(await allOf(store.rejections(few))).toHaveLength(20);
  }
  expect(await store.prune(OLD)).toEqual({ events: 5, rejections: 0 });
}

/** The plan reads a table of events or of their history from its beginning to its end. Rejections are few: the oldest are deleted. */
const READS_ALL =
  /(?:Seq Scan on|SCAN) (?:events|arrivals|forwards|queued|turns)\b(?! USING (?:COVERING )?INDEX)/;

function expectIndexes(plans: ReadonlyMap<string, string>): void {
  expect(plans.size).toBeGreaterThan(15);
  for (const [sql, plan] of plans) expect.soft(plan, sql).not.toMatch(READS_ALL);
}

describe("the statements on many events", () => {
  it("use indexes in SQLite", async () => {
    const database = openEventDatabase(eventsPath(temporaryHome()));
    onTestFinished(() => database.close());
    const numbers = `(WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${MANY})
      SELECT n FROM counted)`;
    for (const sql of history(SQLITE, numbers)) database.exec(sql);
    const explain = (sql: string) => `EXPLAIN QUERY PLAN ${sql}`;
    const { store, plans } = await plansOf(SQLITE, statementsOf(database), explain);
    await planFilterAndPrune(store);
    expectIndexes(plans);
  });

  const server = usePostgres();
  it.each([
    ["with statistics", true],
    ["without statistics, in tables of 0.2.0", false],
  ])("use indexes in PostgreSQL, %s", async (_, hasStatistics) => {
    const url = await server().createDatabase();
    if (!hasStatistics) await server().query(FORMER_TABLES, new URL(url).pathname.slice(1));
    const made = openPostgresEventStore(url, { env: {}, owner: "own", now: () => new Date() });
    await made.ready();
    await made.close();
    const connections = createConnections(url, {}, 10_000);
    onTestFinished(() => connections.close());
    await connections.use(async (connection) => {
      for (const sql of history(POSTGRES, `generate_series(1, ${MANY}) AS numbers (n)`))
        await connection.change(sql);
      if (hasStatistics) await connection.change("ANALYZE");
      const { store, plans } = await plansOf(POSTGRES, connection, (sql) => `EXPLAIN ${sql}`);
      if (hasStatistics) await planFilterAndPrune(store);
      expectIndexes(plans);
    }, 60_000);
  });
});
