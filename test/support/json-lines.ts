/** What a stream of `--json` printed, line by line. */

export type JsonLine = Readonly<Record<string, unknown>>;

export const jsonLines = (text: string): JsonLine[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): JsonLine => JSON.parse(line));
