/** Names what arrives: ids short enough to be read aloud, which sort in the order of arrival. */

interface IdSource {
  readonly now: () => Date;
  readonly newId: () => string;
}

/** 36^8 milliseconds last until the year 2059. */
const TIME_LENGTH = 8;
const NUMBER_LENGTH = 6;
const NUMBERS = 36 ** NUMBER_LENGTH;

/**
 * The moment, and a number that goes up by one: a log takes no id twice, so that two alike would cost a webhook its
 * place. Where the numbers begin is left to chance, for the sake of another process that writes to the same log.
 */
export function createEventIds({ now, newId }: IdSource): () => string {
  let number = Number.parseInt(newId().slice(0, 8), 16);
  return () => {
    number = (number + 1) % NUMBERS;
    return inDigits(now().getTime(), TIME_LENGTH) + inDigits(number, NUMBER_LENGTH);
  };
}

const inDigits = (value: number, length: number): string => value.toString(36).padStart(length, "0");
