/** Breaks text into lines between its words, to fit a terminal. */

/** `width` excludes the indent, which every line but the first gets. A word longer than a line, such as a URL, stays whole. */
export function wrap(text: string, width: number, indent = 0): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${" ".repeat(indent)}`);
}
