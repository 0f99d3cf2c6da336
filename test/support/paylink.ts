/** Runs the real binary: to its end, or in the background until the test is over. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { GIVEN_ENVIRONMENT } from "./given-environment.ts";
import { giveMerchant } from "./merchant.ts";

export const BINARY = resolve(import.meta.dirname, "../../bin/paylink.js");

export interface RunOptions {
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
  /** What is run instead of the built program on this Node. */
  readonly program?: readonly string[];
  /** A command that runs the program, which it is given as its last arguments. */
  readonly through?: readonly string[];
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Started {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<Ended>;
}

/** The program gets what the test gives, and nothing of the user's: HOME holds what Node keeps compiled. */
function start(
  args: readonly string[],
  { home, env = {}, program = [process.execPath, BINARY], through = [] }: RunOptions,
): Started {
  const [command = process.execPath, ...rest] = [...through, ...program, ...args];
  const child = spawn(command, rest, {
    env: { ...GIVEN_ENVIRONMENT, HOME: home, PAYLINK_HOME: home, TZ: "UTC", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  const stdout = (): string => Buffer.concat(out).toString();
  const stderr = (): string => Buffer.concat(err).toString();
  const ended = new Promise<Ended>((done, fail) => {
    child.on("error", fail);
    child.on("close", (code) => done({ code, stdout: stdout(), stderr: stderr() }));
  });
  return { child, stdout, stderr, ended };
}

export function runPaylink(args: readonly string[], options: RunOptions): Promise<Ended> {
  const { child, ended } = start(args, options);
  // A program that ends before it has read its input is no failure.
  child.stdin?.on("error", () => undefined).end(options.input ?? "");
  return ended;
}

export interface Running {
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the first match in stdout; rejects when the program ends without one. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves when it has read the text from its standard input, except for what a pipe holds. */
  write(text: string): Promise<void>;
  /** Ends its standard input. */
  close(): void;
  /** Stops reading stdout, as `head` does when it has what it wants. */
  leave(): void;
  /** Stops reading; returns a function that continues. */
  pause(): () => void;
  /** Sends a signal and resolves when the program has ended. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
  /** Sends a signal to a program that waits, and resolves when it has handled it and waits again. */
  interrupt(signal: NodeJS.Signals): Promise<void>;
  readonly ended: Promise<Ended>;
}

/** How often the main thread of a process has begun to wait (Linux; undefined elsewhere). */
function waitsOf(pid: number): string | undefined {
  const status = `/proc/${pid}/status`;
  return existsSync(status)
    ? /^voluntary_ctxt_switches:\s*(\d+)$/m.exec(readFileSync(status, "utf8"))?.[1]
    : undefined;
}

/** Starts a program that goes on; it is killed when the test is over, whatever became of it. */
export function startPaylink(args: readonly string[], options: RunOptions): Running {
  const { child, stdout, stderr, ended } = start(args, options);
  onTestFinished(() => void child.kill("SIGKILL"));
  return {
    pid: child.pid ?? 0,
    stdout,
    stderr,
    ended,
    until: (pattern) =>
      new Promise((found, fail) => {
        const look = (): void => {
          const match = pattern.exec(stdout());
          if (match === null) return;
          child.stdout?.off("data", look);
          found(match);
        };
        child.stdout?.on("data", look);
        child.on("close", () => fail(new Error(`ended without ${pattern}: ${stdout()}${stderr()}`)));
        look();
      }),
    write: (text) => new Promise((written) => void child.stdin?.write(text, () => written())),
    close: () => void child.stdin?.end(),
    pause: () => {
      child.stdout?.pause();
      return () => void child.stdout?.resume();
    },
    leave: () => void child.stdout?.destroy(),
    stop: (signal = "SIGINT") => {
      child.kill(signal);
      return ended;
    },
    interrupt: async (signal) => {
      const { pid = 0 } = child;
      const before = waitsOf(pid);
      child.kill(signal);
      if (before === undefined) return pause(1_000);
      while (waitsOf(pid) === before) await pause(5);
    },
  };
}

/** The address in the ready line that `listen --json` and `sandbox --json` begin with. */
export async function readyUrl(running: Running): Promise<string> {
  const [, url = ""] = await running.until(/^\{"type":"ready","url":"([^"]+)".*\n/);
  return url;
}

/** Starts a sandbox of the tests' merchant, and gives its address. */
export function startSandbox(home: string, ...flags: string[]): Promise<string> {
  giveMerchant(home);
  return readyUrl(startPaylink(["sandbox", "--port", "0", "--json", ...flags], { home }));
}
