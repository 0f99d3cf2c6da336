/** PostgreSQL as event store when it fails: nothing acknowledged is lost, nothing is stored twice, and it recovers. */
import { createServer, connect, type Socket } from "node:net";
import pg from "pg";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { PaylinkError } from "../../src/domain/errors.ts";
import { openPostgresEventStore, TIME_LIMITS } from "../../src/store/postgres.ts";
import { appendAll, openPostgres } from "../support/event-stores.ts";
import { useOwnPostgres } from "../support/postgres.ts";
import { event, forward, ids, sealWithId, wanted } from "../support/stored-events.ts";
import { listenOnFreePort } from "../support/ports.ts";

const server = useOwnPostgres();

/** A session of its own, as another program has. */
async function session(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  onTestFinished(() => void client.end().catch(() => undefined));
  return client;
}

const rows = async (url: string, sql: string): Promise<Record<string, unknown>[]> =>
  (await (await session(url)).query<Record<string, unknown>>(sql)).rows;

it("finds events by its indexes while it has no statistics, and reads no table as a whole", async () => {
  const url = await server().createDatabase();
  const store = openPostgres(url);
  await appendAll(
    store,
    Array.from({ length: 2000 }, (_, number) => event(`${number}`, { reference: `ORDER-${number}` })),
  );
  const read = async () =>
    await rows(
      url,
      "SELECT n_tup_ins AS inserted, seq_tup_read AS scanned FROM pg_stat_user_tables WHERE relname = 'events'",
    );
  // A session that ends has told all that it did.
  await store.close();
  await expect.poll(read).toEqual([{ inserted: "2000", scanned: "0" }]);
});

describe("several receivers", () => {
  it("do not deadlock when they store the same events in different orders", async () => {
    const url = await server().createDatabase();
    const stores = [openPostgres(url), openPostgres(url), openPostgres(url)];
    await stores[0]?.ready();
    for (let round = 0; round < 5; round++) {
      const events = Array.from({ length: 100 }, (_, number) => event(`${round}-${number}`));
      const results = await Promise.all(
        stores.flatMap((store, index) =>
          (index % 2 === 0 ? events : events.toReversed()).map((one) =>
            store.append({ ...one, id: `${one.id}-${index}` }, 60_000),
          ),
        ),
      );
      expect(results.filter(({ repeated }) => !repeated)).toHaveLength(100);
    }
    const [{ deadlocks } = {}] = await rows(
      url,
      "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
    );
    expect(deadlocks).toBe("0");
  });

  it("read an event that is committed after events that were inserted later", async () => {
    const url = await server().createDatabase();
    const store = openPostgres(url);
    await store.append(event("template"));
    const late = await session(url);
    const [row = {}] = await rows(url, "SELECT * FROM paylink.events");
    await late.query("BEGIN");
    await late.query(
      `INSERT INTO paylink.events (id, uti, received_at, outcome, reference, key, path, currency, card, amount, payment, verdict, head, digest, body, seal)
       SELECT 'late', uti, received_at, outcome, reference, key, path, currency, card, amount, payment, verdict, head, 'late', body, $1
       FROM paylink.events`,
      [sealWithId(row, "late")],
    );
    await store.append(event("z"));
    expect(await ids(store.events())).toEqual(["template", "z"]);
    await late.query("COMMIT");
    expect(await ids(store.events())).toEqual(["late", "template", "z"]);
  });

  it("recognise an event that another one deletes at the same moment", async () => {
    const url = await server().createDatabase();
    const store = openPostgres(url);
    await store.append(event("a"), 60_000);
    await store.ended({ id: "a", attempt: 1 }, forward(200));
    const other = await session(url);
    await other.query("BEGIN");
    await other.query(
      `WITH deleted AS (DELETE FROM paylink.events RETURNING digest, id)
       INSERT INTO paylink.digests (digest, event) SELECT digest, id FROM deleted`,
    );
    const again = store.append({ ...event("a"), id: "again" }, 60_000);
    await vi.waitFor(async () =>
      expect(await rows(url, "SELECT FROM pg_locks WHERE NOT granted")).toHaveLength(1),
    );
    await other.query("COMMIT");
    expect(await again).toMatchObject({ repeated: true, first: "a", state: "delivered" });
    expect(await ids(store.events())).toEqual([]);
    expect(await store.claim(wanted())).toEqual([]);
  });

  it("create the tables once when all of them start at the same time", async () => {
    const url = await server().createDatabase();
    await Promise.all(Array.from({ length: 8 }, () => openPostgres(url).ready()));
    expect(await rows(url, "SELECT FROM paylink.facts WHERE name = 'schema'")).toHaveLength(1);
  });
});

describe("a commit", () => {
  it("waits for the disk, whatever the server's default is", async () => {
    const url = await server().createDatabase();
    const name = new URL(url).pathname.slice(1);
    await server().query(`ALTER DATABASE ${name} SET synchronous_commit = off`);
    const store = openPostgres(url);
    await store.ready();
    await rows(
      url,
      `CREATE TABLE seen (value text);
       CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$;
       CREATE TRIGGER see AFTER INSERT ON paylink.events EXECUTE FUNCTION see()`,
    );
    await store.append(event("a"));
    expect(await rows(url, "SELECT value FROM seen")).toEqual([{ value: "on" }]);
  });

  it("whose answer is lost is not acknowledged, and the next delivery finds the event", async () => {
    const url = await server().createDatabase();
    const proxy = await passage(server().port);
    const store = openPostgres(url.replace(/:\d+\//, `:${proxy.port}/`));
    await store.ready();
    proxy.cutAfter("COMMIT\0");
    await expect(store.append(event("a"))).rejects.toMatchObject({ code: "database_unreachable" });
    const again = await store.append({ ...event("a"), id: "a2" });
    expect(again).toMatchObject({ repeated: true, first: "a" });
    expect(await ids(store.events())).toEqual(["a"]);
  });

  it("stores the other events if one cannot be stored", async () => {
    const url = await server().createDatabase();
    const store = openPostgres(url);
    await store.ready();
    await rows(url, "ALTER TABLE paylink.events ADD CHECK (id <> 'bad')");
    const results = await Promise.allSettled(["a", "bad", "b", "c"].map((id) => store.append(event(id))));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect(await ids(store.events())).toEqual(["a", "b", "c"]);
  });
});

describe("a server that is away", () => {
  const code = (id: string, store: ReturnType<typeof openPostgres>): Promise<string> =>
    store.append(event(id)).then(
      () => "stored",
      (error: unknown) => String((error as { code?: unknown }).code),
    );

  it("is used again once it is back", async () => {
    const store = openPostgres(await server().createDatabase());
    expect(await code("a", store)).toBe("stored");
    await server().stop("SIGKILL");
    expect(await code("b", store)).toBe("database_unreachable");
    expect(await code("c", store)).toBe("database_unreachable");
    await server().start();
    expect(await code("d", store)).toBe("stored");
    expect(await ids(store.events())).toEqual(["a", "d"]);
  });

  it("is used again after it has ended every session (57P01)", async () => {
    const url = await server().createDatabase();
    const store = openPostgres(url);
    await store.append(event("a"));
    await server().query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'paylink'",
    );
    await expect.poll(() => code("b", store)).toBe("stored");
  });

  it.each([
    [
      "read-only, as a standby (25006)",
      "SET default_transaction_read_only = on",
      "RESET default_transaction_read_only",
    ],
    ["out of connections (53300)", "CONNECTION LIMIT 0", "CONNECTION LIMIT -1"],
  ])("stores nothing while it is %s, and stores again afterwards", async (_, change, back) => {
    const url = await server().createDatabase();
    const name = new URL(url).pathname.slice(1);
    await openPostgres(url).ready();
    await server().query(
      "DO $$ BEGIN CREATE ROLE receiver LOGIN; EXCEPTION WHEN duplicate_object THEN END $$",
    );
    for (const right of ["USAGE ON SCHEMA paylink", "ALL ON ALL TABLES IN SCHEMA paylink"])
      await rows(url, `GRANT ${right} TO receiver`);
    await server().query(`ALTER DATABASE ${name} ${change}`);
    const store = openPostgres(url.replace("paylink@", "receiver@"));
    expect(await code("a", store)).toBe("database_unreachable");
    await expect(store.ready()).rejects.toMatchObject({ code: "database_unreachable" });
    await server().query(`ALTER DATABASE ${name} ${back}`);
    // Settings of a database hold for new sessions: the store opens one after a failure.
    expect(await code("b", store)).toBe("stored");
    expect(await ids(store.events())).toEqual(["b"]);
  });

  it("stores nothing on a full disk (53100), and stores again afterwards", async () => {
    const url = await server().createDatabase();
    const store = openPostgres(url);
    await store.ready();
    await rows(
      url,
      `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
       CREATE TRIGGER full_disk BEFORE INSERT ON paylink.events EXECUTE FUNCTION full_disk()`,
    );
    const results = await Promise.all(["a", "b"].map((id) => code(id, store)));
    expect(results).toEqual(["database_unreachable", "database_unreachable"]);
    await rows(url, "DROP TRIGGER full_disk ON paylink.events");
    expect(await code("a", store)).toBe("stored");
  });

  it.each([
    ["an empty database", async () => server().createDatabase(), /does not exist/],
    [
      "another store",
      async () => {
        const url = await server().createDatabase();
        await openPostgres(url).append(event("other"));
        return url;
      },
      /is not the store that was used before/,
    ],
  ])(
    "stores nothing after a failover to %s, also on the same connection of a pool",
    async (_, other, reason) => {
      const url = await server().createDatabase();
      const store = openPostgres(url);
      await store.append(event("a"));
      const name = new URL(url).pathname.slice(1);
      const otherUrl = await other();
      const rename = (from: string, to: string) => server().query(`ALTER DATABASE ${from} RENAME TO ${to}`);
      await server().query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname LIKE 'test_%'",
      );
      await rename(name, "former");
      await rename(new URL(otherUrl).pathname.slice(1), name);
      for (const attempt of ["b", "c"]) expect(await code(attempt, store)).toBe("database_unusable");
      await expect(store.ready()).rejects.toThrow(reason);
      const tables = await rows(url, "SELECT FROM pg_tables WHERE schemaname = 'paylink'");
      expect(tables.length === 0).toBe(reason.source.includes("exist"));
      await server().query(`DROP DATABASE ${name} WITH (FORCE)`);
      await rename("former", name);
      expect(await code("d", store)).toBe("stored");
      expect(await ids(store.events())).toEqual(["a", "d"]);
    },
  );

  it("that hangs is abandoned in time, and used again when it responds", async () => {
    const store = openPostgres(await server().createDatabase());
    await store.append(event("a"));
    const resume = await server().suspend();
    // The server answers nothing until it is resumed: the limit of time ends them.
    const [hung] = await Promise.all([code("b", store), code("c", store)]);
    resume();
    expect(hung).toBe("database_unreachable");
    expect(await code("d", store)).toBe("stored");
    expect(await code("b", store)).toBe("stored");
    expect(await ids(store.events({ reference: "INV-1" }))).toContain("d");
  });

  it("waits for another program no longer than for the disk", async () => {
    const url = await server().createDatabase();
    const store = openPostgres(url);
    await store.append(event("a"));
    const other = await session(url);
    await other.query("BEGIN; LOCK TABLE paylink.events");
    expect(await code("b", store)).toBe("database_unreachable");
    await other.query("ROLLBACK");
    expect(await code("b", store)).toBe("stored");
  });

  it("stops working for a reader that has given up", async () => {
    const url = await server().createDatabase();
    await openPostgres(url).append(event("a"));
    const store = openPostgresEventStore(url, {
      env: {},
      user: "tester",
      create: false,
      upgrade: false,
      times: { read: 1_000 },
    });
    onTestFinished(() => store.close());
    const count = () => store.count({}, 1).catch(codeOf);
    // On a busy machine, a second may be too short for an answer.
    await expect.poll(count).toBe(1);
    const [other, observer] = [await session(url), await session(url)];
    await other.query("BEGIN; LOCK TABLE paylink.events");
    expect(await count()).toBe("database_unreachable");
    const atWork = async (): Promise<unknown[]> => {
      // Other tests are at work in databases of their own.
      const sql = `SELECT query FROM pg_stat_activity
        WHERE application_name = 'paylink' AND state <> 'idle' AND datname = current_database()`;
      // Within the other's transaction, PostgreSQL would show the sessions of the first look again and again.
      return (await observer.query(sql)).rows;
    };
    // The lock is held: without a limit on the server, the statement would stay.
    await expect.poll(atWork).toEqual([]);
    await other.query("ROLLBACK");
    await expect.poll(count).toBe(1);
  });

  it("whose network drops everything makes no webhook wait, loses none, and is used again", async () => {
    // The sandbox waits 10 s.
    expect(TIME_LIMITS.append).toBeLessThan(8_000);
    const url = await server().createDatabase();
    const way = await passage(server().port);
    const store = openPostgresEventStore(url.replace(/:\d+\//, `:${way.port}/`), {
      env: {},
      user: "tester",
      create: true,
      upgrade: true,
      times: { connect: 1_000, read: HOUR, group: 3_000, append: 2_000 },
    });
    for (const id of ["a", "b", "c"]) await expect.poll(() => code(id, store)).toBe("stored");
    way.set(false);
    const reading = store.count({}, 1).catch(codeOf);
    expect(await Promise.all(["d", "e", "f"].map((id) => code(id, store)))).toEqual(
      Array.from({ length: 3 }, () => "database_unreachable"),
    );
    way.set(true);
    await expect.poll(() => code("g", store), { timeout: 30_000 }).toBe("stored");
    expect(await ids(openPostgres(url).events())).toEqual(expect.arrayContaining(["a", "b", "c", "g"]));
    // What reads is cut off at the end, however long it may take.
    way.set(false);
    const later = store.count({}, 1).catch(codeOf);
    await store.close();
    expect(await Promise.all([reading, later])).toEqual(["database_unreachable", "database_unreachable"]);
  });
});

const HOUR = 3_600_000;
const codeOf = (error: unknown): unknown => error instanceof PaylinkError && error.code;

/**
 * A way to the server that can lose everything, as a firewall that drops packets does, or break once, after it has passed on a
 * statement and before the answer.
 */
async function passage(to: number) {
  let isOpen = true;
  let last: string | undefined;
  const sockets = new Set<Socket>();
  const between = createServer((client) => {
    const upstream = connect(to, "127.0.0.1");
    let isCut = false;
    client.on("data", (chunk) => {
      if (last !== undefined && chunk.includes(last)) [isCut, last] = [true, undefined];
      if (isOpen) upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (isCut) client.destroy();
      else if (isOpen) client.write(chunk);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    }
  });
  const port = await listenOnFreePort(between);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return {
    port,
    set: (open: boolean) => void (isOpen = open),
    cutAfter: (statement: string) => void (last = statement),
  };
}
