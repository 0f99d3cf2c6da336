/** Starts other programs: those that run beside a command, the browser, and those of the clipboard. */
import { type ChildProcess, spawn } from "node:child_process";
import type { BackgroundProgram, Context } from "../context.ts";
import { parseWebAddress } from "../domain/addresses.ts";

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

/** Refuses other schemes: the URL comes from the network, and a scheme can start any program. */
export async function openBrowser(url: string): Promise<void> {
  const address = parseWebAddress(url);
  if (address === undefined) throw new Error("it is not an http or https URL");
  const { default: open } = await import("open");
  try {
    await open(address.href);
  } catch (error) {
    throw error instanceof Error && "code" in error && error.code === "ENOENT"
      ? new Error("the program that opens web pages is not installed", { cause: error })
      : error;
  }
}

type Program = readonly [command: string, ...args: string[]];

const PROGRAMS: Partial<Record<NodeJS.Platform, readonly Program[]>> = {
  darwin: [["pbcopy"]],
  win32: [["clip.exe"]],
};
/** Wayland, X11, and Windows from within its Linux subsystem. */
const UNIX_PROGRAMS: readonly Program[] = [
  ["wl-copy"],
  ["xclip", "-selection", "clipboard"],
  ["xsel", "--clipboard", "--input"],
  ["clip.exe"],
];

/** Tries the clipboard programs of the platform in turn; rejects if none works. */
export async function copyText(text: string): Promise<void> {
  const programs = PROGRAMS[process.platform] ?? UNIX_PROGRAMS;
  for (const program of programs) if (await copyWith(program, text)) return;
  const names = programs.map(([command]) => command).join(", ");
  throw new Error(`none of ${names} works here`);
}

/** Ignores the program's output: it may stay in the background to serve the clipboard. */
function copyWith([command, ...args]: Program, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["pipe", "ignore", "ignore"] });
    child.on("error", () => resolve(false));
    child.on("exit", (code) => resolve(code === 0));
    child.stdin.on("error", () => resolve(false));
    child.stdin.end(text);
  });
}
