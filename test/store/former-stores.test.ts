/** Event stores that paylink 0.2.0 wrote: opened, they are migrated in place, and everything in them is as it was. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, it } from "vitest";
import type { HttpRequest } from "../../src/http/message.ts";
import type { EventStore } from "../../src/receiver/event-store.ts";
import type { Verdict } from "../../src/signatures/verdict.ts";
import { verify } from "../../src/signatures/verify.ts";
import { openEventDatabase } from "../../src/events/sqlite-database.ts";
import { openDatabase } from "../../src/store/database.ts";
import { eventsPath } from "../../src/store/folders.ts";
import { startListenCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { openPostgres, openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
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
  wanted,
} from "../support/stored-events.ts";
import { webhookOptions } from "../support/vectors.ts";
import { startApp } from "../support/webhooks.ts";

const NAMES = ["genuine", "forged", "accepted", "claimed", "failed", "retried", "waits", "waits too"];

const formerTables = (name: string): string =>
  readFileSync(new URL(`0.2.0/events-${name}.sql`, import.meta.url), "utf8");

const approved = (uti: string, changes = {}) => ({
  uti,
  transApproved: true,
  transCancelled: false,
  status: "Complete",
  ...changes,
});

/** Bodies that 0.2.0 took for APPROVED by their flags, and what they are. */
const JUDGED_AGAIN: readonly [id: string, body: unknown, outcome: string][] = [
  ["accepted", { records: [1, { data: approved("uti-accepted") }] }, "APPROVED"],
  ["claimed", { data: approved("uti-claimed", { status: "Pending" }) }, "UNCLEAR"],
  ["failed", ["no record"], "UNCLEAR"],
  ["retried", approved("uti-retried", { status: "Reversed" }), "UNCLEAR"],
  ["waits", approved("uti-waits", { transPartiallyApproved: true }), "PARTIALLY_APPROVED"],
];

/** The statements that give the stored events these bodies; `bytes` writes hexadecimal digits as a value. */
const withBodies = (schema: string, bytes: (hex: string) => string): string =>
  JUDGED_AGAIN.map(
    ([id, body]) =>
      `UPDATE ${schema}events SET body = ${bytes(Buffer.from(JSON.stringify(body)).toString("hex"))} WHERE id = '${id}';`,
  ).join("\n");

const inSqlite = withBodies("", (hex) => `X'${hex}'`);

/** Two migrations made these tables. */
function writeFormerStore(home: string, changes = ""): string {
  const path = eventsPath(home);
  openDatabase(path, [formerTables("sqlite"), changes], { pageSize: 8192 }).close();
  return path;
}

describe("an event store of 0.2.0 in SQLite", () => {
  it("gives space back singly, once it was written anew", async () => {
    const path = writeFormerStore(temporaryHome());
    const former = openDatabase(path, [formerTables("sqlite"), ""]);
    former.exec("PRAGMA auto_vacuum=NONE; VACUUM");
    former.close();
    const store = openSqlite(path);
    await store.ready();
    const kind = () => openEventDatabase(path).prepare("PRAGMA auto_vacuum").get();
    expect(kind()).toEqual({ auto_vacuum: 0 });
    await store.shrink();
    expect(kind()).toEqual({ auto_vacuum: 2 });
    expect(await ids(store.events())).toEqual(NAMES);
  });

  readsFormerStore(async () => openSqlite(writeFormerStore(temporaryHome())));
  judgesAgain(async () => openSqlite(writeFormerStore(temporaryHome(), inSqlite)));

  it("sends no part of a payment to the target of approved ones", async () => {
    const home = temporaryHome();
    writeFormerStore(join(home, "data"), inSqlite);
    const app = await startApp(() => 200);
    const to = `approved=${app.url}`;
    const { exit } = await runCommand(["events", "replay", "uti-waits", "uti-retried", "--to", to], { home });
    expect({ exit, taken: app.taken }).toEqual({ exit: 0, taken: [] });
    const flags = ["--ack", "stored", "--no-verify", "--retry", "none", "-f", to];
    const listen = await startListenCommand(home, ...flags);
    await expect.poll(() => app.taken.length, { timeout: 10_000 }).toBe(1);
    const { stdout } = await listen.stop();
    expect(app.taken[0]?.body.toString()).toContain("uti-waits too");
    expect(stdout).toContain("names no target for PARTIALLY_APPROVED");
  });
});

describe("an event store of 0.2.0 in PostgreSQL", () => {
  const server = usePostgres();
  const open = async (changes = ""): Promise<EventStore> => {
    const url = await server().createDatabase();
    await server().query(formerTables("postgres") + changes, new URL(url).pathname.slice(1));
    return openPostgres(url);
  };
  readsFormerStore(() => open());
  judgesAgain(() => open(withBodies("paylink.", (hex) => `'\\x${hex}'::bytea`)));

  it("builds an index again whose building was cut off", async () => {
    const store = await open(
      `CREATE INDEX forwards_of ON paylink.forwards (event COLLATE "C", status);
       UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = 'paylink.forwards_of'::regclass;`,
    );
    await store.ready();
    const database = decodeURIComponent(new URL(store.place).pathname.slice(1));
    const found = await server().query("SELECT FROM pg_index WHERE NOT indisvalid", database);
    expect(found).toEqual([]);
  });

  it("waits for its update while a backup reads the tables, and delays no receiver of 0.2.0", async () => {
    const store = await open();
    const other = new pg.Client({ connectionString: store.place });
    const former = new pg.Client({ connectionString: store.place });
    await Promise.all([other.connect(), former.connect()]);
    await other.query("BEGIN; LOCK TABLE paylink.forwards IN ACCESS SHARE MODE");
    const ready = store.ready();
    const write = "SET statement_timeout = '5s'; UPDATE paylink.forwards SET ms = ms";
    for (let round = 0; round < 5; round++) await former.query(write);
    await expect(ready).rejects.toMatchObject({ code: "database_unreachable" });
    await other.query("COMMIT");
    await store.ready();
    await Promise.all([other.end(), former.end()]);
  });
});

/** The verdict of the time of arrival, of a signature of any age. */
const verdictThen = (request: HttpRequest): Verdict => {
  const options = webhookOptions(vector);
  const policy = { ...options.policy, maxAge: Infinity };
  return verify(request, { ...options, policy, now: Math.floor(AT.getTime() / 1000) });
};

function judgesAgain(open: () => Promise<EventStore>): void {
  it("judges each event by its record again, also inside an envelope", async () => {
    const store = await open();
    const outcomes = Object.fromEntries((await all(store.events())).map(({ id, outcome }) => [id, outcome]));
    expect(outcomes).toMatchObject({
      genuine: "APPROVED",
      ...Object.fromEntries(JUDGED_AGAIN.map(([id, , outcome]) => [id, outcome])),
    });
    expect(await ids(store.events({ outcome: "PARTIALLY_APPROVED" }))).toEqual(["waits"]);
  });
}

function readsFormerStore(open: () => Promise<EventStore>): void {
  it("keeps the events, their verdicts, and what happened to each", async () => {
    const store = await open();
    expect(await ids(store.events())).toEqual(NAMES);
    const [whole, forged, accepted] = await all(store.events());
    const trailers = [["X", "y"]];
    expect(whole).toMatchObject({ uti: "uti-genuine", receivedAt: AT, outcome: "APPROVED" });
    expect(whole?.verdict).toEqual(verdictThen(genuine));
    expect({ ...whole?.request, body: Buffer.from(whole?.request.body ?? []) }).toEqual({
      ...genuine,
      trailers,
      body: Buffer.from(genuine.body),
    });
    expect(forged?.verdict).toEqual(verdictThen({ ...genuine, body: Buffer.from("{}") }));
    expect(forged?.verdict.code).toBe("content_digest_mismatch");
    expect(accepted).toMatchObject({ accepted: true, repeats: 1, queued: null });
    expect(await store.arrivals("accepted")).toEqual([{ id: "accepted again", receivedAt: AT }]);
    expect(await store.forwards("accepted")).toEqual([forward(200)]);
    const { request: stored, ...rejected } = rejection("rejected");
    expect(await all(store.rejections())).toMatchObject([rejected, { id: "not http", request: null }]);
    const [first] = await all(store.rejections());
    expect(Buffer.from(first?.request?.body ?? [])).toEqual(Buffer.from(stored?.body ?? []));
  });

  it("knows a repeated delivery again, and who has claimed it", async () => {
    const store = await open();
    const again = (id: string) => store.append({ ...event(id), id: `${id} later` });
    expect(await again("accepted")).toMatchObject({ repeated: true, first: "accepted", accepted: true });
    expect(await again("claimed")).toMatchObject({
      repeated: true,
      first: "claimed",
      claimedElsewhere: true,
    });
  });

  it("forwards what waits, in its order, and keeps what has failed", async () => {
    const store = await open();
    const queued = (await all(store.events())).flatMap(({ id, queued: state }) =>
      state ? [{ id, ...state }] : [],
    );
    expect(queued).toEqual([
      { id: "failed", state: "failed", attempts: 1, next: null },
      { id: "retried", state: "pending", attempts: 1, next: expect.any(Date) },
      { id: "waits", state: "pending", attempts: 0, next: null },
      { id: "waits too", state: "pending", attempts: 0, next: null },
    ]);
    const claim = async () => (await store.queue.claim(wanted())).events;
    const first = await claim();
    expect(idsOf(first)).toEqual(["waits", "waits too"]);
    for (const one of first) await store.queue.attempted(one, forward(200), undefined);
    expect(await store.queue.backlog()).toMatchObject({ events: 1, failed: 1, oldest: AT });
    expect(await ids(store.events({ failed: true }))).toEqual(["failed"]);
  });
}
