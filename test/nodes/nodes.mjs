/** The Node versions that paylink supports, each as a folder for the PATH that holds only that Node. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { installed } from "./installed.mjs";

export const MAJORS = ["20", "22", "24", "26"];

/** Each version is an npm package. */
const PACKAGE = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

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
const executable = (major) =>
  process.versions.node.startsWith(`${major}.`)
    ? process.execPath
    : join(installed(major, [`${PACKAGE}@${major}`]), PACKAGE, "bin/node");
