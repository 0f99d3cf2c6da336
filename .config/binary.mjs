/** Makes `binary/paylink`, one executable of dist/ and Node, which runs where no Node is installed. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileFunction } from "node:vm";
import { nodeExecutable } from "../test/nodes/nodes.mjs";

/** The Node in the executable. Node 26 needs libatomic, which is missing on small Linux systems. */
const NODE = "24.21.0";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
const LOADER = fileURLToPath(new URL("loader.cjs", import.meta.url));
const FOLDER = fileURLToPath(new URL("../binary", import.meta.url));
const NOTICES = "THIRD-PARTY-NOTICES.txt";
const POSTJECT = createRequire(import.meta.url).resolve("postject/dist/cli.js");

/**
 * The files of dist/ by name, with the compiled code of each script, which makes the start faster.
 * @param {string} work a folder for the files that are made here
 */
function assets(work) {
  const files = readdirSync(DIST, { withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = Object.fromEntries(files.map(({ name }) => [name, join(DIST, name)]));
  /**
   * @param {string} name
   * @param {string | Buffer} data
   */
  const add = (name, data) => {
    paths[name] = join(work, name);
    writeFileSync(join(work, name), data);
  };
  for (const { name } of files) if (name.endsWith(".js")) add(`${name}.cache`, compiled(name));
  add(
    NOTICES,
    `${readFileSync(join(DIST, NOTICES), "utf8")}\n${"-".repeat(80)}\n\nNode.js ${NODE}\n\n${licence()}`,
  );
  return { ...paths, [basename(LOADER)]: LOADER };
}

/**
 * The code cache of a script, which is compiled as the loader does it.
 * @param {string} name
 */
function compiled(name) {
  const parameters = ["exports", "require", "module", "__filename", "__dirname"];
  const code = readFileSync(join(DIST, name), "utf8");
  const { cachedData } = compileFunction(code, parameters, { filename: name, produceCachedData: true });
  if (cachedData === undefined) throw new Error(`Node compiled ${name} without a code cache.`);
  return cachedData;
}

/** The licences of Node and what it contains. */
function licence() {
  const folder = dirname(process.execPath);
  const path = [join(folder, "LICENSE"), join(folder, "../LICENSE")].find((file) => existsSync(file));
  if (path === undefined) throw new Error(`The folder of ${process.execPath} has no LICENSE.`);
  return readFileSync(path, "utf8");
}

/** @param {string} work */
function make(work) {
  const blob = join(work, "blob");
  const config = {
    main: LOADER,
    output: blob,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    // NODE_OPTIONS is meant for another program: it could load code into this one, or keep it from starting.
    execArgvExtension: "none",
    assets: assets(work),
  };
  writeFileSync(join(work, "config.json"), JSON.stringify(config));
  const run = (/** @type {string} */ command, /** @type {string[]} */ ...args) =>
    execFileSync(command, args, { stdio: "pipe" });
  run(process.execPath, "--experimental-sea-config", join(work, "config.json"));

  const isMac = process.platform === "darwin";
  const executable = join(FOLDER, process.platform === "win32" ? "paylink.exe" : "paylink");
  mkdirSync(FOLDER, { recursive: true });
  rmSync(executable, { force: true });
  copyFileSync(process.execPath, executable);
  chmodSync(executable, 0o755);
  // macOS runs no executable with a signature of other bytes, nor one without any on Apple silicon.
  if (isMac) run("codesign", "--remove-signature", executable);
  const segment = isMac ? ["--macho-segment-name", "NODE_SEA"] : [];
  const fuse = ["--sentinel-fuse", "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2"];
  run(process.execPath, POSTJECT, executable, "NODE_SEA_BLOB", blob, ...fuse, ...segment);
  if (isMac) run("codesign", "--sign", "-", executable);
}

if (process.versions.node === NODE) {
  const work = mkdtempSync(join(tmpdir(), "paylink-binary-"));
  try {
    make(work);
  } finally {
    rmSync(work, { recursive: true });
  }
} else {
  // The compiled code fits only the Node that made it.
  const { status } = spawnSync(nodeExecutable(NODE), [fileURLToPath(import.meta.url)], { stdio: "inherit" });
  process.exitCode = status ?? 1;
}
