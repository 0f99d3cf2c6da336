/** How both databases find rows in a store of many events: by indexes, in every statement of `listen` and of a look at an event. */
import { describe, expect, it, onTestFinished } from "vitest";
import { type All, type Dialect, POSTGRES, SQLITE } from "../../src/store/dialects.ts";
import { createConnections } from "../../src/store/postgres/connections.ts";
import { openPostgresEventStore } from "../../src/store/postgres.ts";
import { sealOf } from "../../src/store/seal.ts";
import { raw } from "../../src/store/sql.ts";
import { openEventDatabase, statementsOf } from "../../src/store/sqlite/event-file.ts";
import { createEventStore, type EventStore } from "../../src/store/event-store.ts";
import { createGroupWriter } from "../../src/store/write-group.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { temporaryHome } from "../support/home.ts";
import { usePostgres } from "../support/postgres.ts";
import {
  all as allOf,
  AT,
  event,
  forward,
  genuine,
  idOf,
  KEYS,
  verdict,
  wanted,
} from "../support/stored-events.ts";

const MANY = 20_000;
const OTHER = "x".repeat(43);
/** Later than few events. */
const OLD = new Date(AT.getTime() + 5);

/** Later than every id of this test: what a page asks of the finished ones. */
const LATEST = new Date(36 ** 8 - 1);

/** Many events with their history: most are delivered, some have failed or wait. `numbers` is a table of 1 to MANY. */
const history = ({ schema: { text: schema }, types }: Dialect, numbers: string): readonly string[] => [
  `INSERT INTO ${schema}events (id, uti, received_at, outcome, reference, key, path, currency, amount, card, payment, verdict, head, digest, body, seal)
   SELECT 'zz' || (100000 + n), 'uti' || n, ${AT.getTime()} + n, CASE n % 4 WHEN 1 THEN 'DECLINED' ELSE 'APPROVED' END,
     'INV-' || n, '${KEYS[0]}', '/', 'EUR', n, CAST(1000 + n % 1000 AS text),
     CASE n % 4 WHEN 1 THEN 'DECLINED' ELSE 'APPROVED' END || ' EUR ' || n, '${JSON.stringify(verdict)}', '${JSON.stringify({ ...genuine, body: undefined })}', 'digest' || n, CAST('{}' AS ${types.bytes}), '' FROM ${numbers}`,
  `INSERT INTO ${schema}digests (digest, event) SELECT 'deleted' || n, 'deleted' FROM ${numbers}`,
  `INSERT INTO ${schema}arrivals (event, id, received_at) SELECT 'zz' || (100000 + n), 'again', 1 FROM ${numbers}`,
  `INSERT INTO ${schema}attempts (event, at, target, status, ms, detail, replay)
   SELECT 'zz' || (100000 + n), 1, 'http://localhost/', 200, 1, '', 0 FROM ${numbers}`,
  `INSERT INTO ${schema}actions (event, at, action, actor) SELECT 'zz' || (100000 + n), 1, 'retry', '' FROM ${numbers}`,
  `INSERT INTO ${schema}deliveries (event, outcome, key, state, due, attempts)
   SELECT 'zz' || (100000 + n), 'APPROVED', '${KEYS[0]}',
     CASE WHEN n % 100 = 1 THEN 'failed' WHEN n % 100 = 2 THEN 'pending' ELSE 'delivered' END,
     CASE WHEN n % 100 = 2 THEN n END, 1 FROM ${numbers}`,
];

/** Everything that `listen` does with an event, and what shows one. Resolves with the statements and their plans. */
async function plansOf(
  dialect: Dialect,
  run: All,
  explain: (sql: string) => string,
  hasStatistics = true,
): Promise<ReadonlyMap<string, string>> {
  const plans = new Map<string, string>();
  const all: All = async ({ text, values }) => {
    const rows = await run({ text: explain(text), values });
    plans.set(text, rows.map((row) => String(row["QUERY PLAN"] ?? row["detail"])).join("\n"));
    // The history has no seals.
    return (await run({ text, values })).map((row) =>
      row["seal"] === "" ? { ...row, seal: sealOf(row) } : row,
    );
  };
  const store: EventStore = createEventStore(
    {
      dialect,
      place: "many",
      all,
      write: createGroupWriter({
        transact: (work) => work({ dialect, all, now: AT.getTime() + MANY }),
        isOfOne: () => false,
      }),
      ready: async () => undefined,
      hurry: () => undefined,
      close: async () => undefined,
    },
    "tester",
  );
  const id = idOf("new");
  await store.append(event(id), 0);
  await store.append({ ...event(id), id: idOf("again") }, 60_000);
  await store.ended({ id, attempt: 1 }, forward(200));
  await store.replayed(id, forward(200), true);
  const claimed = await store.claim(wanted({ limit: 8 }));
  expect(claimed).toHaveLength(8);
  await store.release(claimed.slice(0, 1));
  await store.skip({ ids: [idOf("new")] });
  await store.history(idOf("new"));
  await store.lastAttempts([idOf("new")]);
  await store.find(idOf("new"));
  await allOf(store.events({ until: OLD, limit: 20 }));
  // Without statistics, a server may read a table of this size as a whole for these.
  if (!hasStatistics) return plans;
  expect(await store.prune(OLD)).toMatchObject({ rejections: 0 });
  await store.backlog();
  for (const state of ["failed", "pending", "skipped", "delivered", "rejected", undefined] as const) {
    await store.list({ state }, { limit: 20 });
    expect((await store.list({ state }, { before: "zz119000", limit: 20 })).length).toBe(
      state === "skipped" || state === "rejected" ? 0 : 20,
    );
    // Of a table of this size, a server reads nearly all rows as a whole.
    if (state !== "delivered") await store.totals({ state }, [...KEYS, OTHER]);
  }
  const sought = { text: "10", amount: 100_000, currency: "EUR", card: "1010", status: 500 };
  expect(
    await store.list({ sought, outcome: "APPROVED", path: "/", keys: KEYS }, { limit: 20 }),
  ).toHaveLength(20);
  await store.totals({ sought, state: "failed", since: AT });
  await store.paths(20);
  await store.bars(24, 3_600_000, LATEST, KEYS);
  const next = await store.waiting(20);
  expect(next.map(({ id }) => id)).toEqual(
    Array.from({ length: 20 }, (_, number) => `zz${100_802 + number * 100}`),
  );
  for (const state of ["failed", "pending"] as const) await store.count({ state }, 1_000);
  await store.stats(LATEST, LATEST);
  return plans;
}

/** The plan reads a table of events or of their history from its beginning to its end. Rejections are few: the oldest are deleted. */
const READS_ALL =
  /(?:Seq Scan on|SCAN) (?:events|older|newer|arrivals|attempts|digests|deliveries|actions)\b(?! USING (?:COVERING )?INDEX)/;

function expectIndexes(plans: ReadonlyMap<string, string>): void {
  expect(plans.size).toBeGreaterThan(15);
  for (const [sql, plan] of plans) expect.soft(plan, sql).not.toMatch(READS_ALL);
  // What counts without a limit reads the index alone.
  for (const [sql, plan] of plans)
    if (sql.includes("state = 'failed' GROUP BY key"))
      expect.soft(plan, sql).toMatch(/(?:COVERING INDEX|Index Only Scan using) deliveries_left/);
}

describe("the statements on many events", () => {
  it("use indexes in SQLite", async () => {
    const database = openEventDatabase(eventsPath(temporaryHome()));
    onTestFinished(() => database.close());
    const numbers = `(WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ${MANY})
      SELECT n FROM counted)`;
    for (const sql of history(SQLITE, numbers)) database.exec(sql);
    expectIndexes(await plansOf(SQLITE, statementsOf(database), (sql) => `EXPLAIN QUERY PLAN ${sql}`));
  });

  const server = usePostgres();
  it.each([
    ["with statistics", true],
    ["without statistics", false],
  ])("use indexes in PostgreSQL, %s", async (_, hasStatistics) => {
    const url = await server().createDatabase();
    const made = openPostgresEventStore(url, { env: {}, user: "tester", create: true, upgrade: true });
    await made.ready();
    await made.close();
    const connections = createConnections(url, {}, 10_000);
    onTestFinished(() => connections.close());
    await connections.use(async (all) => {
      for (const statement of history(POSTGRES, `generate_series(1, ${MANY}) AS numbers (n)`))
        await all(raw(statement));
      if (hasStatistics) await all(raw("VACUUM ANALYZE"));
      expectIndexes(await plansOf(POSTGRES, all, (sql) => `EXPLAIN ${sql}`, hasStatistics));
    }, 60_000);
  });
});
