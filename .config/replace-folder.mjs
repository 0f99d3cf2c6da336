/** Puts a folder in the place of another one, which others may replace at the same moment. */
import { renameSync, rmSync } from "node:fs";

/**
 * @param {string | URL} made
 * @param {URL} place
 */
export function replaceFolder(made, place) {
  const earlier = new URL(`${place.pathname}-${process.pid}-earlier`, place);
  for (let isDone = false; !isDone;) {
    rmSync(earlier, { recursive: true, force: true });
    unless("ENOENT", () => renameSync(place, earlier));
    isDone = unless("ENOTEMPTY", () => renameSync(made, place));
  }
  rmSync(earlier, { recursive: true, force: true });
}

/**
 * Whether it was done; false if that is why it was not.
 * @param {string} code
 * @param {() => void} act
 */
function unless(code, act) {
  try {
    act();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === code) return false;
    throw error;
  }
}
