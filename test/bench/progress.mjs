/** Shows the progress of a benchmark in a terminal; a pipe or a file gets nothing. */

/** @param {string} text Replaces the text before it; an empty one clears the line. */
export function showProgress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
