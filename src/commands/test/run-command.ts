/** Runs another program to its end: its own input and output, the signals passed on, its exit code as shells tell it. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { isatty } from "node:tty";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";

/** With `--json` stdout is for the report: what the program prints goes to stderr. */
export function runCommand(
  [program, ...args]: readonly [string, ...string[]],
  added: Readonly<Record<string, string>>,
  { env, out, signal }: Context,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...env, ...added },
      stdio: ["inherit", out.json ? 2 : "inherit", "inherit"],
    });
    const passOn = (): void => {
      const reason: unknown = signal.reason;
      const interrupted = reason instanceof PaylinkError && reason.code === "interrupted";
      if (!interrupted) child.kill("SIGTERM");
      else if (!atTerminal()) child.kill("SIGINT");
    };
    signal.addEventListener("abort", passOn, { once: true });
    child.on("error", (error) => {
      signal.removeEventListener("abort", passOn);
      reject(new PaylinkError("usage", `${program} cannot be run: ${error.message}`, { cause: error }));
    });
    child.on("close", (code, ended) => {
      signal.removeEventListener("abort", passOn);
      // 128 and the signal's number, as POSIX shells tell of a program that a signal ended.
      resolve(code ?? 128 + (ended === null ? 0 : constants.signals[ended]));
    });
  });
}

/** There Ctrl-C reaches each program of the foreground by itself; a second one would break off what the first began. */
const atTerminal = (): boolean => [0, 1, 2].some((descriptor) => isatty(descriptor));
