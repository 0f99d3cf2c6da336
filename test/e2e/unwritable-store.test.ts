/** `listen` and `bulk` where their database cannot be written: they do nothing, and say which file is the reason. */
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openLocalMemory } from "../../src/bulk/local-memory.ts";
import { openSqlite } from "../support/event-stores.ts";
import { temporaryHome } from "../support/home.ts";
import { NOT_ROOT } from "../support/not-root.ts";
import { startPaylink } from "../support/paylink.ts";
import { event } from "../support/stored-events.ts";
import { keyFile } from "../support/keys.ts";

describe("a store that cannot be written", () => {
  it.each([
    ["the file", "events.db", 0o400],
    ["the folder", "", 0o500],
  ])("stops listen from starting: %s is read-only", async (_, name, mode) => {
    const home = temporaryHome();
    const folder = join(home, "data");
    const db = join(folder, "events.db");
    mkdirSync(folder);
    const store = openSqlite(db);
    await store.append(event("a"));
    await store.close();
    chmodSync(join(folder, name), mode);
    const args = ["listen", "--port", "0", "--json", "--key", keyFile(home), "--db", db];
    const listen = startPaylink(args, { home, through: NOT_ROOT });
    const { code, stdout, stderr } = await listen.ended;
    chmodSync(folder, 0o700);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "file_unwritable", message: expect.stringContaining(db) },
    });
  });
});

it("stops bulk from sending what it cannot remember, and says that nothing was sent", async () => {
  const home = temporaryHome();
  const folder = join(home, "data", "bulk");
  await openLocalMemory(folder, { isDryRun: false }).close();
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o400);
  const list = join(home, "list.csv");
  writeFileSync(list, "amount,currency,customerName,terminalId\n10,EUR,Ada,1\n");
  const { code, stdout, stderr } = await startPaylink(["bulk", list, "--yes", "-o", "-"], {
    home,
    env: { PAYLINK_BASE_URL: "http://127.0.0.1:9", PAYLINK_TOKEN: "t0ken-of-test" },
    through: NOT_ROOT,
  }).ended;
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(`${join(folder, "bulk.db")} cannot be written`);
  expect(stderr).toContain("Nothing was sent.");
});
