/**
 * Starts the single executable: gives the files of dist/ to each other out of its assets, because `require` finds only Node's
 * own modules in it. A thread runs this text too, with the name of its file as the argument.
 */
"use strict";
const path = process.getBuiltinModule("node:path");
const { getAsset } = process.getBuiltinModule("node:sea");
const { compileFunction } = process.getBuiltinModule("node:vm");
const { isMainThread } = process.getBuiltinModule("node:worker_threads");

const folder = path.dirname(process.execPath);

/** @type {Map<string, { exports: any }>} */
const modules = new Map();

/** @param {string} name */
function load(name) {
  const known = modules.get(name);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  modules.set(name, module);
  const run = compileFunction(
    getAsset(name, "utf8"),
    ["exports", "require", "module", "__filename", "__dirname"],
    { filename: name, cachedData: Buffer.from(getAsset(`${name}.cache`)) },
  );
  run(module.exports, requireOwn, module, path.join(folder, name), folder);
  return module.exports;
}

/** @param {string} name */
function requireOwn(name) {
  if (name.startsWith(".")) return load(path.posix.basename(name));
  const module = process.getBuiltinModule(name);
  if (module !== undefined) return module;
  throw Object.assign(new Error(`The executable does not contain ${name}.`), { code: "MODULE_NOT_FOUND" });
}

if (isMainThread)
  load("entry.js")
    .run(process)
    .then(
      (/** @type {number} */ code) => (process.exitCode = code),
      (/** @type {unknown} */ error) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
        process.exitCode = 1;
      },
    );
else load(process.argv[2] ?? "");
