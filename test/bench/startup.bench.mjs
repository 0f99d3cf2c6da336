/** Whole-process start-up compared with `node -e 0`: medians of interleaved runs, as ratios within one run. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { median, row } from "./row.mjs";

const PAYLINK = resolve(import.meta.dirname, "../../bin/paylink.js");
const ROUNDS = 25;

const home = mkdtempSync(join(tmpdir(), "paylink-bench-"));
const env = { PATH: process.env["PATH"], PAYLINK_HOME: home };
const create = [PAYLINK, "create", "--amount", "10", "--currency", "EUR"];
const dryRun = ["--terminal-id", "1", "--customer-name", "Ada", "--dry-run"];

/** The sandbox writes a profile, so it has its own home: in the other, `--dry-run` reads no settings. */
const sandboxHome = mkdtempSync(join(tmpdir(), "paylink-bench-"));
const sandboxEnv = { ...env, PAYLINK_HOME: sandboxHome };
const sandbox = spawn(process.execPath, [PAYLINK, "sandbox", "--port", "0", "--json"], {
  env: sandboxEnv,
  stdio: ["ignore", "pipe", "ignore"],
});
await once(sandbox.stdout, "data");

/** Without the compile cache that the first round writes and all others read. */
const uncached = { NODE_DISABLE_COMPILE_CACHE: "1" };

/** Node 20 has no compile cache, so its bars are wider. */
const isNode20 = process.versions.node.startsWith("20.");

/**
 * What is measured, each with its bar.
 * @type {{ name: string, args: string[], env?: NodeJS.ProcessEnv, most?: number }[]}
 */
const cases = [
  { name: "node -e 0", args: ["-e", "0"] },
  { name: "paylink --version", args: [PAYLINK, "--version"], most: 1.2 },
  { name: "paylink --help", args: [PAYLINK, "--help"], most: 2 },
  { name: "paylink create … --dry-run", args: [...create, ...dryRun], most: isNode20 ? 2.3 : 2.1 },
  {
    name: "paylink create … --dry-run, uncached",
    args: [...create, ...dryRun],
    env: { ...env, ...uncached },
  },
  { name: "paylink create …", args: create, env: sandboxEnv, most: isNode20 ? 4 : 3.4 },
  { name: "paylink create …, uncached", args: create, env: { ...sandboxEnv, ...uncached } },
];

/** @type {Map<string, number[]>} */
const times = new Map(cases.map(({ name }) => [name, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const { name, args, env: own = env } of cases) {
    const started = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, {
      env: own,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`${name} failed: ${stderr}`);
    times.get(name)?.push(performance.now() - started);
  }
}
sandbox.kill();
await once(sandbox, "exit");
for (const folder of [home, sandboxHome]) rmSync(folder, { recursive: true, force: true });

/** @param {string} name */
const medianOf = (name) => median(times.get(name) ?? []);
const floor = medianOf("node -e 0");
process.stdout.write(`Node ${process.versions.node}, ${ROUNDS} rounds\n`);
/** @param {string} name */
const ratio = (name) => medianOf(name) / floor;
for (const { name, most } of cases) {
  const time = medianOf(name).toFixed(1);
  process.stdout.write(`${name.padEnd(33)}${time.padStart(8)} ms  ${ratio(name).toFixed(2)} ×\n`);
  if (most === undefined) continue;
  const again = `${name}, uncached`;
  const note = times.has(again) ? `${ratio(again).toFixed(2)} × without the compile cache` : undefined;
  row(`\`${name}\`, whole process, against \`node -e 0\``, ratio(name), { most, note });
}
