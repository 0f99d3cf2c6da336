// What a package brings and this program does not use, replaced as the bundle is made.
import { fileURLToPath } from "node:url";

const file = (name) => fileURLToPath(new URL(`./stand-ins/${name}.mjs`, import.meta.url));

/** commander's alone: other packages start programs. */
export const commanderWithoutPrograms = {
  name: "commander-without-programs",
  resolveId: (id, importer = "") =>
    id === "node:child_process" && /[/\\]node_modules[/\\]commander[/\\]/.test(importer)
      ? file("child-process")
      : null,
};

/** Of each currency the code and its digits; the names and countries of ISO 4217 are most of the data. */
export const currenciesAsDigits = {
  name: "currencies-as-digits",
  load: async (id) => {
    if (!/[/\\]node_modules[/\\]currency-codes[/\\]data\.js$/.test(id)) return null;
    const { default: currencies } = await import(id);
    const digits = currencies.map(({ code, digits }) => ({ code, digits }));
    return `module.exports = ${JSON.stringify(digits)};`;
  },
};
