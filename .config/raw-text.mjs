/** Bundles `./file?raw` as the file's text, as vitest imports it. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

const SUFFIX = "?raw";

/** @returns {import("rolldown").Plugin} */
export const rawText = () => ({
  name: "raw-text",
  resolveId(imported, importer) {
    if (!imported.endsWith(SUFFIX) || importer === undefined) return null;
    return resolve(dirname(importer), imported);
  },
  load(id) {
    if (!id.endsWith(SUFFIX)) return null;
    const text = readFileSync(id.slice(0, -SUFFIX.length), "utf8");
    return { code: `export default ${JSON.stringify(text)};`, moduleType: "js" };
  },
});
