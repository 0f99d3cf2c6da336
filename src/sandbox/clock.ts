/** The sandbox's clock: the machine's, or one that stands still; either can be moved forwards. */

export interface Clock {
  now(): Date;
  /** Whether it goes on by itself. */
  readonly running: boolean;
  /** Moves it to a later moment; it never goes back. */
  moveTo(moment: Date): void;
}

/** `from` stands still at that moment until it is moved. */
export function createClock(machine: () => Date, from?: Date): Clock {
  let still = from?.getTime() ?? 0;
  let ahead = 0;
  const now = (): number => (from === undefined ? machine().getTime() + ahead : still);
  return {
    running: from === undefined,
    now: () => new Date(now()),
    moveTo: (moment) => {
      const step = Math.max(0, moment.getTime() - now());
      still += step;
      ahead += step;
    },
  };
}
