/**
 * The rows of a list, kept as text in blocks and made when they are asked for: as objects, a million of them take more than a
 * gigabyte (`npm run bench -- bulk memory`). Not as JSON: V8 puts short strings of JSON into a table that it rarely clears.
 */
import { deserialize, serialize } from "node:v8";

/** Rows in the order of the list. An array is one form of them. */
export interface Rows<T> extends Iterable<T> {
  readonly length: number;
  /** Counted from 0, or from the end if it is negative; undefined if the list has no row at this place. */
  at(place: number): T | undefined;
  entries(): Iterable<[place: number, row: T]>;
}

/** Rows that are made when they are asked for. */
export abstract class MadeRows<T> implements Rows<T> {
  abstract get length(): number;

  /** Undefined for a place that the list does not have. */
  protected abstract make(place: number): T | undefined;

  at(place: number): T | undefined {
    return this.make(place < 0 ? this.length + place : place);
  }

  *entries(): Generator<[place: number, row: T]> {
    let place = 0;
    for (const row of this) yield [place++, row];
  }

  *[Symbol.iterator](): Generator<T> {
    for (let place = 0; place < this.length; place++) {
      const row = this.make(place);
      if (row !== undefined) yield row;
    }
  }
}

/** What a row is made of: the line on which it begins, and its cells, or the line itself. */
export type RowText = readonly [line: number, ...texts: string[]];

interface Block {
  /** The place of its first row. */
  readonly start: number;
  readonly bytes: Buffer;
}

/** Characters of cells in a block: reading one row means reading its block. */
const BLOCK = 16 * 1024;

export class PackedRows<T> extends MadeRows<T> {
  private added = 0;
  private readonly blocks: Block[] = [];
  /** The rows after the last block. */
  private open: RowText[] = [];
  private openSize = 0;
  /** The block that was read last. Rows are mostly read one after another. */
  private read: { readonly start: number; readonly texts: readonly RowText[] } = { start: 0, texts: [] };
  private readonly rowOf: (text: RowText) => T;

  constructor(rowOf: (text: RowText) => T) {
    super();
    this.rowOf = rowOf;
  }

  get length(): number {
    return this.added;
  }

  add(text: RowText): void {
    const [, ...texts] = text;
    this.open.push(text);
    this.openSize += texts.reduce((size, { length }) => size + length, 0);
    this.added++;
    if (this.openSize < BLOCK) return;
    const start = this.length - this.open.length;
    // A copy, because the buffer of the serializer is up to twice as long as what is in it.
    this.blocks.push({ start, bytes: Buffer.from(serialize(this.open)) });
    this.open = [];
    this.openSize = 0;
  }

  protected make(place: number): T | undefined {
    const text = this.openText(place) ?? this.blockText(place);
    return text && this.rowOf(text);
  }

  private openText(at: number): RowText | undefined {
    return this.open[at - (this.length - this.open.length)];
  }

  private blockText(at: number): RowText | undefined {
    const known = this.read.texts[at - this.read.start];
    if (known !== undefined) return known;
    const block = this.blocks.findLast(({ start }) => start <= at);
    if (block === undefined) return undefined;
    const texts: RowText[] = deserialize(block.bytes);
    this.read = { start: block.start, texts };
    return texts[at - block.start];
  }
}
