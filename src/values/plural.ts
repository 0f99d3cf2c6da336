/** Numbers of things in words: "1 event", "1,234 events". */

/** "1,234" */
export const formatCount = (count: number): string => count.toLocaleString("en-US");

/** The number with the form of the noun, or of the words after it, that agrees with it: "1 link was", "3 links were". */
export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${wordFor(count, one, many)}`;

/** That form alone: "it", "them". */
export const wordFor = (count: number, one: string, many: string): string => (count === 1 ? one : many);

/** `A-1, A-2 and 506 more`: the first of them, and how many they are. */
export const someOf = (named: readonly (string | number)[], all: number): string =>
  `${named.join(", ")}${all > named.length ? ` and ${formatCount(all - named.length)} more` : ""}`;

/** `line 3`, or `lines 2, 3, 4 and 506 more`. */
export const linesText = (named: readonly number[], all = named.length): string =>
  `${wordFor(all, "line", "lines")} ${someOf(named, all)}`;
