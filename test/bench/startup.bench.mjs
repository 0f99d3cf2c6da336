/**
 * Whole-process start-up compared with `node -e 0`, on this Node and on Node 24: medians of interleaved runs, as ratios
 * within one run.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { spawn as spawnInTerminal } from "@lydell/node-pty";
import { nodes } from "../nodes/nodes.mjs";
import { showProgress } from "./progress.mjs";
import { median, row } from "./row.mjs";

const PAYLINK = resolve(import.meta.dirname, "../../bin/paylink.js");
const ROUNDS = 25;

const create = [PAYLINK, "create", "--amount", "10", "--currency", "EUR"];
const dryRun = [...create, "--terminal-id", "1", "--customer-name", "Ada", "--dry-run"];

/**
 * Runs a program to its end and resolves with the milliseconds.
 * @typedef {(node: string, args: string[], env: NodeJS.ProcessEnv) => Promise<number>} Run
 */

/** @type {Run} */
async function inPipe(node, args, env) {
  const started = performance.now();
  const { status, stderr } = spawnSync(node, args, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")} failed: ${stderr}`);
  return performance.now() - started;
}

/** @type {Run} */
function inTerminal(node, args, env) {
  const started = performance.now();
  const terminal = spawnInTerminal(node, args, { env });
  return new Promise((done, fail) =>
    terminal.onExit(({ exitCode }) =>
      exitCode === 0 ? done(performance.now() - started) : fail(new Error(`${args.join(" ")} failed`)),
    ),
  );
}

/**
 * One command in a pipe or a terminal, with its bar.
 * @typedef {object} Case
 * @property {string} name
 * @property {Run} run
 * @property {string[]} args
 * @property {NodeJS.ProcessEnv} env
 * @property {number} most
 */

/**
 * @param {{ version: string, node: string }} node
 * @param {string} folder Holds the settings and Node's compile cache.
 */
async function measure({ version, node }, folder) {
  const env = { PATH: process.env["PATH"], PAYLINK_HOME: folder, XDG_CACHE_HOME: join(folder, "cache") };
  // The sandbox writes the profile that `create` uses. It has its own home, so that `--dry-run` finds no settings.
  const sandboxEnv = { ...env, PAYLINK_HOME: join(folder, "sandbox") };
  mkdirSync(sandboxEnv.PAYLINK_HOME);
  const sandbox = spawn(node, [PAYLINK, "sandbox", "--port", "0", "--json"], {
    env: sandboxEnv,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(sandbox.stdout, "data");
  const help = { args: [PAYLINK, "--help"], env, most: 2.0 };
  /** @type {Case[]} */
  const cases = [
    { name: "`paylink --version`", run: inPipe, args: [PAYLINK, "--version"], env, most: 1.3 },
    { name: "`paylink --help`", run: inPipe, ...help },
    { name: "`paylink --help` in a terminal", run: inTerminal, ...help },
    { name: "`paylink create … --dry-run`", run: inPipe, args: dryRun, env, most: 2.5 },
    { name: "`paylink create …`", run: inPipe, args: create, env: sandboxEnv, most: 4.2 },
  ];
  const measured = cases.map((each) => ({ ...each, times: /** @type {number[]} */ ([]) }));
  const floors = [inPipe, inTerminal].map((run) => ({ run, times: /** @type {number[]} */ ([]) }));
  for (let round = 0; round < ROUNDS; round += 1) {
    showProgress(`Node ${version}, round ${round + 1} of ${ROUNDS}`);
    for (const { run, times } of floors) times.push(await run(node, ["-e", "0"], env));
    for (const { run, times, args, env: own } of measured) times.push(await run(node, args, own));
  }
  showProgress("");
  sandbox.kill();
  await once(sandbox, "exit");
  const why = version.startsWith("v20.") ? "Node 20 compiles the program at each start" : undefined;
  for (const { name, run, times, most } of measured) {
    const floor = median(floors.find((each) => each.run === run)?.times ?? []);
    const what = `${name} against \`node -e 0\`, Node ${version.slice(1, 3)}`;
    const note = `${median(times).toFixed(0)} ms against ${floor.toFixed(0)} ms`;
    row(what, median(times) / floor, { most, note, why });
  }
}

const folder = mkdtempSync(join(tmpdir(), "paylink-bench-"));
try {
  const current = { version: process.version, node: process.execPath };
  const others = current.version.startsWith("v24.") ? [] : nodes(folder, ["24"]);
  for (const node of [current, ...others]) await measure(node, mkdtempSync(join(folder, "home-")));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
