// The Nodes that paylink promises to run on, each as a folder for the PATH that holds nothing but that Node.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";

const MAJORS = ["20", "22", "24", "26"];

/** Packages of the registry that hold one Node each; npm keeps what it fetched until the next `npm ci`. */
const KEPT = resolve(import.meta.dirname, "../../node_modules/.cache/nodes");
const PACKAGE = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

/** npm says where it is to what it runs. Another Node would find no npm beside it. */
const NPM = process.env.npm_execpath ?? "";

/** Runs npm on some Node, and gives what it prints. */
export function npm(node, args, env = {}) {
  if (NPM === "") throw new Error("Run this by npm: npm run test:package, npm run test:nodes");
  const options = { encoding: "utf8", env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] };
  return execFileSync(node, [NPM, "--loglevel=error", "--no-audit", "--no-fund", ...args], options);
}

/** Those asked for, or all: the version, the executable, and the folder with it alone, made in `shelf`. */
export function nodes(shelf, majors = MAJORS) {
  return majors.map((major) => {
    const node = executable(major);
    const folder = join(shelf, major);
    mkdirSync(folder, { recursive: true });
    symlinkSync(node, join(folder, "node"));
    const version = execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
    return { version, node, folder };
  });
}

function executable(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const prefix = join(KEPT, major);
  const found = join(prefix, "node_modules", PACKAGE, "bin/node");
  if (!existsSync(found)) npm(process.execPath, ["install", "--prefix", prefix, `${PACKAGE}@${major}`]);
  return found;
}
