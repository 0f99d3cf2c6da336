/** Makes the ids of events: short enough to read aloud, and sorted by arrival. */

interface IdSource {
  readonly now: () => Date;
  readonly newId: () => string;
}

/** 36^8 milliseconds last until the year 2059. */
const TIME_LENGTH = 8;
const NUMBER_LENGTH = 6;
const NUMBERS = 36 ** NUMBER_LENGTH;

/**
 * The time and a counter. Two equal ids would lose a webhook, since a log refuses a repeated id. The counter starts at a
 * random number, because another process may write to the same log.
 */
export function createEventIds({ now, newId }: IdSource): () => string {
  let number = Number.parseInt(newId().slice(0, 8), 16);
  return () => {
    number = (number + 1) % NUMBERS;
    return inDigits(now().getTime(), TIME_LENGTH) + inDigits(number, NUMBER_LENGTH);
  };
}

const inDigits = (value: number, length: number): string => value.toString(36).padStart(length, "0");
