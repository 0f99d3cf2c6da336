/** The tables of stored events in SQLite. Never change a published migration: add the next one below it. */
import { PaylinkError } from "../../domain/errors.ts";
import { openDatabase, type Connection, type Database } from "../database.ts";

/** Events take about 2 KB: on pages of 4 KB, most pages would be half empty. */
const PAGE_SIZE = 8192;

const MESSAGE = (presence: string): string =>
  ["method", "scheme", "authority", "target", "headers", "trailers"]
    .map((column) => `${column} TEXT ${presence},`)
    .join("\n     ");

/**
 * `events_arrival` has the columns that lists filter by, so that they read only the events that they show. In `queue`,
 * `first` events wait for their first attempt in the order of `seq`. `forwarder` has one row, the lease.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE events (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL,
     uti TEXT NOT NULL,
     digest BLOB NOT NULL,
     received_at INTEGER NOT NULL,
     outcome TEXT NOT NULL,
     reference TEXT NOT NULL,
     code TEXT NOT NULL,
     warnings TEXT NOT NULL,
     details TEXT NOT NULL,
     ${MESSAGE("NOT NULL")}
     body BLOB NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX events_same ON events (uti, digest);
   CREATE UNIQUE INDEX events_id ON events (id);
   CREATE INDEX events_arrival ON events (received_at, seq, outcome, reference);

   CREATE TABLE arrivals (
     event TEXT NOT NULL,
     id TEXT NOT NULL,
     received_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX arrivals_event ON arrivals (event);

   CREATE TABLE forwards (
     event TEXT NOT NULL,
     at INTEGER NOT NULL,
     target TEXT NOT NULL,
     status INTEGER NOT NULL,
     ms INTEGER NOT NULL,
     detail TEXT NOT NULL
   ) STRICT;
   CREATE INDEX forwards_event ON forwards (event, status);

   CREATE TABLE rejections (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL,
     received_at INTEGER NOT NULL,
     code TEXT NOT NULL,
     status INTEGER NOT NULL,
     detail TEXT NOT NULL,
     checks TEXT NOT NULL,
     ${MESSAGE("")}
     body BLOB
   ) STRICT;

   CREATE TABLE claims (
     event TEXT PRIMARY KEY,
     owner TEXT NOT NULL,
     until INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;

   CREATE TABLE listeners (
     address TEXT PRIMARY KEY,
     bound TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE queue (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     event TEXT NOT NULL UNIQUE,
     received_at INTEGER NOT NULL,
     state TEXT NOT NULL DEFAULT 'first',
     attempts INTEGER NOT NULL DEFAULT 0,
     due INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE INDEX queue_order ON queue (state, due, seq);

   CREATE TABLE forwarder (
     owner TEXT NOT NULL,
     epoch INTEGER NOT NULL,
     expires INTEGER NOT NULL
   ) STRICT;
   INSERT INTO forwarder VALUES ('', 0, 0);`,
];

export const EVENT_SCHEMA_VERSION = MIGRATIONS.length;

export const openEventDatabase = (path: string): Database =>
  openDatabase(path, MIGRATIONS, {
    pageSize: PAGE_SIZE,
    check: (database) => refuseFormerTables(database, path),
  });

/** paylink 0.1 stored whole verdicts, and numbered its tables from 1 as well. */
function refuseFormerTables(database: Connection, path: string): void {
  const former = "SELECT 1 FROM pragma_table_info('events') WHERE name = 'verdict'";
  if (database.prepare(former).get() === undefined) return;
  throw new PaylinkError(
    "file_unreadable",
    `${path} was written by paylink 0.1, and this version cannot read its events. Nothing was changed.`,
    { hint: "Rename the file, or name another one with --db." },
  );
}
