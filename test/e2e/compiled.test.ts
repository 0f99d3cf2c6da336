/** What the real binary keeps compiled between runs, and that it does so once. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, runPaylink, startPaylink } from "../support/paylink.ts";

const CREATE = ["create", "--amount", "10", "--currency", "EUR"];
const DRY_RUN = [...CREATE, "--terminal-id", "1", "--customer-name", "Ada", "--dry-run"];

/** Each kept file; a file that was written anew is another one. */
const kept = (home: string): string[] =>
  readdirSync(join(home, "cache"))
    .map((name) => `${name} ${statSync(join(home, "cache", name)).ino}`)
    .toSorted();

describe("the compiled program", () => {
  it("is kept by the first run, and by no further one, whether it sends or not", async () => {
    const home = temporaryHome();
    await readyUrl(startPaylink(["sandbox", "--port", "0", "--json"], { home }));
    expect((await runPaylink(CREATE, { home })).code).toBe(0);
    const first = kept(home);
    expect(first.join()).toMatch(/main-.*network-/);
    expect((await runPaylink(CREATE, { home })).code).toBe(0);
    expect((await runPaylink(DRY_RUN, { home })).code).toBe(0);
    expect(kept(home)).toEqual(first);
  });

  it("is not kept by what the program is not needed for, nor where Node is told to keep nothing", async () => {
    const home = temporaryHome();
    await runPaylink(["--version"], { home });
    await runPaylink(["--help"], { home });
    const run = await runPaylink(DRY_RUN, { home, env: { NODE_DISABLE_COMPILE_CACHE: "1" } });
    expect(run.code).toBe(0);
    expect(existsSync(join(home, "cache"))).toBe(false);
  });
});
