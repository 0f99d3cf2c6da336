// Whole-process start-up against `node -e 0`, on this Node and on Node 24: medians of interleaved runs, as ratios within
// one run. `npm run bench -- startup`
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import pty from "@lydell/node-pty";
import { nodes } from "../nodes/nodes.mjs";
import { row } from "./row.mjs";

const PAYLINK = resolve(import.meta.dirname, "../../bin/paylink.js");
const ROUNDS = 25;

const create = [PAYLINK, "create", "--amount", "10", "--currency", "EUR"];
const dryRun = [...create, "--terminal-id", "1", "--customer-name", "Ada", "--dry-run"];

/** Runs until the program ends and gives the milliseconds. */
function inPipe(node, args, env) {
  const started = performance.now();
  const { status, stderr } = spawnSync(node, args, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${args.join(" ")} failed: ${stderr}`);
  return performance.now() - started;
}

function inTerminal(node, args, env) {
  const started = performance.now();
  const terminal = pty.spawn(node, args, { env });
  return new Promise((done, fail) =>
    terminal.onExit(({ exitCode }) =>
      exitCode === 0 ? done(performance.now() - started) : fail(new Error(`${args.join(" ")} failed`)),
    ),
  );
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** `folder` is thrown away, with the settings and what Node keeps compiled. */
async function measure({ version, node }, folder) {
  const env = { PATH: process.env.PATH, PAYLINK_HOME: folder, XDG_CACHE_HOME: join(folder, "cache") };
  // `sandbox` writes the profile that `create` uses: into another home, so that `--dry-run` finds no settings.
  const sandboxEnv = { ...env, PAYLINK_HOME: join(folder, "sandbox") };
  mkdirSync(sandboxEnv.PAYLINK_HOME);
  const sandbox = spawn(node, [PAYLINK, "sandbox", "--port", "0", "--json"], {
    env: sandboxEnv,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(sandbox.stdout, "data");
  const old = version.startsWith("v20.");
  const bare = { args: ["-e", "0"] };
  const cases = [
    { name: "paylink --version", args: [PAYLINK, "--version"], most: 1.2 },
    { name: "paylink --help", args: [PAYLINK, "--help"], most: 2 },
    { name: "paylink --help", in: "in a terminal", args: [PAYLINK, "--help"], run: inTerminal, most: 2 },
    { name: "paylink create … --dry-run", args: dryRun, most: old ? 2.3 : 2.1 },
    { name: "paylink create …", args: create, env: sandboxEnv, most: old ? 4 : 3.4 },
  ];
  const kinds = { inPipe, inTerminal };
  const floors = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
  const times = cases.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [kind, run] of Object.entries(kinds)) floors[kind].push(await run(node, bare.args, env));
    for (const [index, each] of cases.entries())
      times[index].push(await (each.run ?? inPipe)(node, each.args, each.env ?? env));
  }
  sandbox.kill();
  await once(sandbox, "exit");
  process.stdout.write(
    `Node ${version}, ${ROUNDS} rounds, node -e 0: ${median(floors.inPipe).toFixed(1)} ms\n`,
  );
  for (const [index, each] of cases.entries()) {
    const floor = median(floors[(each.run ?? inPipe).name]);
    const what = [`\`${each.name}\``, ...(each.in === undefined ? [] : [each.in])].join(" ");
    row(
      `${what}, whole process, against \`node -e 0\`, Node ${version.slice(1, 3)}`,
      median(times[index]) / floor,
      {
        most: each.most,
        note: `${median(times[index]).toFixed(0)} ms`,
      },
    );
  }
}

const folder = mkdtempSync(join(tmpdir(), "paylink-bench-"));
try {
  const here = { version: process.version, node: process.execPath };
  const others = here.version.startsWith("v24.") ? [] : nodes(folder, ["24"]);
  for (const each of [here, ...others]) await measure(each, mkdtempSync(join(folder, "home-")));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
