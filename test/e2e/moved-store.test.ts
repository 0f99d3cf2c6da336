/** `listen` while its database is removed, renamed, replaced or emptied: 503 until it is started again, so that nothing is lost. */
import { mkdirSync, renameSync, rmSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { openEventDatabase } from "../../src/store/sqlite/event-file.ts";
import { jsonLines } from "../support/json-lines.ts";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { keyFile } from "../support/keys.ts";
import { readyUrl, startPaylink } from "../support/paylink.ts";
import { post, record, webhook } from "../support/webhooks.ts";

/** Without them, `listen` begins a new store. */
const removeFiles = (db: string): void => {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(db + suffix, { force: true });
};

/** `restore` is what an operator does before the next start. */
const CHANGES: readonly [name: string, change: (db: string) => void, restore?: (db: string) => void][] = [
  ["the folder is removed", (db) => rmSync(dirname(db), { recursive: true })],
  ["the log alone is removed", (db) => rmSync(`${db}-wal`)],
  ["the database alone is renamed", (db) => renameSync(db, `${db}.old`)],
  [
    "another database is moved into its place",
    (db) => {
      const other = openEventDatabase(`${db}.new`);
      // Its log would stay behind.
      other.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      other.close();
      renameSync(`${db}.new`, db);
    },
  ],
  // From Node 22 on, SQLite writes what its log has into the empty file when it is closed, which is damaged then.
  ["the database is emptied", (db) => truncateSync(db), removeFiles],
];

it.each(CHANGES)("accepts nothing, and says so, until it is restarted: %s", async (_, change, restore) => {
  const home = temporaryHome();
  const db = join(home, "store", "events.db");
  mkdirSync(dirname(db));
  const flags = ["listen", "--port", "0", "--json", "--key", keyFile(home), "--db", db];
  const listen = startPaylink(flags, { home });
  const url = await readyUrl(listen);
  expect(await post(url, webhook(url, record()))).toBe(200);
  change(db);
  for (let time = 0; time < 2; time++) expect(await post(url, webhook(url, record()))).toBe(503);
  const { stdout } = await listen.stop("SIGTERM");
  const refused = jsonLines(stdout).filter(({ type }) => type === "rejected");
  expect(refused[0]?.["detail"]).toContain("was removed, renamed, replaced or emptied: restart listen");
  mkdirSync(dirname(db), { recursive: true });
  restore?.(db);
  const again = startPaylink(flags, { home });
  const nextUrl = await readyUrl(again);
  const kept = record();
  expect(await post(nextUrl, webhook(nextUrl, kept))).toBe(200);
  await again.stop("SIGTERM");
  const listed = await runStep(["events", "list", "--all", "-q", "--db", db], { home });
  expect(listed.stdout).toContain(String(kept["uti"]));
});
