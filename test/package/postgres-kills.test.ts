/** Two receivers on one PostgreSQL lose and repeat nothing when they or the server are killed under load. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { hasPostgres } from "../support/postgres.ts";

const BENCH = resolve(import.meta.dirname, "../bench/postgres-kill.bench.mjs");

it("survives 3 kills of receivers and 1 of the server", async (test) => {
  test.skip(!hasPostgres, "no PostgreSQL server is installed");
  const { stdout } = await promisify(execFile)(process.execPath, [BENCH, "3", "1"]);
  expect(stdout).toContain("0 stored twice, 0 not acknowledged in the end");
  expect(stdout).toMatch(/\| 0 \(0; of 800\) \|/);
});
