/** Benches that are a test of the suite with more rounds. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { rowOfLost } from "./kills.mjs";

/**
 * @typedef {object} Bench
 * @property {string} what The row.
 * @property {string} config
 * @property {string} test
 * @property {Readonly<Record<string, string>>} env The rounds.
 * @property {string} note
 */

/**
 * Runs the test, and prints what it found if it fails.
 * @param {Bench} bench
 */
export function rowOfTests({ what, config, test, env, note }) {
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", config];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...vitest, test], {
    cwd: resolve(import.meta.dirname, "../.."),
    env: { ...process.env, ...env },
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) process.stdout.write(stdout + stderr);
  rowOfLost(what, status === 0 ? 0 : 1, note);
}
