// Bundles the program into dist/, and writes beside it the notices of the packages that went in.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { asFunctions, builtinsUncopied, currenciesAsDigits, standIns } from "./lighter.mjs";

const root = new URL("../", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

/** Parts of packages that this program must not have, or need not; each file says why. */
const standIn = (name) => fileURLToPath(new URL(`./stand-ins/${name}.mjs`, import.meta.url));

/**
 * What one run loads together lies together, with all that it imports: opening a file takes longer than reading it. What
 * the first group has stays there.
 */
const TOGETHER = [
  ["main", /src\/(?:main|commands\/create\/create)\.ts$/],
  ["network", /src\/(?:commands\/account|commands\/create\/answer|http\/send)\.ts$/],
].map(([name, test], index, { length }) => ({ name, test, priority: length - index }));

const bundle = async (input, plugins, define, output) => {
  const { output: chunks } = await build({
    cwd: fileURLToPath(root),
    input,
    platform: "node",
    preserveEntrySignatures: "allow-extension",
    external: ["@photostructure/sqlite"],
    plugins: [standIns, builtinsUncopied, currenciesAsDigits, ...plugins],
    resolve: {
      alias: {
        "ajv/dist/2020.js": standIn("ajv"),
        "ajv-formats": standIn("ajv"),
        "when-exit": standIn("when-exit"),
      },
    },
    transform: { define: { PAYLINK_VERSION: JSON.stringify(version), ...define } },
    output: { format: "cjs", minify: true, dynamicImportInCjs: false, ...output },
  });
  return chunks;
};

rmSync(new URL("dist", root), { recursive: true, force: true });
// Lazy CommonJS chunks: what a run loads is a fraction of the whole. The name of each changes with its content, which
// the code that is kept compiled of them relies on.
const program = await bundle(
  { main: "src/main.ts" },
  [asFunctions],
  {},
  {
    dir: "dist/program",
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: { groups: TOGETHER },
  },
);
const { fileName } = program.find(({ isEntry }) => isEntry);
const entry = await bundle(
  { entry: "src/entry.ts" },
  [],
  { PAYLINK_PROGRAM: JSON.stringify(fileName) },
  { dir: "dist" },
);
// A thread begins with a file of its own.
const thread = await bundle({ "event-thread": "src/store/events/event-thread.ts" }, [], {}, { dir: "dist" });
writeFileSync(new URL("dist/help.txt", root), help());
writeFileSync(new URL("dist/THIRD-PARTY-NOTICES.txt", root), notices([...program, ...entry, ...thread]));

/** What the program itself says; only a lone `--help` is answered from the file that this goes into. */
function help() {
  const binary = fileURLToPath(new URL("bin/paylink.js", root));
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" };
  return execFileSync(process.execPath, [binary, "--no-input", "--help"], { encoding: "utf8", env });
}

/** The licence of every package of which a module was bundled. */
function notices(chunks) {
  const folders = chunks
    .flatMap((chunk) => Object.keys(chunk.modules ?? {}))
    .map((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+\//.exec(path.replaceAll("\\", "/"))?.[0])
    .filter((folder) => folder !== undefined);
  return [...new Set(folders)]
    .toSorted((one, other) => one.localeCompare(other))
    .map(noticeOf)
    .join(`\n${"-".repeat(80)}\n`);
}

function noticeOf(folder) {
  const {
    name,
    version: packageVersion,
    license,
  } = JSON.parse(readFileSync(`${folder}package.json`, "utf8"));
  return `${name} ${packageVersion} (${license})\n\n${licenceText(folder)}`;
}

function licenceText(folder) {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  return file === undefined
    ? "The package ships no licence text of its own.\n"
    : readFileSync(`${folder}${file}`, "utf8");
}
