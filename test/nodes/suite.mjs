/** Runs the whole test suite on every Node, or on the given versions: `npm run test:nodes -- 22 26`. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { nodes } from "./nodes.mjs";

const root = resolve(import.meta.dirname, "../..");
const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
const majors = process.argv.slice(2);
const folders = mkdtempSync(join(tmpdir(), "paylink-nodes-"));

const results = nodes(folders, majors.length > 0 ? majors : undefined).map(({ version, node, folder }) => {
  process.stdout.write(`\n# Node ${version}\n`);
  const { status } = spawnSync(node, [vitest, "run", "--config", ".config/vitest.config.mts"], {
    cwd: root,
    stdio: "inherit",
    // The rest of the PATH stays: the tests also run npm, openssl and the shells.
    env: { ...process.env, PATH: [folder, process.env["PATH"]].join(delimiter) },
  });
  return { version, passed: status === 0 };
});
rmSync(folders, { recursive: true });
for (const { version, passed } of results)
  process.stdout.write(`Node ${version.padEnd(9)} ${passed ? "passed" : "failed"}\n`);
if (!results.every(({ passed }) => passed)) process.exitCode = 1;
