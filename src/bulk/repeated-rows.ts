/** What is kept of each row of a list, however long: a number that stands for what it holds, and the rows that repeat others. */

/** Numbers in a row, at 8 bytes each: an array of numbers would take twice as much memory while it grows. */
export class Numbers {
  private all = new Float64Array(1024);
  private count = 0;

  add(number: number): void {
    if (this.count === this.all.length) {
      const larger = new Float64Array(this.count * 2);
      larger.set(this.all);
      this.all = larger;
    }
    this.all[this.count++] = number;
  }

  at(index: number): number {
    return at(this.all, index);
  }

  list(): Float64Array {
    return this.all.subarray(0, this.count);
  }
}

/** Positions of rows, at one bit each: a set of numbers would take a hundred times as much memory. */
export class RowSet {
  private bits = new Uint8Array(1024);
  size = 0;

  /** The rows up to `end` that `includes` lets pass. */
  static of(end: number, includes: (row: number) => boolean): RowSet {
    const rows = new RowSet();
    for (let row = 0; row < end; row++) if (includes(row)) rows.add(row);
    return rows;
  }

  add(row: number): void {
    if (this.has(row)) return;
    const place = row >> 3;
    if (place >= this.bits.length) {
      const larger = new Uint8Array(place * 2);
      larger.set(this.bits);
      this.bits = larger;
    }
    this.bits[place] = at(this.bits, place) | (1 << (row & 7));
    this.size++;
  }

  has(row: number): boolean {
    return (at(this.bits, row >> 3) & (1 << (row & 7))) !== 0;
  }

  equals(other: RowSet): boolean {
    return Buffer.compare(this.bits, other.bits) === 0;
  }
}

/** Rows of one number, in their order. */
type Group = readonly number[];

export interface Repeats {
  /** All rows of the groups. */
  readonly count: number;
  /** The groups that begin first, each with its first rows. */
  readonly first: readonly Group[];
}

/** Groups, and rows of a group, that are named one by one. */
const NAMED = 10;

/**
 * The groups of rows with the same number that `counts` lets pass, and that are not all of one `kind`. 0 stands for nothing.
 */
export function repeatedRows(
  numbers: Float64Array,
  counts: (row: number) => boolean,
  kind: (row: number) => number = (row) => row,
): Repeats {
  const rows = repeating(numbers)
    .filter(counts)
    .toSorted((one, other) => at(numbers, one) - at(numbers, other) || one - other);
  let count = 0;
  let first: Group[] = [];
  for (let from = 0, to = 0; from < rows.length; from = to) {
    const [begin, number] = [at(rows, from), at(numbers, at(rows, from))];
    while (to < rows.length && at(numbers, at(rows, to)) === number) to++;
    const group = rows.subarray(from, to);
    if (group.every((row) => kind(row) === kind(begin))) continue;
    count += group.length;
    const later = first.findIndex(([row = 0]) => row > begin);
    const place = later === -1 ? first.length : later;
    if (place < NAMED) first = first.toSpliced(place, 0, [...group.subarray(0, NAMED)]).slice(0, NAMED);
  }
  return { count, first };
}

/** The rows whose number is not theirs alone. Most lists have none: numbers are sorted faster than rows are compared. */
function repeating(numbers: Float64Array): Uint32Array {
  const sorted = numbers.toSorted();
  const isRepeated = (number: number): boolean => {
    const first = firstPlace(sorted, number);
    return number !== 0 && sorted[first + 1] === number;
  };
  if (!sorted.some((number, place) => number !== 0 && number === sorted[place + 1])) return new Uint32Array();
  const rows = new Uint32Array(numbers.length);
  let length = 0;
  for (const [row, number] of numbers.entries()) if (isRepeated(number)) rows[length++] = row;
  return rows.subarray(0, length);
}

/** Where the number stands first in the sorted list that has it. */
function firstPlace(sorted: Float64Array, number: number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (at(sorted, middle) < number) from = middle + 1;
    else to = middle;
  }
  return from;
}

const at = (numbers: ArrayLike<number>, index: number): number => numbers[index] ?? 0;
