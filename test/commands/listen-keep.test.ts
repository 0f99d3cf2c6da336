/** `listen --keep`: deletes what is old while it receives, never what waits, and the file gives the space back. */
import { statSync } from "node:fs";
import { expect, it } from "vitest";
import { eventsPath } from "../../src/store/folders.ts";
import { startListenWith } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { keyFile } from "../support/keys.ts";
import { AT, event, forward, idOf, ids, rejection } from "../support/stored-events.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const DAY = 86_400_000;

it("deletes what is older than the newest event, whatever the clock says, and keeps what waits to be forwarded", async () => {
  const home = temporaryHome();
  const path = eventsPath(`${home}/data`);
  const later = new Date(AT.getTime() + 3 * DAY);
  const store = openSqlite(path);
  const many = (name: string) =>
    Array.from({ length: 700 }, (_, at) => event(idOf(`${name}-${at}`), { note: "x".repeat(5_000) }));
  await Promise.all(many("old").map((one) => store.append(one)));
  const [waits, failed, young] = [idOf("waits"), idOf("failed"), idOf("young", later)];
  await store.append(event(waits), 0);
  await store.append(event(failed), 60_000);
  await store.ended({ id: failed, attempt: 1 }, forward(500));
  await store.reject(rejection(idOf("refused")));
  await store.append(event(young, {}, later));
  await store.close();
  const before = statSync(path).size;
  // A clock that is four weeks ahead.
  const now = () => new Date(AT.getTime() + 30 * DAY);
  const flags = ["--key", keyFile(home), "--keep", "2d"];
  const listen = await startListenWith({ home, now }, ...flags);
  await listen.until(/"type":"deleted"/);
  expect(await post(listen.url, webhook(listen.url, record(), { at: now() }))).toBe(200);
  const { stdout } = await listen.stop();
  expect(jsonLines(stdout).find(({ type }) => type === "deleted")).toEqual({
    type: "deleted",
    before: new Date(AT.getTime() + DAY).toISOString(),
    events: 700,
    rejections: 1,
    at: now().toISOString(),
    level: "info",
  });
  const kept = openSqlite(path);
  expect((await ids(kept.events())).slice(0, 3)).toEqual([failed, waits, young]);
  // The space of the deleted ones is used again.
  await Promise.all(many("new").map((one) => kept.append(one)));
  await kept.close();
  expect(statSync(path).size).toBeLessThan(before * 1.1);
});

it("keeps events as long as services repeat them", async () => {
  const { exit, stderr } = await runCommand(["listen", "--keep", "1h"], { home: temporaryHome() });
  expect({ exit, stderr }).toMatchObject({ exit: 2, stderr: expect.stringContaining("must be at least 1d") });
});
