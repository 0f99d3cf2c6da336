/** The ids of events, which sort by arrival. */

/** 36^8 milliseconds last until the year 2059. */
const TIME_LENGTH = 8;
const NUMBER_LENGTH = 6;
const NUMBERS = 36 ** NUMBER_LENGTH;

/**
 * Makes the ids of events: short enough to read aloud, and sorted by arrival. The time and a counter. Two equal ids would lose a webhook, since a log refuses a repeated id. The counter starts at a
 * random number, because another process may write to the same log.
 */
export function createEventIds({
  now,
  newId,
}: {
  readonly now: () => Date;
  readonly newId: () => string;
}): () => string {
  let number = Number.parseInt(newId().slice(0, 8), 16);
  return () => {
    number = (number + 1) % NUMBERS;
    return inDigits(now().getTime(), TIME_LENGTH) + inDigits(number, NUMBER_LENGTH);
  };
}

const inDigits = (value: number, length: number): string => value.toString(36).padStart(length, "0");

/** The last time that an id can have. */
const LAST = 36 ** TIME_LENGTH - 1;

/** Every id of a later time is greater than this text, and no id of an earlier one. */
export const idAt = (time: Date): string =>
  inDigits(Math.min(LAST, Math.max(0, time.getTime())), TIME_LENGTH);
