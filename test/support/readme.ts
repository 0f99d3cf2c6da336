/** The README's fenced blocks, as a reader would copy them. */
import { readFileSync } from "node:fs";

export const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

/** The block of that language which begins with `opening`; throws if it is missing, so that no test passes without running it. */
export function readmeBlock(language: string, opening: string): string {
  const found = [...README.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].find(
    ([, tag, text = ""]) => tag === language && text.startsWith(opening),
  );
  if (found?.[2] === undefined)
    throw new Error(`The README has no ${language} block that begins with ${opening}`);
  return found[2];
}

/** Every fenced block, in order. */
export const readmeBlocks = (): { readonly language: string; readonly text: string }[] =>
  [...README.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));
