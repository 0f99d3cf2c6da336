// Packs paylink and tries the package on every Node: installed offline and without scripts, in an empty home.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodes, npm } from "./nodes.mjs";

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

function tryOn(tarball, cache, { version, node, folder: path }) {
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
}

try {
  const [{ filename }] = JSON.parse(
    npm(process.execPath, ["pack", "--json", "--pack-destination", workshop]),
  );
  const tarball = join(workshop, filename);
  const cache = folder("cache");
  fillCache(tarball, cache);
  for (const each of nodes(folder("nodes"))) tryOn(tarball, cache, each);
} finally {
  rmSync(workshop, { recursive: true, force: true });
}
