/** Fits the text of a guide into a terminal: its paragraphs are wrapped between words, and what people copy stays as it is. */
import { wrap } from "../../render/layout.ts";
import { widthOf } from "../../render/width.ts";

/** A paragraph that has a line which is too wide is filled anew. */
export function fitGuide(text: string, width: number): string {
  return blocksOf(text.split("\n"))
    .map((lines) => {
      const isWide = lines.some((line) => widthOf(line) > width);
      return isWide && isProse(lines) ? refilled(lines, width) : lines.join("\n");
    })
    .join("\n");
}

/** `1. `, `  - `, `  key     `: what follows is below its text. */
const openingOf = (line: string): string => /^ *(?:(?:\d+\.|-) +|\S+(?: \S+)* {2,})?/.exec(line)?.[0] ?? "";

/** Lines that belong together: they are not empty, and begin at one column. */
function blocksOf(lines: readonly string[]): (readonly string[])[] {
  const blocks: string[][] = [];
  for (const line of lines) {
    const block = blocks.at(-1);
    const [first = ""] = block ?? [];
    const goesOn = first !== "" && line !== "" && openingOf(line) === " ".repeat(openingOf(first).length);
    if (block !== undefined && goesOn) block.push(line);
    else blocks.push([line]);
  }
  return blocks;
}

/** What stands beside a name in a table, and sentences, which end with a mark; commands and scripts do not. */
const isProse = (lines: readonly string[]): boolean =>
  /\S {2,}$/.test(openingOf(lines[0] ?? "")) || /[.:;)]$/.test(lines.at(-1) ?? "");

function refilled(lines: readonly string[], width: number): string {
  const head = openingOf(lines[0] ?? "");
  const text = lines.map((line) => line.slice(head.length)).join(" ");
  return head + wrap(text, width - head.length, head.length);
}
