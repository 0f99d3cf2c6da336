/** The sources as the architecture test sees them: their names, their text, and which file imports which. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../../src");

export interface Source {
  /** The path in `src` without its extension: `receiver/events`. */
  readonly file: string;
  readonly text: string;
}

export interface Import {
  readonly file: string;
  /** Another source, or a package. */
  readonly target: string;
  /** Whether the target is there before the file runs: types, and what is imported when it is needed, are not. */
  readonly isAtStart: boolean;
}

export const readSources = (): Source[] =>
  readdirSync(ROOT, { recursive: true, encoding: "utf8" })
    // The texts that `paylink help` prints are no part of the program.
    .filter((name) => name.endsWith(".ts") && !name.startsWith("texts"))
    .map((name) => ({ file: withoutExtension(name), text: readFileSync(join(ROOT, name), "utf8") }));

const withoutExtension = (path: string): string => path.replaceAll("\\", "/").replace(/\.ts$/, "");

/** `import … from "x"`, `export … from "x"`, `import "x"` and `import("x")`. */
const IMPORT = /(^import |^(?:import|export) [^"'`;=()]*from |\bimport\()"([^"]+)"/gm;

const isAtStart = (words: string): boolean => !/^(?:import|export) type |^import\($/.test(words);

export function importsOf({ file, text }: Source): Import[] {
  const folder = dirname(join(ROOT, file));
  return [...text.matchAll(IMPORT)].map(([, words = "", specifier = ""]) => ({
    file,
    isAtStart: isAtStart(words),
    target: specifier.startsWith(".")
      ? withoutExtension(relative(ROOT, resolve(folder, specifier)))
      : specifier,
  }));
}

/** Each circle as the path that leads around it: `a → b → a`. Imports of types and lazy imports close none. */
export function circles(imports: readonly Import[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { file, target } of imports.filter((one) => one.isAtStart))
    targets.set(file, [...(targets.get(file) ?? []), target]);
  const finished = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file].join(" → "));
    else if (!finished.has(file)) {
      for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
      finished.add(file);
    }
  };
  for (const file of targets.keys()) visit(file, []);
  return found;
}
