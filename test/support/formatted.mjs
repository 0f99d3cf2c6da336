/** Texts that tests and tools write into files of the repository, formatted as those. */
import { readFileSync } from "node:fs";
import { format } from "oxfmt";

const { printWidth } = JSON.parse(readFileSync(new URL("../../.oxfmtrc.json", import.meta.url), "utf8"));

/**
 * The text as the formatter leaves it in this file.
 * @param {string} path
 * @param {string} text
 */
export async function formatted(path, text) {
  const { code, errors } = await format(path, text, { printWidth });
  if (errors.length > 0) throw new Error(`${path}: ${errors.map(({ message }) => message).join("; ")}`);
  return code;
}
