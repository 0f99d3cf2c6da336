/** What only `npm run test:package` and `test:nodes` need: installed from npm, and kept until the next `npm ci`. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const CACHE = resolve(import.meta.dirname, "../../node_modules/.cache/nodes");

/** npm passes its own path to the scripts that it runs. The other versions of Node have no npm beside them. */
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
 * The folder `node_modules` of the packages, without what their install scripts would fetch. Throws where npm cannot install them.
 * @param {string} name of the folder that they have for themselves
 * @param {readonly string[]} packages such as `rollup@4`
 */
export function installed(name, packages) {
  const prefix = join(CACHE, name);
  const complete = join(prefix, `${packages.join(" ").replaceAll("/", "+")}.installed`);
  if (!existsSync(complete)) {
    mkdirSync(prefix, { recursive: true });
    npm(process.execPath, ["install", "--ignore-scripts", "--prefix", prefix, ...packages]);
    writeFileSync(complete, "");
  }
  return join(prefix, "node_modules");
}
