/** Starts other programs: those that run beside a command, and the browser. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { isatty } from "node:tty";
import { parseWebAddress } from "../values/addresses.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hasCode } from "../values/system-reason.ts";
import { within } from "../values/time.ts";

/** The exit code of a shell whose program SIGINT has ended. */
const SHELL_INTERRUPTED = 130;

/** Milliseconds after which a program that does not end is killed. */
const STOP_TIMEOUT = 5_000;

interface ProgramSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fires right before the process ends. */
  readonly exiting: AbortSignal;
}

/** A program that runs beside a command. Ctrl-C in a terminal does not reach it. */
export interface BackgroundProgram {
  /** Resolves when it has ended, with the signal or the exit code, or with the reason why it could not be started. */
  readonly ended: Promise<Error | string>;
  /** Calls back with each part of what it prints on stderr. */
  readonly onStderr: (read: (text: string) => void) => void;
  /** Asks it to end, kills it if it does not, and resolves when it has ended. */
  readonly stop: () => Promise<void>;
}

export function startProgram(
  command: string,
  args: readonly string[],
  { env, exiting }: ProgramSurroundings,
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
  const ended = programEnd(child).finally(() => exiting.removeEventListener("abort", kill));
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

/** Milliseconds in which all that a program has started may end after a signal. */
const GROUP_TIMEOUT = 2_000;

export interface ProgramOptions {
  readonly env: ProgramSurroundings["env"];
  /** Prints on stderr what it prints on stdout. */
  readonly toStderr: boolean;
  readonly signal: AbortSignal;
}

/**
 * Runs a program in the place of paylink: with its input and output, and with the signals that paylink gets, which reach all that it has
 * started. Resolves with its exit code; POSIX shells give 128 and the signal's number for one that a signal ended.
 */
export function runProgram(
  command: string,
  args: readonly string[],
  { env, toStderr, signal, exiting }: ProgramOptions & Pick<ProgramSurroundings, "exiting">,
): Promise<number> {
  // Only a program in the foreground group can read from a terminal, which sends Ctrl-C to all of that group.
  const isForeground = [0, 1, 2].some((descriptor) => isatty(descriptor));
  const before = new Set(isForeground ? groupOf(processes()).map(({ pid }) => pid) : []);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env,
      stdio: ["inherit", toStderr ? 2 : "inherit", "inherit"],
      detached: !isForeground,
      windowsHide: true,
    });
    /** What it has started, as `process.kill` names it. In the foreground, the group is that of paylink too. */
    let started: readonly number[] = [];
    const look = (): void => {
      if (child.pid === undefined) return;
      const hasGroup = !isForeground && isSignalled(-child.pid, 0);
      const found = hasGroup ? [-child.pid] : startedBy(child.pid, before);
      started = [...new Set([...started, ...found])];
    };
    const kill = (): void => {
      look();
      signalAll(started, "SIGKILL");
    };
    let timer: NodeJS.Timeout | undefined;
    const endAll = (name: "SIGINT" | "SIGTERM"): void => {
      signal.removeEventListener("abort", forward);
      look();
      if (name === "SIGTERM" || !isForeground) signalAll(started, name);
      timer = setTimeout(kill, GROUP_TIMEOUT);
    };
    const forward = (): void => {
      const { reason }: { reason?: unknown } = signal;
      endAll(reason instanceof PaylinkError && reason.code === "interrupted" ? "SIGINT" : "SIGTERM");
    };
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", forward);
      exiting.removeEventListener("abort", kill);
    };
    signal.addEventListener("abort", forward, { once: true });
    exiting.addEventListener("abort", kill, { once: true });
    child.once("error", (error) => {
      settle();
      reject(error);
    });
    child.once("close", (code, ended) => {
      // The program may end by Ctrl-C before paylink learns of it, and before what it has started.
      if (isForeground && !signal.aborted && (ended === "SIGINT" || code === SHELL_INTERRUPTED))
        endAll("SIGINT");
      void endOfGroup(started).then(() => {
        settle();
        resolve(code ?? 128 + (ended === null ? 0 : constants.signals[ended]));
      });
    });
  });
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

/** None where there is no such table (Windows, some containers). */
function processes(): readonly Process[] {
  const columns = ["-A", "-o", "pid=,ppid=,pgid="];
  const { stdout } = spawnSync("ps", columns, { encoding: "utf8", windowsHide: true });
  return (stdout ?? "").split("\n").flatMap((line) => {
    const [pid = 0, parent = 0, group = 0] = line.trim().split(/\s+/).map(Number);
    // To signal 0 would be to signal the own group.
    return pid === 0 ? [] : { pid, parent, group };
  });
}

/** Those of paylink's own group. */
function groupOf(all: readonly Process[]): readonly Process[] {
  const own = all.find(({ pid }) => pid === process.pid)?.group;
  return all.filter(({ group }) => group === own);
}

/**
 * A program and all that it has started, also where what was in between has ended: such a process is new in the group, and its parent
 * is not of it.
 */
function startedBy(program: number, before: ReadonlySet<number>): readonly number[] {
  const all = processes();
  const group = groupOf(all);
  const isOfGroup = (id: number): boolean => group.some(({ pid }) => pid === id);
  const orphans = group.filter(({ pid, parent }) => !before.has(pid) && !isOfGroup(parent));
  const found = new Set([program, ...orphans.map(({ pid }) => pid)]);
  // Those that are found are looked through too.
  for (const one of found) for (const { pid, parent } of all) if (parent === one) found.add(pid);
  return [...found];
}

function signalAll(ids: readonly number[], signal: NodeJS.Signals): void {
  for (const id of ids) isSignalled(id, signal);
}

/** Whether there was something to get the signal; 0 only asks. */
function isSignalled(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(id, signal);
  } catch {
    return false;
  }
}

/** Resolves when nothing of it runs. */
async function endOfGroup(ids: readonly number[]): Promise<void> {
  for (let waited = 0; waited < 2 * GROUP_TIMEOUT; waited += 50) {
    if (!ids.some((id) => isSignalled(id, 0))) return;
    await sleep(50);
  }
}

/** How a line of the user's shell ended, and what it printed. */
export interface ShellEnd {
  /** In words, such as "it ended with exit code 1"; undefined if it ended with 0. */
  readonly failure: string | undefined;
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

/** Bytes that a line may print. */
const MAX_PRINTED = 64 * 1024 * 1024;

/** Runs a line in the user's shell, for at most this many milliseconds. Rejects with the reason of the signal. */
export function runShell(
  line: string,
  { env, exiting, timeout, signal }: ProgramSurroundings & ShellOptions,
): Promise<ShellEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(line, {
      env,
      shell: true,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
      windowsHide: true,
    });
    const printed: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
    let length = 0;
    const end = (failure: string | undefined): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", interrupt);
      exiting.removeEventListener("abort", kill);
      const [stdout, stderr] = [Buffer.concat(printed.stdout), Buffer.concat(printed.stderr).toString()];
      resolve({ failure, stdout, stderr });
    };
    const kill = (): void => signalGroup(child, "SIGKILL");
    const interrupt = (): void => {
      // Before `giveUp`, because a promise keeps its first result.
      reject(signal.reason);
      giveUp("interrupted");
    };
    const giveUp = (failure: string): void => {
      kill();
      end(failure);
    };
    const timer = setTimeout(() => giveUp(`it did not end within ${timeout / 1000} s`), timeout);
    exiting.addEventListener("abort", kill, { once: true });
    signal.addEventListener("abort", interrupt, { once: true });
    for (const name of ["stdout", "stderr"] as const)
      child[name].on("data", (chunk: Buffer) => {
        printed[name].push(chunk);
        length += chunk.length;
        if (length > MAX_PRINTED) giveUp(`it printed more than ${MAX_PRINTED / 1024 / 1024} MiB`);
      });
    child.once("error", (error) => end(`it cannot be started: ${error.message}`));
    child.once("close", (code, ended) =>
      end(code === 0 ? undefined : `it ended with ${exitWords(code, ended)}`),
    );
  });
}

export interface ShellOptions {
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Signals the program and the programs that it started. */
function signalGroup(child: ChildProcess, signal: "SIGINT" | "SIGTERM" | "SIGKILL"): void {
  if (child.pid === undefined) return;
  // Windows has no process groups.
  if (!isSignalled(-child.pid, signal)) child.kill(signal);
}

const exitWords = (code: number | null, signal: string | null): string => signal ?? `exit code ${code}`;
const GOOD_END = exitWords(0, null);

/** In words; the error of a program that was not started. */
const programEnd = (child: ChildProcess): Promise<Error | string> =>
  new Promise((resolve) => {
    const { exitCode, signalCode } = child;
    if (exitCode !== null || signalCode !== null) resolve(exitWords(exitCode, signalCode));
    child.once("error", resolve);
    child.once("exit", (code, signal) => resolve(exitWords(code, signal)));
  });

/** Milliseconds in which an opener that cannot show the page fails; one that still runs has started a browser. */
const OPENER_TIMEOUT = 2_000;

/** Refuses other schemes: the URL comes from the network, and a scheme can start any program. */
export async function openBrowser(url: string): Promise<void> {
  const address = parseWebAddress(url);
  if (address === undefined) throw new Error("it is not an http or https URL");
  await startOpener(address.href);
}

/** A page that redirects to a URL of paylink's own, which has no special character of HTML. */
export const pageThatLeadsTo = (url: string): string =>
  `<!doctype html><meta charset="utf-8"><title>paylink</title><meta http-equiv="refresh" content="0;url=${url}"><a href="${url}">Open the page</a>\n`;

/** Opens a URL or a file in the browser. */
export async function startOpener(target: string): Promise<void> {
  const { default: open } = await import("open");
  try {
    const end = await within(OPENER_TIMEOUT, programEnd(await open(target)), () => GOOD_END);
    if (end instanceof Error) throw end;
    if (end !== GOOD_END) throw new Error(`the program that opens web pages ended with ${end}`);
  } catch (error) {
    throw hasCode(error, "ENOENT")
      ? new Error("the program that opens web pages is not installed", { cause: error })
      : error;
  }
}
