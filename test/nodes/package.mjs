// Packs paylink and tries the package on every Node: installed offline and without scripts, in an empty home.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodes, npm } from "./nodes.mjs";

const MB = 1_000_000;
const PACKED = { bar: 1 * MB, what: "packed npm package" };
const INSTALLED = { bar: 4 * MB, what: "installed, without the optional SQLite of Node 20" };

const workshop = mkdtempSync(join(tmpdir(), "paylink-package-"));
const folder = (name) => {
  const path = join(workshop, name);
  mkdirSync(path, { recursive: true });
  return path;
};

/** The only step with a network: what the package needs goes into the cache. */
function fillCache(tarball, cache) {
  const prefix = folder("filling");
  npm(process.execPath, [
    "install",
    "--global",
    "--ignore-scripts",
    "--prefix",
    prefix,
    "--cache",
    cache,
    tarball,
  ]);
}

/** Installs the package for one Node and gives the folder that it lies in. */
function install(tarball, cache, { version, node, folder: path }) {
  const [prefix, home] = [folder(`prefix-${version}`), folder(`home-${version}`)];
  const args = ["install", "--global", "--offline", "--ignore-scripts", "--prefix", prefix, "--cache", cache];
  npm(node, [...args, tarball], { PATH: path, HOME: home });
  const run = (...words) =>
    execFileSync(join(prefix, "bin/paylink"), words, {
      encoding: "utf8",
      stdio: "pipe",
      env: { PATH: path, HOME: home },
    });
  const said = run("--version").trim();
  const steps = run("demo").trim().split("\n");
  if (!steps.every((line) => line.startsWith("✓"))) throw new Error(steps.join("\n"));
  process.stdout.write(`Node ${version.padEnd(9)} paylink ${said}, demo: ${steps.length} steps\n`);
  return join(prefix, "lib/node_modules/paylink");
}

/** Bytes of the files in a folder, but for the packages that npm put below it. */
function sizeOf(path) {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.name !== "node_modules")
    .map((entry) =>
      entry.isDirectory() ? sizeOf(join(path, entry.name)) : statSync(join(path, entry.name)).size,
    )
    .reduce((sum, size) => sum + size, 0);
}

function report({ what, bar }, size) {
  process.stdout.write(`| ${what} | ≤ ${bar / MB} MB | ${(size / MB).toFixed(2)} MB |\n`);
  if (size > bar) process.exitCode = 1;
}

try {
  const [{ filename }] = JSON.parse(
    npm(process.execPath, ["pack", "--json", "--pack-destination", workshop]),
  );
  const tarball = join(workshop, filename);
  const cache = folder("cache");
  fillCache(tarball, cache);
  const installed = nodes(folder("nodes")).map((each) => install(tarball, cache, each));
  report(PACKED, statSync(tarball).size);
  report(INSTALLED, sizeOf(installed[0]));
} finally {
  rmSync(workshop, { recursive: true, force: true });
}
