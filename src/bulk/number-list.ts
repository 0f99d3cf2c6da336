/** A long list of numbers, eight bytes each: it grows by the page, so that nothing is copied and nothing is boxed. */

const PAGE = 1 << 16;

export class Numbers {
  private readonly pages: Float64Array[] = [];
  private count = 0;

  get length(): number {
    return this.count;
  }

  /** 0 where nothing was set. */
  at(index: number): number {
    return this.pages[Math.floor(index / PAGE)]?.[index % PAGE] ?? 0;
  }

  set(index: number, value: number): void {
    while (this.pages.length * PAGE <= index) this.pages.push(new Float64Array(PAGE));
    const page = this.pages[Math.floor(index / PAGE)];
    if (page !== undefined) page[index % PAGE] = value;
    this.count = Math.max(this.count, index + 1);
  }
}
