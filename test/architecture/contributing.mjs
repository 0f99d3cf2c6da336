/** Writes the table of folders into CONTRIBUTING: `npm run docs`. The architecture test fails when it is out of date. */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { formatted } from "../support/formatted.mjs";
import { COMMANDS, FOLDERS } from "./folders.mjs";

export const CONTRIBUTING = resolve(import.meta.dirname, "../../.github/CONTRIBUTING.md");

/** @param {readonly string[]} names */
const asCode = (names) => names.map((name) => `\`${name}\``).join(", ");

/**
 * Folders without their files, and packages without their modules: the table fits a screen.
 * @param {readonly string[]} targets
 */
const shortly = (targets) =>
  asCode([
    ...new Set(
      targets
        .filter((target) => !target.startsWith("node:"))
        .map((target) => (target.startsWith("@") ? target : (target.split("/")[0] ?? ""))),
    ),
  ]);

/** @returns {string} */
function table() {
  const rows = Object.entries(FOLDERS).map(([name, { holds, mayImport }]) => [
    asCode([name]),
    holds,
    shortly(mayImport),
  ]);
  const commands = ["`commands`", COMMANDS.holds, `everything, except each other, and what has one place`];
  return [["folder", "what belongs there", "may import"], ["---", "---", "---"], ...rows, commands]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/**
 * The text with its table replaced by the present one.
 * @param {string} text
 */
export async function withTable(text) {
  const replaced = text.replace(
    /(?<=<!-- folders -->\n)[^]*(?=<!-- \/folders -->)/,
    () => `\n${table()}\n\n`,
  );
  return formatted(CONTRIBUTING, replaced);
}

if (process.argv[1] === import.meta.filename)
  writeFileSync(CONTRIBUTING, await withTable(readFileSync(CONTRIBUTING, "utf8")));
