/** The tables of stored events. A published migration is never changed: the next one is added below it. */
export const EVENT_MIGRATIONS: readonly string[] = [
  `CREATE TABLE events (
     seq INTEGER PRIMARY KEY,
     id TEXT NOT NULL,
     uti TEXT NOT NULL,
     digest BLOB NOT NULL,
     received_at INTEGER NOT NULL,
     outcome TEXT NOT NULL,
     reference TEXT NOT NULL,
     method TEXT NOT NULL,
     scheme TEXT NOT NULL,
     authority TEXT NOT NULL,
     target TEXT NOT NULL,
     headers TEXT NOT NULL,
     trailers TEXT NOT NULL,
     body BLOB NOT NULL,
     verdict TEXT NOT NULL
   ) STRICT;
   CREATE UNIQUE INDEX events_same ON events (uti, digest);
   CREATE UNIQUE INDEX events_id ON events (id);
   CREATE INDEX events_received_at ON events (received_at);

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
     seq INTEGER PRIMARY KEY,
     id TEXT NOT NULL,
     received_at INTEGER NOT NULL,
     code TEXT NOT NULL,
     status INTEGER NOT NULL,
     detail TEXT NOT NULL,
     checks TEXT NOT NULL,
     method TEXT,
     scheme TEXT,
     authority TEXT,
     target TEXT,
     headers TEXT,
     trailers TEXT,
     body BLOB
   ) STRICT;`,
  `CREATE TABLE claims (
     event TEXT PRIMARY KEY,
     owner TEXT NOT NULL,
     until INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;

   CREATE TABLE listeners (
     address TEXT PRIMARY KEY,
     bound TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,
];
