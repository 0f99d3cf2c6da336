/** A source map of paylink's own code in a bundle, as small as a crash report needs: the line of the source for each place. */
import { decode, encode } from "@jridgewell/sourcemap-codec";

/** @typedef {import("@jridgewell/sourcemap-codec").SourceMapSegment} Segment */

/**
 * The map of each chunk that has code of paylink, by the chunk's file name. The sources' texts, the columns, the names and the
 * packages in the bundle are left out, which are nine tenths of it.
 * @param {import("rolldown").RolldownOutput["output"]} files
 * @returns {Record<string, { version: 3, sources: string[], names: [], mappings: string }>}
 */
export function sourceMaps(files) {
  return Object.fromEntries(
    files.flatMap((file) => {
      if (file.type !== "chunk" || file.map === null) return [];
      const sources = file.map.sources.map((source) => /^(?:\.\.\/)?(src\/.*)$/.exec(source)?.[1]);
      const kept = sources.filter((source) => source !== undefined);
      if (kept.length === 0) return [];
      const lines = decode(file.map.mappings).map((line) => ownLines(line, sources, kept));
      return [[file.fileName, { version: 3, sources: kept, names: [], mappings: encode(lines) }]];
    }),
  );
}

/**
 * @param {Segment[]} segments
 * @param {readonly (string | undefined)[]} sources
 * @param {readonly string[]} kept
 */
function ownLines(segments, sources, kept) {
  /** @type {Segment[]} */
  const own = [];
  for (const [column, source, line] of segments) {
    const index = kept.indexOf((source === undefined ? undefined : sources[source]) ?? "");
    const previous = own.at(-1);
    if (index === -1 || line === undefined) {
      if (previous?.length === 4) own.push([column]);
    } else if (previous?.[1] !== index || previous[2] !== line) own.push([column, index, line, 0]);
  }
  return own;
}
