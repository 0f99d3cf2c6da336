/** Stores whose files have lost events, or hide them: they are refused, or mended, before anything is received. */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openEventDatabase } from "../../src/store/sqlite/event-file.ts";
import { runCommand } from "../support/context.ts";
import { openSqlite } from "../support/event-stores.ts";
import { KEY_ENV } from "../support/keys.ts";
import { temporaryHome } from "../support/home.ts";
import { all, event, idOf, ids, wanted } from "../support/stored-events.ts";

const FILES = ["", "-wal", ".mark"];

/** A store that runs: all of its events are in its log, behind those in the file if `isCopied`. */
async function running(isCopied: boolean): Promise<string> {
  const path = join(temporaryHome(), "events.db");
  const store = openSqlite(path);
  await store.append(event(idOf("0")), 0);
  if (isCopied) openEventDatabase(path).exec("PRAGMA wal_checkpoint(TRUNCATE)");
  for (const name of ["1", "2", "3"]) await store.append(event(idOf(name)), 0);
  return path;
}

/** The files as the end of the computer leaves them, where `change` has changed them. */
function crashed(path: string, change: (copy: string) => void): string {
  const copy = join(temporaryHome(), "copy.db");
  for (const end of FILES) copyFileSync(path + end, copy + end);
  change(copy);
  return copy;
}

function changeBytes(path: string, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(path);
  change(bytes);
  writeFileSync(path, bytes);
}

const flip = (bytes: Buffer, at: number): void => void (bytes[at] = (bytes[at] ?? 0) ^ 1);

const LOST = [
  [
    "a flipped bit in its log",
    true,
    3,
    (copy: string) => changeBytes(`${copy}-wal`, (bytes) => flip(bytes, 100)),
  ],
  ["no log, as a copy of the file alone", true, 3, (copy: string) => rmSync(`${copy}-wal`)],
  [
    "a flipped bit in the log that has all of it",
    false,
    4,
    (copy: string) => changeBytes(`${copy}-wal`, (bytes) => flip(bytes, 20)),
  ],
] as const;

describe.each(LOST)("a store with %s", (_, isCopied, missing, change) => {
  it("is refused, until somebody decides to go on without its last events", async () => {
    const path = crashed(await running(isCopied), change);
    const lost = {
      code: "file_unreadable",
      message: expect.stringContaining(`lost its last ${missing} events`),
    };
    await expect(openSqlite(path).ready()).rejects.toMatchObject(lost);
    if (isCopied) await expect(all(openSqlite(path).events())).rejects.toMatchObject(lost);
    const { exit, stderr } = await runCommand(["listen", "--port", "0", "--db", path], { env: KEY_ENV });
    expect({ exit, stderr }).toMatchObject({
      exit: 2,
      stderr: expect.stringMatching(
        /To continue without these events, remove \S+copy\.db\.mark\. .*: paylink reconcile/,
      ),
    });
    rmSync(`${path}.mark`);
    const store = openSqlite(path);
    await store.ready();
    expect(await ids(store.events())).toEqual(isCopied ? [idOf("0")] : []);
    await store.append(event(idOf("9")), 0);
    // From now on, its mark is that of what it has.
    await openSqlite(path).ready();
  });
});

describe("the mark of a store", () => {
  it("is not compared with another store, and not with a new one", async () => {
    const path = await running(false);
    const other = crashed(path, () => undefined);
    for (const end of ["", "-wal"]) rmSync(other + end);
    await openSqlite(other).ready();
    expect(await all(openSqlite(other).events())).toEqual([]);
    // A new store of fewer events, beside the mark of the other one.
    await openSqlite(other).ready();
  });

  it("accepts a store that has more events, or that another receiver has pruned", async () => {
    const path = await running(false);
    const mark = readFileSync(`${path}.mark`);
    const store = openSqlite(path);
    await store.append(event(idOf("4")), 0);
    await store.skip({ ids: [0, 1, 2, 3, 4].map((name) => idOf(String(name))) });
    await store.prune(new Date("2100-01-01T00:00:00Z"));
    expect(await all(openSqlite(path).events())).toEqual([]);
    writeFileSync(`${path}.mark`, mark);
    await openSqlite(path).ready();
  });
});

describe("a flipped bit in when an event is due", () => {
  it.each(["deliveries_waiting", "deliveries"])(
    "is repaired in %s, so that it is forwarded",
    async (place) => {
      const path = crashed(await running(false), () => undefined);
      const database = openEventDatabase(path);
      const [{ due } = {}] = database.prepare("SELECT due FROM deliveries").all();
      const size = Number(database.prepare("PRAGMA page_size").get()?.["page_size"]);
      const root = Number(
        database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(place)?.["rootpage"],
      );
      database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      database.close();
      const time = Buffer.alloc(8);
      time.writeBigInt64BE(BigInt(Number(due)));
      changeBytes(path, (bytes) => {
        // Its highest bit but one: it is due in centuries.
        const at = bytes.indexOf(time.subarray(2), (root - 1) * size);
        expect(at).toBeLessThan(root * size);
        bytes[at] = (bytes[at] ?? 0) | 0x40;
      });
      const hidden = openSqlite(copyOf(path));
      expect((await hidden.claim(wanted()).catch(() => [])).length).toBeLessThan(4);
      const store = openSqlite(path);
      await store.ready();
      expect(await store.claim(wanted())).toHaveLength(4);
    },
  );
});

/** The same file once more. */
function copyOf(path: string): string {
  const copy = join(temporaryHome(), "copy.db");
  copyFileSync(path, copy);
  return copy;
}
