/** Gives a module another file in the bundle, and fails the build where a replacement matches nothing. */
import { fileURLToPath } from "node:url";

/**
 * @param {Readonly<Record<string, URL>>} files the file for each module, by the name it is imported by
 * @returns {import("rolldown").Plugin}
 */
export function replacements(files) {
  const unmatched = new Set(Object.keys(files));
  return {
    name: "replacements",
    resolveId(imported) {
      const file = files[imported];
      if (file === undefined) return null;
      unmatched.delete(imported);
      return fileURLToPath(file);
    },
    buildEnd(error) {
      if (error === undefined && unmatched.size > 0)
        throw new Error(`Nothing imports ${[...unmatched].join(", ")}: remove the replacement.`);
    },
  };
}
