/** Words as the beginning of a sentence, and as a whole one. */

/** Begins with a capital letter, or with an address as it is. */
export const capitalized = (text: string): string =>
  /^\w+:\/\//.test(text) ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Ends with a full stop, even if the last words are a reason, or the words of a service. A stack has many lines. */
export const sentence = (text: string): string => (/[.!?]$|\n/.test(text) ? text : `${text}.`);
