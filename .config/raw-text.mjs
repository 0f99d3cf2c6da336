/** Imports a file as its text where its name ends in `?raw`, as Vite does. */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

const ENDING = "?raw";

/** @returns {import("rolldown").Plugin} */
export const rawText = () => ({
  name: "raw-text",
  resolveId: (name, importer) =>
    name.endsWith(ENDING) && importer !== undefined ? resolve(dirname(importer), name) : null,
  load: (id) =>
    id.endsWith(ENDING)
      ? `export default ${JSON.stringify(readFileSync(id.slice(0, -ENDING.length), "utf8"))};`
      : null,
});
