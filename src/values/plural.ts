/** Numbers of things in words: "1 event", "1,234 events". */

/** "1,234" */
export const formatCount = (count: number): string => count.toLocaleString("en-US");

/** The number with the form of the noun, or of the words after it, that agrees with it: "1 link was", "3 links were". */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${wordFor(count, one, many)}`;

/** That form alone: "it", "them". */
export const wordFor = (count: number, one: string, many: string): string => (count === 1 ? one : many);
