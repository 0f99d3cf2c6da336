/** A long list of numbers in eight bytes each: `bulk` keeps several for each of a million rows. */

const FIRST_SIZE = 1024;

export class NumberList {
  private values = new Float64Array(FIRST_SIZE);
  private count = 0;

  get length(): number {
    return this.count;
  }

  /** 0 for an index that was never set. */
  at(index: number): number {
    return this.values[index] ?? 0;
  }

  set(index: number, value: number): void {
    if (index >= this.values.length) {
      const larger = new Float64Array(Math.max(index + 1, this.values.length * 2));
      larger.set(this.values);
      this.values = larger;
    }
    this.values[index] = value;
    this.count = Math.max(this.count, index + 1);
  }
}
