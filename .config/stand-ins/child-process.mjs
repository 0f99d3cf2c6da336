/**
 * Replaces node:child_process in commander, which would start executables as subcommands; paylink has none. Loading it is a
 * twentieth of a short run (startup bench).
 */
export function spawn() {
  throw new Error("paylink has no subcommands that are programs");
}
