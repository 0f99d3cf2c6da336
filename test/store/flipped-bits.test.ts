/** Bits of a store that a disk has changed: another amount, reference or outcome is never shown, counted or forwarded. */
import { hash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openLocalMemory } from "../../src/bulk/local-memory.ts";
import { DATABASE_FILES } from "../../src/store/sqlite/connection.ts";
import type { EventStore } from "../../src/store/event-store.ts";
import { openEventDatabase } from "../../src/store/sqlite/event-file.ts";
import { openPostgres, openSqlite, openWithoutThread } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { createRandom } from "../support/random.ts";
import { usePostgres } from "../support/postgres.ts";
import { all, event, idOf, KEYS, wanted } from "../support/stored-events.ts";

const EVENTS = 12;
const NOW = new Date("2026-11-22T10:00:00Z");

/** A store with events that wait, are delivered or failed. */
async function fill(store: EventStore, from = 0, to = EVENTS): Promise<void> {
  for (let number = from; number < to; number++) {
    const record = { transApproved: number % 3 !== 1, amountTrans: 100 + number, transCurrencyCode: "EUR" };
    await store.append(event(idOf(String(number)), { ...record, reference: `ORDER-${number}` }), 0);
  }
}

/** All that the store says of payments, by their ids; a text for what it says of none. */
async function said(store: EventStore, claims = true): Promise<ReadonlyMap<string, string>> {
  const told = new Map<string, string>();
  const tell = async (what: string, ask: () => Promise<readonly (readonly [string, unknown])[]>) => {
    try {
      for (const [name, value] of await ask()) told.set(`${what} ${name}`, JSON.stringify(value));
    } catch (error) {
      told.set(`${what} failed`, String(error));
    }
  };
  await tell("list", async () =>
    (await all(store.events())).map((one) => [
      one.id,
      [one.outcome, one.reference, one.uti, one.key, Buffer.from(one.request.body).toString()],
    ]),
  );
  await tell("stats", async () =>
    (await store.stats(new Date(0), NOW)).keys.flatMap(({ key, pending }) =>
      key === KEYS[0]
        ? (pending.sums ?? []).map(
            ({ amount, currency }) => [String(pending.events), `${currency} ${amount}`] as const,
          )
        : [],
    ),
  );
  if (!claims) return told;
  await tell("claim", async () =>
    (await store.claim(wanted({ limit: EVENTS }))).map(({ id, event: claimed }) =>
      "damage" in claimed
        ? [`${id} damaged`, claimed.damage]
        : [id, [claimed.verdict.key, Buffer.from(claimed.request.body).toString()]],
    ),
  );
  return told;
}

/** What is said of a changed store, and not of the one as it was written. */
const wrong = (changed: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>): string[] =>
  [...changed].flatMap(([what, value]) =>
    / (?:failed|damaged)$/.test(what) || before.get(what) === value ? [] : [`${what}: ${value}`],
  );

/** What is said no more, without a word of why. */
const hidden = (changed: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>): string[] =>
  [...before.keys()].filter((what) => {
    const [ask = ""] = what.split(" ", 1);
    return ![what, `${what} damaged`, `${ask} failed`, "open failed"].some((one) => changed.has(one));
  });

/** The bench flips more. */
const BITS = Number(process.env["FLIPPED_BITS"] ?? 50);

describe("a bit that is flipped", () => {
  it.each([
    ["events file", ""],
    ["log", "-wal"],
  ])(
    "in the %s is noticed, or harmless",
    async (_, suffix) => {
      const folder = temporaryHome();
      const path = join(folder, "events.db");
      const writer = openEventDatabase(path);
      const store = openWithoutThread(path);
      await fill(store);
      // The first connection keeps the log.
      if (suffix === "") writer.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      const files = ["", "-wal", ".mark"].map((end) => [end, readFileSync(path + end)] as const);
      const open = async (name: string, bit?: number): Promise<ReadonlyMap<string, string>> => {
        for (const [end, bytes] of files) {
          const copy = Buffer.from(bytes);
          if (end === suffix && bit !== undefined) copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
          writeFileSync(join(folder, name) + end, copy);
        }
        let opened: EventStore | undefined;
        try {
          opened = openWithoutThread(join(folder, name));
          await opened.ready();
          return await said(opened);
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/^file_un/) });
          return new Map([["open failed", String(error)]]);
        } finally {
          await opened?.close();
        }
      };
      const before = await open("whole.db");
      expect(before.size).toBe(2 * EVENTS + 1);
      const size = files.find(([end]) => end === suffix)?.[1].length ?? 0;
      const random = createRandom(3);
      for (let flip = 0; flip < BITS; flip++) {
        const bit = Math.floor(random() * size * 8);
        const told = await open("flipped.db", bit);
        const found = { bit, wrong: wrong(told, before), hidden: hidden(told, before) };
        expect(found).toEqual({ bit, wrong: [], hidden: [] });
        for (const end of [...DATABASE_FILES, ".mark"])
          rmSync(join(folder, "flipped.db") + end, { force: true });
      }
      await store.close();
      writer.close();
    },
    600_000,
  );

  const server = usePostgres();
  const changes = [
    ["SQLite", async () => join(temporaryHome(), "events.db"), openSqlite],
    ["PostgreSQL", () => server().createDatabase(), openPostgres],
  ] as const;
  const columns = [
    "events.uti = 'uti-x'",
    "events.outcome = 'DECLINED'",
    "events.reference = 'ORDER-X'",
    "events.verdict = replace(verdict, 'content-digest', 'content-digesu')",
    "events.received_at = received_at + 1",
    "deliveries.outcome = 'DECLINED'",
    "events.currency = 'USD'",
    "events.amount = amount + 1",
  ];
  it.each(changes)("in a column of %s is noticed", async (name, newPlace, open) => {
    for (const column of columns) {
      const place = await newPlace();
      const store = open(place);
      await fill(store);
      const [table = "", set = ""] = column.split(/\.(.*)/);
      const id = table === "events" ? "id" : "event";
      const sql = `UPDATE ${name === "SQLite" ? "" : "paylink."}${table} SET ${set} WHERE ${id} = '${idOf("3")}'`;
      if (name === "SQLite") {
        const database = openEventDatabase(place);
        database.exec(sql);
        database.close();
      } else await server().query(sql, new URL(place).pathname.slice(1));
      const told = await said(store);
      const isClaimed = told.has(`claim ${idOf("3")}`);
      const isListed = !told.has("list failed");
      const isCounted = !told.has("stats failed");
      const isOfSums = /^events\.(?:outcome|currency|amount)/.test(column);
      expect({ column, isListed, isClaimed, isCounted }).toEqual({
        column,
        isClaimed: false,
        isListed: table !== "events",
        isCounted: !isOfSums,
      });
    }
  });

  it("in the memory of bulk is noticed, or no row is sent again", async () => {
    const folder = temporaryHome();
    const keys = Array.from({ length: 40 }, (_, row) => hash("sha256", String(row), "base64url"));
    const memory = openLocalMemory(folder, { isDryRun: false });
    for (const key of keys) {
      const sent = { key, occurrence: 1, attempt: 1 };
      expect(await memory.claim({ ...sent, payment: "EUR 10.00", content: key, orderNumber: "" })).toBe(true);
      await memory.settle(sent, {
        state: "created",
        id: key,
        url: `https://pay.example/${key}`,
        error: null,
      });
    }
    await memory.close();
    const path = join(folder, "bulk.db");
    const bytes = readFileSync(path);
    const random = createRandom(7);
    for (let flip = 0; flip < BITS; flip++) {
      const bit = Math.floor(random() * bytes.length * 8);
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      for (const end of DATABASE_FILES) rmSync(path + end, { force: true });
      writeFileSync(path, changed);
      const free: string[] = [];
      try {
        const opened = openLocalMemory(folder, { isDryRun: false });
        const known = await opened.find(keys);
        free.push(...keys.filter((key) => !known.some((one) => one.key === key)));
        await opened.close();
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
      expect({ bit, free }).toEqual({ bit, free: [] });
    }
  });
});
