// What packages bring and this program does not use, left out as the bundle is made: loading it takes time.
import { fileURLToPath } from "node:url";

/** A module that somebody asks for, and the file that it gets instead; each file says why. */
const REPLACED = [
  { from: /[/\\]node_modules[/\\]commander[/\\]/, id: "node:child_process", by: "child-process" },
  { from: /[/\\]node_modules[/\\]chalk[/\\]/, id: "#supports-color", by: "supports-color" },
  { from: /[/\\]src[/\\]/, id: "undici", kind: "import-statement", by: "undici" },
  { from: /[/\\]src[/\\]/, id: "undici", kind: "dynamic-import", by: "undici-proxy" },
  { from: /[/\\]node_modules[/\\]undici[/\\]/, id: "./client-h2.js", by: "client-h2" },
  { from: /[/\\]node_modules[/\\]undici[/\\]/, id: "node:http", by: "http" },
  { from: /[/\\]node_modules[/\\]undici[/\\]/, id: "../web/fetch/body.js", by: "fetch-body" },
];

export const standIns = {
  name: "stand-ins",
  resolveId: (asked, importer = "", how) => {
    const found = REPLACED.find(
      ({ from, id, kind = how.kind }) => id === asked && kind === how.kind && from.test(importer),
    );
    return found && fileURLToPath(new URL(`./stand-ins/${found.by}.mjs`, import.meta.url));
  },
};

/**
 * Of each currency the code and its digits; the names and countries of ISO 4217 are most of the data. As a module, since
 * of a list in CommonJS a copy is made with a getter for each member.
 */
export const currenciesAsDigits = {
  name: "currencies-as-digits",
  load: async (id) => {
    if (!/[/\\]node_modules[/\\]currency-codes[/\\]data\.js$/.test(id)) return null;
    const { default: currencies } = await import(id);
    return `export default ${JSON.stringify(currencies.map(({ code, digits }) => ({ code, digits })))};`;
  },
};

/** Node's modules as they are: a default import makes a copy of all that they hold, of which `process` holds much. */
export const builtinsUncopied = {
  name: "builtins-uncopied",
  transform: (code, id) =>
    /[/\\]node_modules[/\\]/.test(id)
      ? code.replace(/^import (\w+) from (["'])(node:[\w/]+)\2;?$/gm, 'const $1 = require("$3");')
      : null,
};

/**
 * Each file as one expression, the function that Node would make of a CommonJS module, and in ASCII: so it is compiled as
 * it was read, and read twice as fast.
 */
export const asFunctions = {
  name: "as-functions",
  generateBundle: (_options, files) => {
    for (const file of Object.values(files))
      file.code = `(function (exports, require, module, __filename, __dirname) {${file.code.replace(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      )}\n})`;
  },
};
