/** Opens the context of a command: its services are opened when it needs them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Ask, Context, GlobalOptions, Later, TemporaryHome } from "./context.ts";
import { withoutPassword } from "./values/url-passwords.ts";
import { SECRET_BROKER_VARIABLES } from "./receiver/brokers/addresses.ts";
import { SYSTEM_TIMERS } from "./values/timers.ts";
import { proxiesOf } from "./http/proxies.ts";
import { createSender } from "./http/send.ts";
import { type Pause, TimeLimit } from "./http/time-limit.ts";
import { type AccountParts, openAccount } from "./open-account.ts";
import { openStores, type StoresParts } from "./open-stores.ts";
import { threadOf } from "./own-files.ts";
import type { Opener, RunParts } from "./run.ts";
import { SETTINGS } from "./settings/setting-table.ts";
import { folders } from "./store/folders.ts";
import type { ThreadProgram } from "./store/sqlite/file-store.ts";
import type { StandardChannels } from "./terminal/channel.ts";
import { createSecrets, traceSend, traceServe } from "./terminal/debug-trace.ts";
import {
  createFileWith,
  createReadFile,
  createStdin,
  type StandardInput,
  writeFile,
} from "./terminal/files.ts";
import { createOutput, type Output } from "./terminal/output.ts";
import type { ProgramOptions, ShellEnd, ShellOptions } from "./terminal/programs.ts";
import { createAsk, mayAsk } from "./terminal/prompts.ts";
import type { Signals } from "./terminal/signals.ts";

/** Variables with secret values, which are never printed. */
const SECRET_VARIABLES = ["PAYLINK_TOKEN", "PAYLINK_CLIENT_SECRET", "PGPASSWORD", ...SECRET_BROKER_VARIABLES];

/** For a program that is not the user's own. Variables of paylink may have a password in them. */
const publicVariablesOf = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith("PAYLINK_") && !SECRET_VARIABLES.includes(name)),
  );

/** What a run gets from outside: the process and its machine, or their stand-ins in a test. */
export interface Surroundings extends Pick<
  Context,
  "startProgram" | "now" | "timers" | "random" | "openBrowser" | "send" | "serve"
> {
  /** Runs a line in the user's shell. */
  readonly runShell: (line: string, options: ShellOptions) => Promise<ShellEnd>;
  /** Runs a program in the place of paylink. */
  readonly runProgram: (command: string, args: readonly string[], options: ProgramOptions) => Promise<number>;
  /** Opens a file in the user's browser. */
  readonly openFile: (path: string) => Promise<void>;
  /** Fires at Ctrl-C or SIGTERM. */
  readonly interruption: AbortSignal;
  readonly pause: Pause;
  readonly channels: StandardChannels;
  readonly env: Context["env"];
  readonly openStdin: () => StandardInput;
  readonly askWith: (options: GlobalOptions, signal: AbortSignal) => Ask | undefined;
  /** The thread that writes events. */
  readonly eventThread: ThreadProgram;
  /** The text of /proc/self/mountinfo; empty where the system has none. */
  readonly mounts: () => string;
}

export function createOpener(around: Surroundings): Opener {
  const { channels, env, now, timers } = around;
  const secrets = createSecrets();
  for (const name of SECRET_VARIABLES) secrets.know(env[name]);
  const openOutput = (options: GlobalOptions): Promise<Output> =>
    createOutput(channels, env, options, secrets.hide, now);
  const openContext = async (
    options: GlobalOptions,
    { out, eventStore, terminalId, commandLine, later }: RunParts,
  ): Promise<Context> => {
    const timeLimit = new TimeLimit(around.interruption, timers);
    const { signal } = timeLimit;
    const traced = {
      secrets,
      timers,
      proxies: proxiesOf(env),
      show: options.debug === true ? (text: string) => out.debug(text) : undefined,
    };
    const stdin = createStdin({ open: around.openStdin, signal, note: (text) => out.note(text) });
    const { startProgram, pause, random, openBrowser, eventThread, mounts } = around;
    const newId = (): string => crypto.randomUUID();
    const ask = around.askWith(options, signal);
    const createFile = createFileWith(newId);
    const run = {
      out,
      signal,
      timeLimit,
      startProgram,
      runProgram: (command, args, given) => around.runProgram(command, args, { ...given, signal }),
      runShell: (line, timeout) => around.runShell(line, { timeout, signal }),
      now,
      timers,
      random,
      newId,
      openBrowser,
      openPrivately: (url) => openPrivately(url, around.openFile, later),
      pause: timeLimit.boundPause(pause),
      env,
      stdin,
      readFile: createReadFile(stdin, signal),
      writeFile,
      createFile,
      ask: () => (stdin.wasRead ? undefined : ask),
      yes: options.yes === true,
      debug: options.debug === true,
      later,
      send: timeLimit.bound(traceSend(around.send, traced)),
      serve: traceServe(around.serve, traced),
      commandLine,
      profile: options.profile?.trim(),
      named: {
        profile: options.profile?.trim() ?? (env["PAYLINK_PROFILE"]?.trim() || undefined),
        // A place with a password is refused, and no advice repeats the password.
        eventStore: eventStore && withoutPassword(eventStore),
        // A profile that `-p` names has a terminal of its own.
        terminalId:
          terminalId ??
          (options.profile === undefined ? env["PAYLINK_TERMINAL_ID"]?.trim() || undefined : undefined),
        places: {
          ...(options.profile === undefined ? placesIn(env) : {}),
          ...(terminalId === undefined ? {} : { terminalId: "--terminal-id" }),
        },
      },
    } satisfies Partial<Context>;
    const parts = { ...run, eventThread, mounts, secrets };
    const temporaryHome = async (): Promise<TemporaryHome> => {
      const path = await temporaryFolder(later);
      const home = { ...parts, env: { PAYLINK_HOME: path }, profile: undefined, named: {} };
      return { path, ...(await openHome(home)) };
    };
    return { ...run, ...(await openHome(parts)), temporaryHome };
  };
  return { openOutput, openContext };
}

/** The settings and the stores of a PAYLINK_HOME. */
async function openHome(parts: AccountParts & Omit<StoresParts, "settings" | "profiles">) {
  const { config, data } = await folders(parts.env["PAYLINK_HOME"]);
  const account = openAccount(parts, config);
  return { ...account, ...openStores({ ...parts, ...account }, data) };
}

/** The process and its machine: the clock, the network, the terminal. */
export function surroundingsOf(process: NodeJS.Process, channels: StandardChannels, signals: Signals) {
  const network = createSender({
    ...proxiesOf(process.env),
    userAgent: `paylink/${PAYLINK_VERSION}`,
  });
  const around: Surroundings = {
    channels,
    env: process.env,
    interruption: signals.interruption,
    openStdin: () => process.stdin,
    askWith: (options, signal) => (mayAsk(process, options) ? createAsk(process, signal) : undefined),
    startProgram: async (command, args) => {
      const { startProgram } = await import("./terminal/programs.ts");
      return startProgram(command, args, { env: publicVariablesOf(process.env), exiting: signals.exiting });
    },
    runProgram: async (command, args, options) => {
      const { runProgram } = await import("./terminal/programs.ts");
      return runProgram(command, args, { ...options, exiting: signals.exiting });
    },
    runShell: async (line, options) => {
      const { runShell } = await import("./terminal/programs.ts");
      return runShell(line, { ...options, env: process.env, exiting: signals.exiting });
    },
    now: () => new Date(),
    timers: SYSTEM_TIMERS,
    random: Math.random,
    openBrowser: async (url) => (await import("./terminal/programs.ts")).openBrowser(url),
    openFile: async (path) => (await import("./terminal/programs.ts")).startOpener(path),
    pause,
    send: network.send,
    serve: async (handler, options) => (await import("./http/serve.ts")).serve(handler, options),
    eventThread: threadOf("event-thread.js"),
    mounts: () => {
      try {
        return readFileSync("/proc/self/mountinfo", "utf8");
      } catch {
        return "";
      }
    },
  };
  return { around, close: () => network.close() };
}

/**
 * Every user of the machine can read the arguments of programs. The program that opens the page therefore gets a file that only this
 * user can read, and that redirects to the page.
 */
async function openPrivately(url: string, openFile: Surroundings["openFile"], later: Later): Promise<void> {
  const { writeFile: write } = await import("node:fs/promises");
  const { pageThatLeadsTo } = await import("./terminal/programs.ts");
  const file = join(await temporaryFolder(later), "open.html");
  await write(file, pageThatLeadsTo(url), { mode: 0o600, flag: "wx" });
  await openFile(file);
}

/** For this user only; it is deleted when the run ends. */
async function temporaryFolder(later: Later): Promise<string> {
  const { mkdtemp, rm } = await import("node:fs/promises");
  const { tmpdir } = await import("node:os");
  const path = await mkdtemp(join(tmpdir(), "paylink-"));
  later(() => rm(path, { recursive: true, force: true }));
  return path;
}

const pause: Pause = async (milliseconds, signal) => {
  const { setTimeout: sleep } = await import("node:timers/promises");
  // The signal has the reason of an early end.
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
};

/** The variables that decide settings, those of an account as its token. */
function placesIn(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const set = Object.entries(SETTINGS).flatMap(([key, { variable }]) =>
    variable !== undefined && env[variable]?.trim() ? [[key, variable] as const] : [],
  );
  const { token, clientSecret = token, ...places } = Object.fromEntries(set);
  return clientSecret === undefined ? places : { ...places, token: clientSecret };
}
