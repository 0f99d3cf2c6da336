/** Runs a command line in this process: real settings, stores and sockets in a throw-away home; no terminal, no signals. */
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Ask, Context } from "../../src/context.ts";
import { PaylinkError } from "../../src/domain/errors.ts";
import { SYSTEM_TIMERS, type Timers } from "../../src/values/timers.ts";
import type { Send, Serve } from "../../src/http/exchange.ts";
import { serve } from "../../src/http/serve.ts";
import { createOpener } from "../../src/open-context.ts";
import { runCommandLine } from "../../src/run.ts";
import { runProgram, runShell, startProgram } from "../../src/terminal/programs.ts";
import { standardChannels } from "../../src/terminal/channel.ts";
import { unprinted } from "../../src/terminal/lost-output.ts";
import { THREAD } from "./event-stores.ts";
import { GIVEN_ENVIRONMENT } from "./given-environment.ts";
import { temporaryHome } from "./home.ts";
import { checkJsonOutput } from "./json-output.ts";
import type { Ended, RunOptions } from "./paylink.ts";
import { openSender } from "./sender.ts";

export interface CommandOptions {
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array | Readable;
  /** Where results go, instead of into memory. */
  readonly stdout?: Writable;
  /** The width of the terminal that it prints on; by default it prints on none. */
  readonly columns?: number;
  /** The network; a real one on loopback by default. */
  readonly send?: Send;
  /** Binds listeners; on the ports asked for by default. */
  readonly serve?: Serve;
  readonly now?: () => Date;
  /** The clock that nobody sets; the real one by default. */
  readonly timers?: Timers;
  /** Lets milliseconds pass; real ones by default. */
  readonly pause?: Context["pause"];
  /** Opens a web page; there is no browser by default. */
  readonly openBrowser?: Context["openBrowser"];
  /** The text of /proc/self/mountinfo. */
  readonly mounts?: string;
  /** Answers prompts; without it no prompts are possible. */
  readonly ask?: Ask;
  /** Ends the run as Ctrl-C does. */
  readonly signal?: AbortSignal;
  /** What fails when the run closes what it has opened. */
  readonly closing?: () => never;
  /** Sees what is printed on stdout so far. */
  readonly watch?: (stdout: string) => void;
  /** Sees what is printed on stderr so far. */
  readonly watchStderr?: (stderr: string) => void;
}

export interface CommandEnd {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly home: string;
}

/** What Ctrl-C gives as the reason of the signal. */
export const interrupted = (): PaylinkError => new PaylinkError("interrupted", "Interrupted.");

/** What SIGTERM gives. */
export const terminated = (): PaylinkError => new PaylinkError("terminated", "Terminated.");

/** Runs one command line to its end. With `--json`, what it prints must be as its schema says. */
export async function runCommand(argv: readonly string[], options: CommandOptions = {}): Promise<CommandEnd> {
  const home = options.home ?? temporaryHome();
  const signal = options.signal ?? new AbortController().signal;
  const terminal = options.columns === undefined ? {} : { isTTY: true, columns: options.columns };
  const stdout = memoryStream(terminal, options.watch);
  const stderr = memoryStream(terminal, options.watchStderr);
  const channels = standardChannels(
    { stdout: options.stdout ?? stdout.stream, stderr: stderr.stream },
    options.signal,
  );
  const env = { PAYLINK_HOME: home, ...options.env };
  const { stdin: typed = "" } = options;
  const input = typed instanceof Readable ? typed : Readable.from([Buffer.from(typed)]);
  const exit = await runCommandLine(argv, {
    version: "0.0.0",
    signal,
    uncaught: new Promise(() => undefined),
    print: channels.toStdout.write,
    unprinted: () => unprinted(channels.toStdout),
    opener: async () => {
      const opener = createOpener({
        channels,
        env,
        interruption: signal,
        openStdin: () => input,
        askWith: () => options.ask,
        startProgram: async (command: string, args: readonly string[]) =>
          startProgram(command, args, { env, exiting: new AbortController().signal }),
        runProgram: (command, args, options) =>
          runProgram(command, args, { ...options, exiting: new AbortController().signal }),
        runShell: (line, limits) =>
          runShell(line, {
            ...limits,
            env: { ...GIVEN_ENVIRONMENT, ...env },
            exiting: new AbortController().signal,
          }),
        now: options.now ?? (() => new Date()),
        timers: options.timers ?? SYSTEM_TIMERS,
        random: () => 0.5,
        openBrowser: options.openBrowser ?? (() => Promise.reject(new Error("no browser in tests"))),
        openFile: () => Promise.reject(new Error("no browser in tests")),
        pause:
          options.pause ??
          (async (milliseconds, ended) => {
            await sleep(milliseconds, undefined, { signal: ended }).catch(() => undefined);
          }),
        send: options.send ?? openSender(),
        serve: options.serve ?? serve,
        eventThread: THREAD,
        mounts: () => options.mounts ?? "",
      });
      const { closing } = options;
      if (closing === undefined) return opener;
      const openContext: typeof opener.openContext = (flags, run) => {
        run.later(closing);
        return opener.openContext(flags, run);
      };
      return { ...opener, openContext };
    },
  });
  const printed = { stdout: stdout.text(), stderr: stderr.text() };
  if (argv.includes("--json") && !argv.includes("--debug") && !argv.includes("--help"))
    await checkJsonOutput(argv, printed);
  return { exit, ...printed, home };
}

/** As `runPaylink`, in this process: for the steps around what a test of the built program is about. */
export async function runStep(
  argv: readonly string[],
  { input, ...options }: Pick<RunOptions, "home" | "env" | "input">,
): Promise<Ended> {
  const given = input === undefined ? options : { ...options, stdin: input };
  const { exit: code, stdout, stderr } = await runCommand(argv, given);
  return { code, stdout, stderr };
}

interface MemoryStream {
  readonly stream: Writable;
  readonly text: () => string;
}

function memoryStream(terminal: object, watch?: (text: string) => void): MemoryStream {
  const chunks: Buffer[] = [];
  const text = (): string => Buffer.concat(chunks).toString();
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      watch?.(text());
      done();
    },
  });
  return { stream: Object.assign(stream, terminal), text };
}
