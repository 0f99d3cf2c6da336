// Bundles the program into dist/, and writes beside it the notices of the packages that went in.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { currenciesAsDigits, standIns } from "./lighter.mjs";

const root = new URL("../", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

/** Parts of packages that this program must not have, or need not; each file says why. */
const standIn = (name) => fileURLToPath(new URL(`./stand-ins/${name}.mjs`, import.meta.url));

const bundle = await rolldown({
  cwd: fileURLToPath(root),
  input: { main: "src/main.ts", "event-thread": "src/store/event-thread.ts" },
  platform: "node",
  external: ["@photostructure/sqlite"],
  plugins: [standIns, currenciesAsDigits],
  resolve: {
    alias: {
      "ajv/dist/2020.js": standIn("ajv"),
      "ajv-formats": standIn("ajv"),
      "when-exit": standIn("when-exit"),
      // Its own modules stay its own: the stand-in asks for them.
      undici$: standIn("undici"),
    },
  },
  transform: { define: { PAYLINK_VERSION: JSON.stringify(version) } },
});

// Lazy CommonJS chunks: what --help and --version load is a fraction of the whole.
const { output } = await bundle.write({
  dir: "dist",
  format: "cjs",
  cleanDir: true,
  minify: true,
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
});
await bundle.close();
writeFileSync(new URL("dist/help.txt", root), help());
writeFileSync(new URL("dist/THIRD-PARTY-NOTICES.txt", root), notices(output));

/** What the program itself says; only a lone `--help` is answered from the file that this goes into. */
function help() {
  const binary = fileURLToPath(new URL("bin/paylink.js", root));
  return execFileSync(process.execPath, [binary, "--no-input", "--help"], { encoding: "utf8" }).trimEnd();
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
