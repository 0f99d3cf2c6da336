/**
 * Records with strace what the program writes and syncs, and opens the files as a disk may hold them after a power cut at each point.
 *
 * `npm run bench -- power-cuts [states]`
 */
import { spawnSync } from "node:child_process";
import { rowOfTests } from "./tests.mjs";

const [states = "1200"] = process.argv.slice(2);
if (spawnSync("strace", ["-V"]).status !== 0) process.stdout.write("skipped: strace is not installed\n");
else
  rowOfTests({
    what: "power cuts that lose an answered webhook, or let `bulk` send a row twice",
    config: ".config/vitest.package.config.mts",
    test: "test/package/power-cuts.test.ts",
    env: { POWER_CUTS: states },
    note: `states of the disk: ${states} of listen, ${Number(states) / 2} of the settings, ${Number(states) / 4} of bulk`,
  });
