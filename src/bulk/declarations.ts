/** What the rows of a list ask for, as lines of its journal. */
import type { Asked } from "../store/journal/journal.ts";
import { NumberList } from "./number-list.ts";

/** Digests in one line of the journal. */
const PART = 4096;

/** The digests that differ from those known, in parts of neighbours. */
export function* declarations(asks: NumberList, known = new NumberList()): Generator<Asked> {
  let part: { from: number; asks: number[] } = { from: 0, asks: [] };
  for (let row = 0; row < asks.length; row++) {
    if (row < known.length && known.at(row) === asks.at(row)) continue;
    if (part.asks.length === PART || part.from + part.asks.length !== row) {
      if (part.asks.length > 0) yield part;
      part = { from: row, asks: [] };
    }
    part.asks.push(asks.at(row));
  }
  if (part.asks.length > 0) yield part;
}
