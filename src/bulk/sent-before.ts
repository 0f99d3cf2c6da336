/** The rows of a list that were sent before from other lists; of identical rows, as many as were sent. */
import { settledAt } from "../store/journal/journal.ts";
import { NumberList } from "./number-list.ts";
import { INTERRUPTED, type Outcome } from "./outcome.ts";
import { NO_DIGEST } from "./row-digest.ts";
import type { Ledger } from "./row-ledger.ts";

export class SentBefore {
  private readonly asks: NumberList;
  /** The rows that are still to be sent, in the order of their digests. */
  private readonly byDigest: Uint32Array;
  /** How many rows of a digest were sent, at the place of its first row. */
  private readonly taken: Uint32Array;
  /** For each row that was sent, the number of its journal (from 1) and the place in it. */
  private readonly journals = new NumberList();
  private readonly offsets = new NumberList();
  private readonly lengths = new NumberList();
  private readonly paths: string[] = [];
  private found = 0;

  constructor(asks: NumberList, isPending: (row: number) => boolean) {
    this.asks = asks;
    const pending = new NumberList();
    for (let row = 0; row < asks.length; row++)
      if (asks.at(row) !== NO_DIGEST && isPending(row)) pending.set(pending.length, row);
    this.byDigest = Uint32Array.from({ length: pending.length }, (_, index) => pending.at(index));
    this.byDigest.sort((one, other) => asks.at(one) - asks.at(other) || one - other);
    this.taken = new Uint32Array(this.byDigest.length);
  }

  get count(): number {
    return this.found;
  }

  has(row: number): boolean {
    return this.journals.at(row) > 0;
  }

  /** The first rows that were sent before. */
  first(most: number): number[] {
    const rows: number[] = [];
    for (let row = 0; row < this.asks.length && rows.length < most; row++) if (this.has(row)) rows.push(row);
    return rows;
  }

  /** Adds the rows of a journal that have a link, or may have one; returns how many of them are in the list. */
  add(ledger: Ledger, isSent = (row: number): boolean => ledger.isBound(row)): number {
    const before = this.found;
    for (let row = 0; row < ledger.rows; row++) if (isSent(row)) this.take(ledger, row);
    return this.found - before;
  }

  outcome(row: number): Outcome {
    const path = this.paths[this.journals.at(row) - 1];
    const length = this.lengths.at(row);
    return path === undefined || length === 0 ? INTERRUPTED : settledAt(path, this.offsets.at(row), length);
  }

  private take(ledger: Ledger, sentRow: number): void {
    const digest = ledger.digest(sentRow);
    const start = this.firstOf(digest);
    const place = start + (this.taken[start] ?? 0);
    const row = this.byDigest[place];
    if (row === undefined || this.asks.at(row) !== digest) return;
    this.taken[start] = place - start + 1;
    const { path, offset, length } = ledger.placeOf(sentRow);
    if (this.paths.at(-1) !== path) this.paths.push(path);
    this.journals.set(row, this.paths.length);
    this.offsets.set(row, offset);
    this.lengths.set(row, length);
    this.found++;
  }

  /** The place of the first row with this digest or a larger one. */
  private firstOf(digest: number): number {
    let low = 0;
    let high = this.byDigest.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.asks.at(this.byDigest[middle] ?? 0) < digest) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
