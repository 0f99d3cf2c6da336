/** `listen` where the disk takes no more: what cannot be kept is not acknowledged, and nothing is lost by it. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openEventDatabase } from "../../src/store/sqlite/event-file.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";
import { keyFile } from "../support/keys.ts";
import { post, record, webhook } from "../support/webhooks.ts";

/** The kernel lets no file of this program grow beyond 1024 blocks: half a megabyte, or one, as the shell counts. */
const SMALL_FILES = ["sh", "-c", 'ulimit -S -f 1024; exec "$@"', "sh"];

describe("a disk that is full", () => {
  it("is answered 503 and named, not ready, and 200 again once there is room", async () => {
    const home = temporaryHome();
    const db = join(home, "events.db");
    const args = [
      "listen",
      "--port",
      "0",
      "--json",
      "--key",
      keyFile(home),
      "--db",
      db,
      "--admin",
      "127.0.0.1:0",
    ];
    const listen = startPaylink(args, { home, through: SMALL_FILES });
    const url = await readyUrl(listen);
    const admin = String(jsonLines(listen.stdout())[0]?.["admin"]);
    const readiness = async (): Promise<number> => (await fetch(new URL("/readyz", admin))).status;
    expect(await readiness()).toBe(200);
    const acknowledged: unknown[] = [];
    const send = async (one: Readonly<Record<string, unknown>>): Promise<number> => {
      const status = await post(url, webhook(url, one));
      if (status === 200) acknowledged.push(one["uti"]);
      return status;
    };

    while ((await send(record())) === 200) continue;
    const refused = Array.from({ length: 20 }, () => record());
    expect(new Set(await Promise.all(refused.map(send)))).toEqual(new Set([503]));
    const [line = ""] = await listen.until(/\{"type":"rejected".*\n/);
    expect(JSON.parse(line)).toMatchObject({
      code: "not_stored",
      status: 503,
      detail: expect.stringContaining("the event cannot be stored: "),
    });

    await expect.poll(readiness, { interval: 250 }).toBe(503);

    // Another program moves what is in the log into the database, so that the log starts empty.
    const database = openEventDatabase(db);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    const statuses: number[] = [];
    for (const one of refused.slice(0, 5)) statuses.push(await send(one));
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    await expect.poll(readiness, { interval: 250 }).toBe(200);

    await listen.stop();
    const { stdout } = await runPaylink(["events", "list", "--all", "--json", "--db", db], { home });
    const kept = stdout.trim().split("\n");
    const utis = kept.map((text) => (JSON.parse(text) as { record: { uti: string } }).record.uti);
    expect(utis.toReversed()).toEqual(acknowledged);
  });
});
