/**
 * Receivers that share a store in a simulated world, whose seed decides everything that happens: crashes, failing disks, clocks that
 * differ, an application that hangs or refuses, and operators at work.
 *
 * `npm run bench -- simulation [worlds] [seed]`
 */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { rowOfLost } from "./kills.mjs";

const [worlds = "10000", seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
const root = resolve(import.meta.dirname, "../..");
const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config", ".config/vitest.config.mts"];
const { status, stdout } = spawnSync(process.execPath, [...vitest, "test/simulation"], {
  cwd: root,
  env: { ...process.env, SIMULATED_WORLDS: worlds, SIMULATION_SEED: seed },
  encoding: "utf8",
  maxBuffer: 2 ** 28,
});
if (status !== 0) process.stdout.write(stdout);
rowOfLost(
  "simulated worlds in which a webhook or a link is lost or repeated",
  status === 0 ? 0 : 1,
  `of ${worlds} each; seed ${seed}`,
);
