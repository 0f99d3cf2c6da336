/** The packed library on each runtime that it supports: every vector of webhooks gives the same result as on Node. */
import { execFile } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it, type TestContext } from "vitest";
import { installed } from "../nodes/installed.mjs";
import { MAJORS, nodes } from "../nodes/nodes.mjs";
import { temporaryHome } from "../support/home.ts";
import { KEYS } from "../support/keys.ts";
import { npmSettings, pack } from "../support/packages.ts";
import { openShell } from "../support/shell.ts";
import { vectorFile } from "../support/vectors.ts";

const run = promisify(execFile);

/** An empty project with the package, and a program that tries it. */
async function openProject(): Promise<string> {
  const shell = openShell(temporaryHome());
  const { filename } = await pack(shell, "paylink-webhooks");
  writeFileSync(join(shell.cwd, "package.json"), '{"name": "shop", "private": true}');
  const env = npmSettings(shell.home);
  expect(await shell.run(`npm install ./${filename}`, { env })).toMatchObject({ code: 0 });
  const positive = vectorFile<{ vectors: object[] }>("webhook-positive").vectors;
  const negative = vectorFile<{ cases: object[] }>("webhook-negative").cases;
  const data = {
    vectors: [...positive, ...negative].filter((vector) => "request" in vector),
    privateKey: KEYS.privatePem,
    publicKey: KEYS.publicPem,
  };
  expect(data.vectors.length).toBeGreaterThan(100);
  copyFileSync(resolve(import.meta.dirname, "library-vectors.mjs"), join(shell.cwd, "library-vectors.mjs"));
  writeFileSync(join(shell.cwd, "data.mjs"), `export default ${JSON.stringify(data)};`);
  const program = `import * as library from "paylink-webhooks";
import { tryLibrary } from "./library-vectors.mjs";
import data from "./data.mjs";
const report = async () => console.log("wrong: " + JSON.stringify(await tryLibrary(library, data)));`;
  writeFileSync(join(shell.cwd, "program.mjs"), `${program}\nawait report();`);
  writeFileSync(join(shell.cwd, "worker.mjs"), `${program}\nexport default { test: report };`);
  return shell.cwd;
}

/** What went otherwise than on Node, as the program printed it. */
function wrongIn(printed: string): unknown {
  const [, wrong] = /^wrong: (.*)$/m.exec(printed) ?? [];
  return wrong === undefined ? printed : JSON.parse(wrong);
}

/** The program of a runtime, from its package for this system; the test is skipped where there is none. */
function executable(test: TestContext, name: string, specifier: string, path: string): string {
  const system = `${process.platform}-${process.arch}`;
  test.skip(system !== "linux-x64", `${name} is tried on linux-x64 only, and this is ${system}`);
  try {
    return join(installed(name, [specifier]), path);
  } catch (error) {
    return test.skip(`npm cannot install ${specifier}: ${String(error)}`);
  }
}

it.each(MAJORS)("verifies on Node %s", async (major) => {
  const cwd = await openProject();
  const [node] = nodes(temporaryHome(), [major]);
  const { stdout } = await run(node?.node ?? "", ["program.mjs"], { cwd });
  expect(wrongIn(stdout)).toEqual([]);
});

it("verifies on Bun", async (test) => {
  const bun = executable(test, "bun", "@oven/bun-linux-x64@1", "@oven/bun-linux-x64/bin/bun");
  const { stdout } = await run(bun, ["program.mjs"], { cwd: await openProject() });
  expect(wrongIn(stdout)).toEqual([]);
});

it("verifies on Deno, without a permission", async (test) => {
  const deno = executable(test, "deno", "@deno/linux-x64-glibc@2", "@deno/linux-x64-glibc/deno");
  const cwd = await openProject();
  const { stdout } = await run(deno, ["run", "--no-prompt", "program.mjs"], {
    cwd,
    env: { DENO_DIR: join(cwd, "deno"), DENO_NO_UPDATE_CHECK: "1" },
  });
  expect(wrongIn(stdout)).toEqual([]);
});

// The first date on which nodejs_compat has what the library uses, and one of today's.
it.for(["2024-09-23", "2026-01-01"])("verifies on Cloudflare Workers of %s", async (date, test) => {
  const specifier = "@cloudflare/workerd-linux-64@1";
  const workerd = executable(test, "workerd", specifier, "@cloudflare/workerd-linux-64/bin/workerd");
  const cwd = await openProject();
  const modules = {
    "worker.mjs": "worker.mjs",
    "library-vectors.mjs": "library-vectors.mjs",
    "data.mjs": "data.mjs",
    "paylink-webhooks": "node_modules/paylink-webhooks/index.mjs",
  };
  const embedded = Object.entries(modules).map(
    ([name, file]) => `(name = "${name}", esModule = embed "${file}")`,
  );
  writeFileSync(
    join(cwd, "config.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = .worker)]);
const worker :Workerd.Worker = (modules = [${embedded.join(", ")}],
  compatibilityDate = "${date}", compatibilityFlags = ["nodejs_compat"]);`,
  );
  const { stdout, stderr } = await run(workerd, ["test", "config.capnp"], { cwd });
  expect(wrongIn(stdout + stderr)).toEqual([]);
});
