/** What happened in a simulated world, line by line, and the first thing that did not hold. */
import type { VirtualTime } from "./virtual-time.ts";

/** What holds in every world did not: a fault of paylink. */
export class Broken extends Error {}

export class Trace {
  readonly #time: VirtualTime;
  readonly #lines: string[] = [];
  #fault: string | undefined;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  say(what: string): void {
    this.#lines.push(`${String(this.#time.elapsed).padStart(7)} ms  ${what}`);
  }

  /** The first fault counts. */
  broken(what: string): void {
    this.#fault ??= what;
  }

  isBroken(): boolean {
    return this.#fault !== undefined;
  }

  /** Throws if something did not hold. */
  check(): void {
    if (this.#fault !== undefined) throw new Broken(`${this.#fault}\n${this.#lines.join("\n")}`);
  }
}
