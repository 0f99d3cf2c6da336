/** Shows the stack of a crash by the sources: the build bundles and minifies them, and keeps the lines in dist/. */
import { SourceMap } from "node:module";
import { basename } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { readOwnFile } from "./own-files.ts";

type SourceMaps = Readonly<Record<string, SourceMapPayload>>;
type SourceMapPayload = ConstructorParameters<typeof SourceMap>[0];

/** The stack, with file and line of the source in place of those in dist/. Unchanged where the maps cannot be read. */
export function sourceStack(error: Error): string {
  const stack = error.stack ?? String(error);
  try {
    const maps = readMaps();
    return stack.replaceAll(
      FRAME_PLACE,
      (place, file: string, line: string, column: string) =>
        sourcePlace(maps[basename(file)], Number(line) - 1, Number(column) - 1) ?? place,
    );
  } catch {
    return stack;
  }
}

function readMaps(): SourceMaps {
  return JSON.parse(brotliDecompressSync(readOwnFile("sources.json.br")).toString()) as SourceMaps;
}

/** Where V8 says that a frame is: `/path/main.js:1:200`, at the end of a line or in parentheses. */
const FRAME_PLACE = /([^\s()]+\.js):(\d+):(\d+)(?=\)?$)/gm;

function sourcePlace(map: SourceMapPayload | undefined, line: number, column: number): string | undefined {
  if (map === undefined) return undefined;
  const entry = new SourceMap(map).findEntry(line, column);
  return "originalSource" in entry && entry.originalSource !== undefined
    ? `${entry.originalSource}:${entry.originalLine + 1}`
    : undefined;
}
