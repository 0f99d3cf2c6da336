/** `listen` where its store cannot be written: it does not start, and says which file is the reason. */
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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
  ])("keeps listen from starting: %s is read-only", async (_, name, mode) => {
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
