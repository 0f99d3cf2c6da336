/** The Node versions that paylink supports, each as a folder for the PATH that holds only that Node. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { installed } from "./installed.mjs";

export const MAJORS = ["20", "22", "24", "26"];

/** Each version is an npm package. */
const IS_WINDOWS = process.platform === "win32";
const PACKAGE = `node-${IS_WINDOWS ? "win" : process.platform}-${process.arch}`;
const EXECUTABLE = IS_WINDOWS ? "bin/node.exe" : "bin/node";

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
    const node = nodeExecutable(major);
    const folder = join(parent, major);
    mkdirSync(folder, { recursive: true });
    symlinkSync(node, join(folder, "node"));
    const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
    return { version, node, folder };
  });
}

/**
 * The executable of a version, such as 22 or 24.21.0: the Node that runs this, or that of npm. Throws where npm has none.
 * @param {string} version
 */
export const nodeExecutable = (version) =>
  `${process.versions.node}.`.startsWith(`${version}.`)
    ? process.execPath
    : join(installed(version, [`${PACKAGE}@${version}`]), PACKAGE, EXECUTABLE);
