/** The sandbox's clock, which can be stopped and moved forward. */

/** It follows the machine's clock or is stopped, and can be moved forward either way. */
export type Clock = ReturnType<typeof createClock>;

/** With `stoppedAt`, the clock stays at that moment until it is moved; `ahead` is how far it was moved before, in milliseconds. */
export function createClock(machineNow: () => Date, stoppedAt?: Date, ahead = 0) {
  let offset = stoppedAt === undefined ? Math.max(0, ahead) : 0;
  const now = (): number => (stoppedAt ?? machineNow()).getTime() + offset;
  return {
    /** True if it was stopped or moved, and so differs from the machine's clock. */
    get own(): boolean {
      return stoppedAt !== undefined || offset > 0;
    },
    /** False for a stopped clock. */
    running: stoppedAt === undefined,
    now: () => new Date(now()),
    /** Moves the clock to a later moment; an earlier one has no effect. */
    moveTo: (moment: Date): void => {
      offset += Math.max(0, moment.getTime() - now());
    },
  };
}
