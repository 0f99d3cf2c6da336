/** Guides in a narrow terminal: sentences are wrapped between words, and what people copy is not. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { fitGuide } from "../../src/commands/help/guide-text.ts";

const GUIDES = new URL("../../src/texts/guides/", import.meta.url);

it("fills a paragraph that is too wide, below the head of its list", () => {
  const text = "1. One two three four,\n   five.\n     paylink create --amount 10 --currency EUR\n\nshort.\n";
  expect(fitGuide(text, 14)).toBe(
    "1. One two\n   three four,\n   five.\n     paylink create --amount 10 --currency EUR\n\nshort.\n",
  );
  expect(fitGuide(text, 80)).toBe(text);
});

it("leaves a script and a table as they are", () => {
  const text =
    "set -eu\nuntil grep -qs ready sandbox.jsonl; do sleep 0.1; done\n\n  name     what it is and does.\n";
  expect(fitGuide(text, 20)).toBe(text);
});

it.each(readdirSync(GUIDES))("%s keeps its words, and no sentence is wider than 80 columns", (name) => {
  const text = readFileSync(new URL(name, GUIDES), "utf8");
  const fitted = fitGuide(text, 80);
  expect(fitted.split(/\s+/)).toEqual(text.split(/\s+/));
  // A command, a table or a title.
  const isCopied = (line: string): boolean => /^(?: {2,}|printf|paylink|wait|== )|\\$/.test(line);
  expect(fitted.split("\n").filter((line) => line.length > 80 && !isCopied(line))).toEqual([]);
});
