/** Opens event stores of both kinds for one test. */
import { resolve } from "node:path";
import { onTestFinished } from "vitest";
import type { NewEvent } from "../../src/events/event.ts";
import { SQLITE } from "../../src/store/dialects.ts";
import { type EventStore, createEventStore } from "../../src/store/event-store.ts";
import {
  createSqliteWriter,
  openEventDatabase,
  requireWhole,
  statementsOf,
} from "../../src/store/sqlite/event-file.ts";
import { openPostgresEventStore } from "../../src/store/postgres.ts";
import { openEventStore } from "../../src/store/sqlite/file-store.ts";

/** A thread runs no TypeScript: the build compiled this one. */
export const THREAD = {
  program: resolve(import.meta.dirname, "../../dist/event-thread.js"),
  options: {},
};

export function openSqlite(path: string): EventStore {
  const store = openEventStore(path, { thread: THREAD, user: "tester", create: true, upgrade: true });
  onTestFinished(() => store.close());
  return store;
}

export function openPostgres(url: string, env: Readonly<Record<string, string>> = {}): EventStore {
  const store = openPostgresEventStore(url, { env, user: "tester", create: true, upgrade: true });
  onTestFinished(() => store.close());
  return store;
}

/** A hundred at a time: each must be stored within its time, also on a busy machine. */
export async function appendAll(
  store: EventStore,
  events: readonly NewEvent[],
  lease?: number,
): Promise<void> {
  for (let at = 0; at < events.length; at += 100)
    await Promise.all(events.slice(at, at + 100).map((event) => store.append(event, lease)));
}

/** The same file without a thread, which would take most of the time of a test that opens many. */
export function openWithoutThread(path: string): EventStore {
  const database = openEventDatabase(path);
  return createEventStore(
    {
      dialect: SQLITE,
      place: path,
      all: statementsOf(database),
      write: createSqliteWriter(database),
      ready: async () => requireWhole(database, path),
      hurry: () => undefined,
      close: async () => database.close(),
    },
    "tester",
  );
}
