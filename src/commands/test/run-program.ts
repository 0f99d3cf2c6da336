/** Runs another program to its end, with paylink's input, output and signals; its exit code is that of a shell. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { isatty } from "node:tty";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { programReason } from "../../domain/system-reason.ts";
import type { Environment } from "../../settings/resolved-settings.ts";

/** A variable that is undefined in `changed` is unset. With `--json` stdout is for the report, so the program prints to stderr. */
export function runProgram(
  [program = "", ...args]: readonly string[],
  changed: Environment,
  { env, out, signal }: Context,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...env, ...changed },
      stdio: ["inherit", out.json ? 2 : "inherit", "inherit"],
    });
    const forwardSignal = (): void => {
      const reason: unknown = signal.reason;
      const interrupted = reason instanceof PaylinkError && reason.code === "interrupted";
      if (!interrupted) child.kill("SIGTERM");
      else if (!atTerminal()) child.kill("SIGINT");
    };
    signal.addEventListener("abort", forwardSignal, { once: true });
    child.on("error", (error) => {
      signal.removeEventListener("abort", forwardSignal);
      const message = `Cannot run ${program}: ${programReason(error)}. Nothing was run.`;
      reject(new PaylinkError("usage", message, { cause: error }));
    });
    child.on("close", (code, ended) => {
      signal.removeEventListener("abort", forwardSignal);
      // POSIX shells give 128 and the signal's number for a program that a signal ended.
      resolve(code ?? 128 + (ended === null ? 0 : constants.signals[ended]));
    });
  });
}

/** A terminal sends Ctrl-C to every foreground program; forwarding it would send it twice. */
const atTerminal = (): boolean => [0, 1, 2].some((descriptor) => isatty(descriptor));
