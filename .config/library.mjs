/** Bundles `paylink/webhooks`, which the package paylink-webhooks is too, for both module systems, with its types in one file. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { isolatedDeclarationSync } from "rolldown/experimental";

const root = new URL("../", import.meta.url);
const ENTRY = new URL("src/library/webhooks.ts", root);

/**
 * Resolves with what is in the bundle.
 * @param {URL} folder where the files are written
 * @param {{ readable: boolean }} options readable code is twice as large, and has a source map
 */
export async function buildLibrary(folder, { readable }) {
  /** @param {string} name */
  const file = (name) => new URL(name, folder);
  const { output } = await build({
    input: fileURLToPath(ENTRY),
    platform: "node",
    // Our own modules and the packages in the bundle do nothing when they load, so that what is not used goes.
    treeshake: { moduleSideEffects: false },
    // Deno has no global Buffer.
    transform: { inject: { Buffer: ["node:buffer", "Buffer"] } },
    output: {
      file: fileURLToPath(file("index.mjs")),
      format: "esm",
      comments: false,
      minify: !readable,
      // It names files and lines. With the sources in it, it would be half of the package.
      sourcemap: readable ? "hidden" : false,
      sourcemapExcludeSources: true,
      // Relative to the project: the package must not name folders of the machine that built it.
      sourcemapPathTransform: (source, map) =>
        relative(fileURLToPath(root), resolve(dirname(map), source)).replaceAll("\\", "/"),
    },
  });
  const code = output[0].code.trimEnd();
  // Both files have the same lines, and so one map.
  const end = readable ? "\n//# sourceMappingURL=index.mjs.map\n" : "\n";
  writeFileSync(file("index.mjs"), code + end);
  writeFileSync(file("index.cjs"), commonJs(code) + end);
  writeFileSync(file("index.d.cts"), declarations());
  writeFileSync(file("index.d.mts"), 'export * from "./index.cjs";\n');
  return output;
}

const IMPORTS = /^(?:import\s*\{[^}]*\}\s*from\s*"node:[^"]+";\s*)+/;
const EXPORTS = /export\s*\{([^}]*)\};$/;

/**
 * The same code as CommonJS. Each module system has a file of its own: bundlers cannot make ESM of a `require` of Node's modules, and
 * Workers know no `require`.
 * @param {string} code
 */
function commonJs(code) {
  const imports = IMPORTS.exec(code)?.[0];
  const exports = EXPORTS.exec(code)?.[1];
  if (imports === undefined || exports === undefined)
    throw new Error("The library does not begin with its imports and end with its exports.");
  const required = imports.replace(
    /import\s*(\{[^}]*\})\s*from\s*("[^"]+")/g,
    (_, names, from) => `const ${names.replaceAll(" as ", ": ")} = require(${from})`,
  );
  const members = exports.split(",").map((each) => {
    const [own = "", name = own] = each.trim().split(" as ");
    return `${name}: ${own}`;
  });
  return `"use strict"; ${required}${code.slice(imports.length).replace(EXPORTS, `module.exports = { ${members.join(", ")} };`)}`;
}

/** The types of the entry and those that they name, as one file that exports what the entry does. */
function declarations() {
  /** @type {Map<string, string>} */
  const files = new Map();
  collect(ENTRY, files);
  const entry = files.get(ENTRY.href) ?? "";
  files.delete(ENTRY.href);
  return [...named(entry, statementsOf([...files.values()].join("\n"))), entry].join("\n");
}

/** With its comment. Only a comment or the next statement begins with a slash or a letter. */
const STATEMENT =
  /^(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(?:declare \w+|interface|type) (\w+).*\n(?:(?![a-z/]).*\n)*/gm;

/**
 * Each statement by the name that it declares, in the order of the text.
 * @param {string} text
 */
const statementsOf = (text) =>
  new Map([...text.matchAll(STATEMENT)].map(([statement, name = ""]) => [name, statement.trimEnd()]));

/**
 * The statements whose names occur in a text, or in one of them.
 * @param {string} text
 * @param {Map<string, string>} statements
 */
function named(text, statements) {
  const reached = new Set();
  const pending = [text];
  for (const one of pending)
    for (const word of one.replace(/\/\*[\s\S]*?\*\//g, "").match(/\w+/g) ?? []) {
      const statement = statements.get(word);
      if (statement === undefined || reached.has(statement)) continue;
      reached.add(statement);
      pending.push(statement);
    }
  return [...statements.values()].filter((statement) => reached.has(statement));
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
