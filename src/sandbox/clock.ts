/** The sandbox's clock: it follows the machine's clock or is stopped, and can be moved forwards either way. */

export interface Clock {
  now(): Date;
  /** True if it was stopped or moved, and so differs from the machine's clock. */
  readonly own: boolean;
  /** False for a stopped clock. */
  readonly running: boolean;
  /** Moves the clock to a later moment; an earlier one has no effect. */
  moveTo(moment: Date): void;
}

/** With `stoppedAt`, the clock stays at that moment until it is moved. */
export function createClock(machineNow: () => Date, stoppedAt?: Date): Clock {
  let offset = 0;
  const now = (): number => (stoppedAt ?? machineNow()).getTime() + offset;
  return {
    get own() {
      return stoppedAt !== undefined || offset > 0;
    },
    running: stoppedAt === undefined,
    now: () => new Date(now()),
    moveTo: (moment) => {
      offset += Math.max(0, moment.getTime() - now());
    },
  };
}
