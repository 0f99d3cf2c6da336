/** Packs paylink and tries the package on every Node: installed offline, in an empty home. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npm } from "./installed.mjs";
import { nodes } from "./nodes.mjs";

const root = mkdtempSync(join(tmpdir(), "paylink-package-"));

/** @param {string} name */
function createFolder(name) {
  const path = join(root, name);
  mkdirSync(path, { recursive: true });
  return path;
}

/** What Node 20 needs beside paylink. */
const SQLITE = "@photostructure/sqlite";

/**
 * Installs once with the network, so that the cache holds what the package needs.
 * @param {string} tarball
 * @param {string} cache
 */
function fillCache(tarball, cache) {
  const folders = ["--prefix", createFolder("filling"), "--cache", cache];
  npm(process.execPath, ["install", "--global", ...folders, tarball, `${SQLITE}@1`]);
}

/** @param {string} node */
const hasSqlite = (node) =>
  execFileSync(node, ["-p", 'module.constructor.isBuiltin("node:sqlite")'], { encoding: "utf8" }).trim() ===
  "true";

/**
 * The arguments of npm in the message of a paylink that finds no SQLite.
 * @param {(...words: string[]) => string} run
 */
function installCommand(run) {
  try {
    run("demo");
  } catch (error) {
    const { status, stderr } = /** @type {{ status: number, stderr: string }} */ (error);
    const [, words = ""] = /: npm (install --global .*)/.exec(stderr) ?? [];
    if (status === 2 && words.includes(SQLITE)) return words.split(" ");
    throw error;
  }
  throw new Error("paylink needs SQLite, and did not say so");
}

/**
 * @param {string} tarball
 * @param {string} cache
 * @param {import("./nodes.mjs").NodeVersion} node
 */
function tryOn(tarball, cache, { version, node, folder }) {
  const prefix = createFolder(`prefix-${version}`);
  const env = { PATH: folder, HOME: createFolder(`home-${version}`) };
  const args = ["--offline", "--prefix", prefix, "--cache", cache];
  npm(node, ["install", "--global", ...args, tarball], env);
  /** @param {string[]} words */
  const run = (...words) =>
    execFileSync(join(prefix, "bin/paylink"), words, { encoding: "utf8", stdio: "pipe", env });
  const printed = run("--version").trim();
  // npm runs the package's install script in a shell.
  if (!hasSqlite(node)) npm(node, [...installCommand(run), ...args], { HOME: env.HOME });
  const steps = run("demo").trim().split("\n");
  if (!steps.every((line) => line.startsWith("✓"))) throw new Error(steps.join("\n"));
  process.stdout.write(`Node ${version.padEnd(9)} paylink ${printed}, demo: ${steps.length} steps\n`);
}

try {
  const [{ filename }] = JSON.parse(npm(process.execPath, ["pack", "--json", "--pack-destination", root]));
  const tarball = join(root, filename);
  const cache = createFolder("cache");
  fillCache(tarball, cache);
  for (const node of nodes(createFolder("nodes"))) tryOn(tarball, cache, node);
} finally {
  rmSync(root, { recursive: true, force: true });
}
