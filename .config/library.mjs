/** Bundles `paylink/webhooks` into dist/webhooks/ for both module systems, each with its types in one file. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { isolatedDeclarationSync } from "rolldown/experimental";

const root = new URL("../", import.meta.url);
const ENTRY = new URL("src/library/webhooks.ts", root);

export async function buildLibrary() {
  const { output } = await build({
    input: fileURLToPath(ENTRY),
    platform: "node",
    // Our own modules and the packages in the bundle do nothing when they load, so that what is not used goes.
    treeshake: { moduleSideEffects: false },
    // Deno has no global Buffer.
    transform: { inject: { Buffer: ["node:buffer", "Buffer"] } },
    output: { file: fileURLToPath(file("index.cjs")), format: "cjs", minify: true, comments: false },
  });
  // One module for both systems: two would have two classes WebhookError, and two stores of keys.
  const names = output[0].exports.join(", ");
  writeFileSync(
    file("index.mjs"),
    `import webhooks from "./index.cjs";\nexport const { ${names} } = webhooks;\n`,
  );
  writeFileSync(file("index.d.cts"), declarations());
  writeFileSync(file("index.d.mts"), 'export * from "./index.cjs";\n');
}

/** @param {string} name */
const file = (name) => new URL(`dist/webhooks/${name}`, root);

/** The types of the entry and of the sources that they name, as one file that exports what the entry does. */
function declarations() {
  /** @type {Map<string, string>} */
  const files = new Map();
  collect(ENTRY, files);
  return [...files.values()].join("\n");
}

const IMPORT = /^import [^;]* from "(.+)";\n/gm;
const REEXPORT = /^export (type )?(\{[^}]*\}) from "(.+)";\n/gm;

/**
 * @param {URL} file
 * @param {Map<string, string>} files the declarations of each file, after those that it names
 */
function collect(file, files) {
  if (files.has(file.href)) return;
  files.set(file.href, "");
  const { code, errors } = isolatedDeclarationSync(fileURLToPath(file), readFileSync(file, "utf8"));
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file.href}: ${error.message}`);
  const names = [...code.matchAll(IMPORT), ...code.matchAll(REEXPORT)].map((match) => match.at(-1) ?? "");
  for (const name of names) {
    if (!name.startsWith(".")) throw new Error(`${file.href}: the types would import ${name}.`);
    collect(new URL(name, file), files);
  }
  const own = code.replace(IMPORT, "");
  files.delete(file.href);
  files.set(
    file.href,
    file.href === ENTRY.href
      ? own.replace(REEXPORT, "export $1$2;\n")
      : own.replace(/^export \{\};$|^export /gm, ""),
  );
}
