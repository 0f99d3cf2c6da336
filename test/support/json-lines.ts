/** What a stream of `--json` printed, line by line. */

export type JsonLine = Readonly<Record<string, unknown>>;

export const jsonLines = (text: string): JsonLine[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): JsonLine => JSON.parse(line));

export const linesOf = (type: string, text: string): JsonLine[] =>
  jsonLines(text).filter((line) => line["type"] === type);
