// Whole-process start-up against `node -e 0`: medians of interleaved runs, as ratios within one run.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { row } from "./row.mjs";

const PAYLINK = resolve(import.meta.dirname, "../../bin/paylink.js");
const ROUNDS = 25;

const home = mkdtempSync(join(tmpdir(), "paylink-bench-"));
const env = { PATH: process.env.PATH, PAYLINK_HOME: home };
const create = [PAYLINK, "create", "--amount", "10", "--currency", "EUR"];
const dryRun = ["--terminal-id", "1", "--customer-name", "Ada", "--dry-run"];

/** It writes the profile that `create` uses into a home of its own: without one, `--dry-run` reads no settings. */
const sandboxHome = mkdtempSync(join(tmpdir(), "paylink-bench-"));
const sandboxEnv = { ...env, PAYLINK_HOME: sandboxHome };
const sandbox = spawn(process.execPath, [PAYLINK, "sandbox", "--port", "0", "--json"], {
  env: sandboxEnv,
  stdio: ["ignore", "pipe", "ignore"],
});
await once(sandbox.stdout, "data");

/** Without what V8 compiled in an earlier run, which the first round keeps for all others. */
const anew = { NODE_DISABLE_COMPILE_CACHE: "1" };

/** What is measured, with the bar that the design sets for it. */
const cases = [
  { name: "node -e 0", args: ["-e", "0"] },
  { name: "paylink --version", args: [PAYLINK, "--version"], most: 1.12 },
  { name: "paylink --help", args: [PAYLINK, "--help"], most: 1.25 },
  { name: "paylink create … --dry-run", args: [...create, ...dryRun], most: 1.5 },
  { name: "paylink create … --dry-run, anew", args: [...create, ...dryRun], env: { ...env, ...anew } },
  { name: "paylink create …", args: create, env: sandboxEnv, most: 2.8 },
  { name: "paylink create …, anew", args: create, env: { ...sandboxEnv, ...anew } },
];

const times = new Map(cases.map(({ name }) => [name, []]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const { name, args, env: own = env } of cases) {
    const started = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, {
      env: own,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`${name} failed: ${stderr}`);
    times.get(name).push(performance.now() - started);
  }
}
sandbox.kill();
await once(sandbox, "exit");
for (const folder of [home, sandboxHome]) rmSync(folder, { recursive: true, force: true });

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const floor = median(times.get("node -e 0"));
process.stdout.write(`Node ${process.versions.node}, ${ROUNDS} rounds\n`);
const ratio = (name) => median(times.get(name)) / floor;
for (const { name, most } of cases) {
  const time = median(times.get(name)).toFixed(1);
  process.stdout.write(`${name.padEnd(33)}${time.padStart(8)} ms  ${ratio(name).toFixed(2)} ×\n`);
  if (most === undefined) continue;
  const anew = `${name}, anew`;
  const note = times.has(anew) ? `${ratio(anew).toFixed(2)} × with nothing kept` : undefined;
  row(`\`${name}\`, whole process, against \`node -e 0\``, ratio(name), { most, note });
}
