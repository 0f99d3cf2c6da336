/**
 * Runs the tests that a change touches: `npm run test:changed`, or `-- main` for what differs from main. A test that runs the program is
 * touched if it names a command that loads a changed file; another, if it imports one or names a changed file that is no code.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const [since = "HEAD", ...flags] = process.argv.slice(2);

/** @param {string[]} args */
const git = (...args) =>
  execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
const changed = [...git("diff", "--name-only", since), ...git("ls-files", "--others", "--exclude-standard")];

/** @param {string} file */
const textOf = (file) => readFileSync(join(root, file), "utf8");

/** @param {string} folder */
const sourcesIn = (folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => /\.(?:ts|mjs|js|cjs)$/.test(file));

const IMPORT = /(?:\bfrom |^import |\bimport\()"(\.[^"]+)"/gm;
/** @type {Map<string, string[]>} */
const imports = new Map(
  [...sourcesIn("src"), ...sourcesIn("test")].map((file) => [
    file,
    [...textOf(file).matchAll(IMPORT)].map(([, to = ""]) => join(dirname(file), to)),
  ]),
);

/**
 * What a file loads, itself included; not what the files of `end` load.
 * @param {string[]} files
 * @param {(file: string) => boolean} end
 */
function loadedBy(files, end = () => false) {
  const found = new Set(files);
  for (const file of found)
    if (!end(file)) for (const imported of imports.get(file) ?? []) found.add(imported);
  return found;
}

const PROGRAM = "src/program.ts";
/** The file of each command by its name. */
const commands = new Map(
  [...textOf(PROGRAM).matchAll(/^ {4}(\w+): \[[^\]]*?import\("(\.\/commands\/[^"]+)"\)/gm)].map(
    ([, name = "", file = ""]) => [name, join("src", file)],
  ),
);
if (commands.size === 0) throw new Error(`${PROGRAM} lists its commands in another way than is read here`);
const loads = new Map([...commands].map(([name, file]) => [name, loadedBy([file])]));
/** @param {string} file */
const isCode = (file) => imports.has(file) || /^(?:src|bin|\.config)\/|^package/.test(file);
/** What is in no command's files is loaded by all, or makes the program. */
const changedCommands = [...commands.keys()].filter((name) =>
  changed.some((file) => {
    const isBuilt = file.startsWith("src/") || file.startsWith("bin/") || file === ".config/build.mjs";
    return isBuilt && (loads.get(name)?.has(file) || ![...loads.values()].some((files) => files.has(file)));
  }),
);

/** They run the program, in the test's process or in one of its own: what they import is not what a test is about. */
const RUNNERS = ["context", "paylink", "screen", "shell"].map((name) => `test/support/${name}.ts`);

/** @param {string} test */
function isTouched(test) {
  const parts = [...loadedBy([test], (file) => RUNNERS.includes(file) || !file.startsWith("test/"))];
  const own = loadedBy(
    parts.filter((file) => !RUNNERS.includes(file)),
    (file) => RUNNERS.includes(file),
  );
  if (changed.some((file) => own.has(file) || parts.includes(file))) return true;
  const text = parts
    .filter((file) => file.startsWith("test/") && existsSync(join(root, file)))
    .map(textOf)
    .join("\n");
  if (changed.some((file) => !isCode(file) && text.includes(basename(file)))) return true;
  return (
    parts.some((file) => RUNNERS.includes(file)) &&
    changedCommands.some((name) => new RegExp(`(?:["'\`]|paylink |start)${name}\\b`, "i").test(text))
  );
}

const tests = sourcesIn("test").filter(
  (file) => file.endsWith(".test.ts") && !/^test\/(?:package|browser)\//.test(file) && isTouched(file),
);
process.stdout.write(`${tests.length} test files, for ${changed.length} changed files\n`);
if (tests.length > 0) {
  const vitest = ["vitest", "run", "--config", ".config/vitest.config.mts", ...flags, ...tests];
  process.exitCode = spawnSync("npx", vitest, { cwd: root, stdio: "inherit" }).status ?? 1;
}
