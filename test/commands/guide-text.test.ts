/** Guides in a terminal: sentences are wrapped between words, and what people copy is not. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fitGuide } from "../../src/commands/help/guide-text.ts";

const GUIDES = new URL("../../src/texts/guides/", import.meta.url);

describe("a text that is too wide", () => {
  it("is filled anew, below the head of its list", () => {
    const text = "1. One two three four,\n   five.\n     paylink create --amount 10\n\nshort.\n";
    expect(fitGuide(text, 14)).toBe(
      "1. One two\n   three four,\n   five.\n     paylink create --amount 10\n\nshort.\n",
    );
    expect(fitGuide(text, 80)).toBe(text);
  });

  it("is filled anew beside its name", () => {
    expect(fitGuide("  key   one two\n        three\n  a bc  four\n", 14)).toBe(
      "  key   one\n        two\n        three\n  a bc  four\n",
    );
  });

  it("stays as it is in a script", () => {
    const text = "set -eu\nuntil grep -qs ready sandbox.jsonl; do sleep 0.1; done\n";
    expect(fitGuide(text, 20)).toBe(text);
  });
});

describe.each(readdirSync(GUIDES))("the guide %s", (name) => {
  const text = readFileSync(new URL(name, GUIDES), "utf8");

  it("is at most 80 columns wide, commands too", () => {
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("keeps its words at 60 columns, where only what people copy is wider", () => {
    const fitted = fitGuide(text, 60);
    expect(fitted.split(/\s+/)).toEqual(text.split(/\s+/));
    const wide = fitted.split("\n").filter((line) => line.length > 60);
    const isCopied = (line: string): boolean =>
      /^(?: +|export |until |printf |echo |paylink |# |== ).*[^.:;]$/.test(line) &&
      text.includes(`${line}\n`);
    expect(wide.filter((line) => !isCopied(line))).toEqual([]);
  });
});
