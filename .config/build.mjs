/**
 * Bundles the program into dist/, with the licences and the bill of materials of the packages in it, the skill for
 * agents and the changelog; and beside it the library, as a package of its own.
 */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { billOfMaterials, bundledPackages, notices } from "./bundled-packages.mjs";
import { buildLibrary } from "./library.mjs";
import { partsOfUndici } from "./parts-of-undici.mjs";
import { rawText } from "./raw-text.mjs";
import { replaceFolder } from "./replace-folder.mjs";

const root = new URL("../", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

const STAND_INS = fileURLToPath(new URL("stand-ins.mjs", import.meta.url));

/** @type {import("rolldown").Plugin} */
const importsOfPackages = {
  name: "imports-of-packages",
  resolveId: (imported, importer = "") =>
    (imported === "node:child_process" && /[\\/]commander[\\/]/.test(importer)) ||
    // No agent allows HTTP/2, bodies are bytes, never forms, and no proxy speaks SOCKS.
    (/client-h2\.js$|web\/fetch\/body\.js$|socks5-proxy-agent$/.test(imported) &&
      /[\\/]undici[\\/]/.test(importer)) ||
    // It looks for the user's home when it is loaded, and some users have none. conf is told its folder.
    (imported === "env-paths" && /[\\/]conf[\\/]/.test(importer)) ||
    // What measures a NATS server, and kinds of metrics that paylink does not have.
    (imported === "./bench" && /[\\/]nats-core[\\/]/.test(importer)) ||
    (/^\.\/lib\/(?:cluster|pushgateway|summary)$/.test(imported) && /[\\/]prom-client[\\/]/.test(importer))
      ? STAND_INS
      : // Where NODE_PG_FORCE_NATIVE is set for other programs, pg would look for a client in C that is not there.
        imported === "./native" && /[\\/]pg[\\/]/.test(importer)
        ? fileURLToPath(import.meta.resolve("pg/lib/client.js"))
        : null,
};

/** @type {Map<string, Set<string>>} */
const loaded = new Map();

/**
 * The modules that a file of src loads as soon as it is loaded, itself included.
 * @param {string} file
 * @param {import("rolldown").ChunkingContext} chunking
 */
function loadedBy(file, chunking) {
  const known = loaded.get(file);
  if (known !== undefined) return known;
  const modules = new Set([fileURLToPath(new URL(`src/${file}`, root))]);
  for (const id of modules)
    for (const imported of chunking.getModuleInfo(id)?.importedIds ?? []) modules.add(imported);
  loaded.set(file, modules);
  return modules;
}

/** What is loaded at a start, by a command, by a call of the service and by `create`; and the chunk of what it shares with the thread. */
const SHARED = [
  { file: "main.ts", chunk: "errors" },
  { file: "open-context.ts", chunk: "values" },
  { file: "service/open-client.ts", chunk: "records" },
  { file: "commands/create/create.ts", chunk: "outcome" },
];

/**
 * The thread loads what it shares with others without the rest of their chunks: it starts with three quarters of the processor time.
 * @type {import("rolldown").CodeSplittingNameFunction}
 */
const sharedWithThread = (id, chunking) =>
  loadedBy("store/sqlite/thread.ts", chunking).has(id)
    ? (SHARED.find(({ file }) => loadedBy(file, chunking).has(id))?.chunk ?? null)
    : null;

// What runs the earlier build, or builds at the same time, finds a whole one.
const built = new URL(`dist-${process.pid}/`, root);
rmSync(built, { recursive: true, force: true });
// Lazy CommonJS chunks: a run loads only what its command needs. A thread starts from a file of its own.
const { output } = await build({
  cwd: fileURLToPath(root),
  input: {
    entry: "src/entry.ts",
    "event-thread": "src/store/sqlite/thread.ts",
  },
  platform: "node",
  preserveEntrySignatures: "allow-extension",
  external: ["@photostructure/sqlite", "pg-cloudflare"],
  plugins: [rawText(), partsOfUndici(), importsOfPackages],
  resolve: {
    alias: { "ajv/dist/2020.js": STAND_INS, "ajv-formats": STAND_INS, "when-exit": STAND_INS },
  },
  transform: {
    define: {
      PAYLINK_VERSION: JSON.stringify(manifest.version),
      PAYLINK_ISSUES: JSON.stringify(manifest.bugs?.url ?? manifest.bugs ?? ""),
    },
  },
  output: {
    dir: fileURLToPath(built),
    format: "cjs",
    // The names of functions are for crash reports.
    minify: { mangle: { keepNames: { function: true, class: true } }, compress: true, codegen: true },
    comments: false,
    charset: "ascii",
    // One chunk each for what every start, every run, every command, every request and every call of the service load: each
    // file more costs 0.5 ms on a busy machine (startup bench).
    codeSplitting: {
      groups: [
        { name: "entry", test: /src.(?:entry|terminal.channel)\.ts$/, priority: 4 },
        // Finds the folder of Node's compile cache, which holds only what is loaded afterwards.
        { name: "env-paths", test: /env-paths/, priority: 3 },
        // What the thread shares with others: it is loaded without the rest of main and of the commands.
        {
          name: sharedWithThread,
          debugName: "shared with the thread",
          includeDependenciesRecursively: false,
          priority: 3,
        },
        { name: "main", test: /src.main\.ts$/, priority: 2 },
        {
          name: "command",
          test: /src.(?:open-context|open-account|open-stores|render.error-message|commands.(?:command|shared-flags))\.ts$/,
          priority: 1,
        },
        { name: "request", test: /src.commands.create.(?:command|create)\.ts$/ },
        {
          name: "client",
          test: /src.service.(?:open-client|sandbox)\.ts$/,
        },
      ],
    },
    dynamicImportInCjs: false,
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
  },
});
await buildLibrary(new URL("webhooks/", built));
copyFileSync(new URL("src/texts/SKILL.md", root), new URL("SKILL.md", built));
copyFileSync(new URL(".github/CHANGELOG.md", root), new URL("CHANGELOG.md", built));
const packages = bundledPackages(output);
writeFileSync(new URL("THIRD-PARTY-NOTICES.txt", built), notices(packages));
writeFileSync(new URL("sbom.cdx.json", built), `${JSON.stringify(billOfMaterials(manifest, packages))}\n`);
replaceFolder(built, new URL("dist", root));
