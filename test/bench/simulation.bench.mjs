/**
 * Receivers that share a store, and runs of `bulk` with one memory, in simulated worlds. A seed decides everything that happens:
 * crashes, failing disks, clocks that differ, an application or a service that hangs or refuses, and operators at work.
 *
 * `npm run bench -- simulation [worlds] [seed]`
 */
import { rowOfTests } from "./tests.mjs";

const [worlds = "10000", seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
rowOfTests({
  what: "simulated worlds in which a webhook or a row of bulk is lost or repeated",
  config: ".config/vitest.config.mts",
  test: "test/simulation",
  env: { SIMULATED_WORLDS: worlds, SIMULATION_SEED: seed },
  note: `of ${worlds}; seed ${seed}`,
});
