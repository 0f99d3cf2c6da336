/** Finds the journal that a run continues: that of the same rows, or of the same file if no sent row has changed. */
import type { Heading } from "../store/journal/journal.ts";
import type { PastJournal } from "./journals.ts";
import type { NumberList } from "./number-list.ts";
import type { Ledger } from "./row-ledger.ts";

/** What to do with rows that were sent before from another list. */
export type Repeats = Heading["repeats"];

interface Wanted {
  /** The real path of the list; "-" for standard input. */
  readonly input: string;
  readonly asks: NumberList;
  readonly invalid: ReadonlySet<number>;
  readonly repeats: Repeats;
}

export interface OwnJournal {
  readonly own?: PastJournal;
  /** The last journal of the file, if rows that were sent have changed since. */
  readonly changed?: Ledger;
}

/** `past` has the latest first. */
export function findOwnJournal(past: readonly PastJournal[], wanted: Wanted): OwnJournal {
  const { input, asks, repeats } = wanted;
  let changed: Ledger | undefined;
  for (const journal of past) {
    const ledger = journal.read();
    // A run that was killed before its first row left nothing to continue.
    if (!ledger.isBinding()) continue;
    const isSame = ledger.isOf(asks);
    if (repeats === "send") {
      if (isSame && journal.repeats === "send" && !isFinished(ledger, wanted)) return { own: journal };
      continue;
    }
    if (isSame) return { own: journal };
    if (input === "-" || journal.input !== input || changed !== undefined) continue;
    if (ledger.changes(asks, 0).count === 0) return { own: journal };
    changed = ledger;
  }
  return changed === undefined ? {} : { changed };
}

/** Sending a list once more starts a new journal; only an interrupted run is continued. */
function isFinished(ledger: Ledger, { asks, invalid }: Wanted): boolean {
  for (let row = 0; row < asks.length; row++) if (ledger.isUnsent(row) && !invalid.has(row)) return false;
  return true;
}
