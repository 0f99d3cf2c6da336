/** The Node versions that paylink supports, each as a folder for the PATH that holds only that Node. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

export const MAJORS = ["20", "22", "24", "26"];

/** Each version is an npm package; npm keeps what it fetched until the next `npm ci`. */
const CACHE = resolve(import.meta.dirname, "../../node_modules/.cache/nodes");
const PACKAGE = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

/** npm passes its own path to the scripts that it runs. The other versions have no npm beside them. */
const NPM = process.env["npm_execpath"] ?? "";

/**
 * Runs npm on the given Node and returns what it prints.
 * @param {string} node
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
export function npm(node, args, env) {
  if (NPM === "") throw new Error("Run this through npm: npm run test:package, npm run test:nodes");
  return execFileSync(node, [NPM, "--loglevel=error", "--no-audit", "--no-fund", ...args], {
    encoding: "utf8",
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/**
 * @typedef {object} NodeVersion
 * @property {string} version
 * @property {string} node The executable.
 * @property {string} folder Holds the executable alone.
 */

/**
 * The given versions, or all; their folders are created in `parent`.
 * @param {string} parent
 * @param {readonly string[]} [majors]
 * @returns {NodeVersion[]}
 */
export function nodes(parent, majors = MAJORS) {
  return majors.map((major) => {
    const node = executable(major);
    const folder = join(parent, major);
    mkdirSync(folder, { recursive: true });
    symlinkSync(node, join(folder, "node"));
    const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
    return { version, node, folder };
  });
}

/** @param {string} major */
function executable(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const prefix = join(CACHE, major);
  const path = join(prefix, "node_modules", PACKAGE, "bin/node");
  if (!existsSync(path)) npm(process.execPath, ["install", "--prefix", prefix, `${PACKAGE}@${major}`]);
  return path;
}
