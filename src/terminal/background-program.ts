/** Starts programs that run beside a command, each in a process group of its own, and leaves none of them behind. */
import { spawn, type ChildProcess } from "node:child_process";
import type { BackgroundProgram, Context } from "../context.ts";

/** Milliseconds after which a program that does not end is killed. */
const STOP_TIMEOUT = 5_000;

interface Surroundings {
  readonly env: Context["env"];
  /** Fires right before the process ends. */
  readonly exiting: AbortSignal;
}

export function startProgram(
  command: string,
  args: readonly string[],
  { env, exiting }: Surroundings,
): BackgroundProgram {
  const child = spawn(command, args, {
    env,
    stdio: ["ignore", "ignore", "pipe"],
    // A terminal sends Ctrl-C to its whole group, and what is in flight may still need the program.
    detached: true,
    windowsHide: true,
  });
  const kill = (): void => signalGroup(child, "SIGKILL");
  exiting.addEventListener("abort", kill, { once: true });
  const ended = endOf(child).finally(() => exiting.removeEventListener("abort", kill));
  return {
    ended,
    onStderr: (read) => void child.stderr.setEncoding("utf8").on("data", read),
    stop: async () => {
      signalGroup(child, "SIGTERM");
      const timer = setTimeout(kill, STOP_TIMEOUT);
      await ended;
      clearTimeout(timer);
      child.stderr.destroy();
    },
  };
}

/** Signals the program and the programs that it started. */
function signalGroup(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Windows has no process groups.
    child.kill(signal);
  }
}

const endOf = (child: ChildProcess): Promise<Error | string> =>
  new Promise((resolve) => {
    child.once("error", resolve);
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
