// Stands in for node:child_process under commander, which uses it only for subcommands that are programs of their own.
export function spawn() {
  throw new Error("No command of this program is a program of its own.");
}
