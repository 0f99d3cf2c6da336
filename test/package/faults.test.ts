/** What listen --ack stored has acknowledged arrives, while everything around it fails. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { hasPostgres } from "../support/postgres.ts";

const BENCH = resolve(import.meta.dirname, "../bench/faults.bench.mjs");

it("loses nothing in 20 seconds of faults, and repeats only after kills", async (test) => {
  test.skip(!hasPostgres, "no PostgreSQL server is installed");
  const { stdout } = await promisify(execFile)(process.execPath, [BENCH, "20", "1"]);
  expect(stdout.match(/: 0 lost, 0 repeated without a kill/g)).toHaveLength(2);
}, 600_000);
