/** Opens the context of a command: its services are opened when it needs them. */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Context, EventsOptions, GlobalOptions, Later, TemporaryHome } from "./context.ts";
import { SECRET_BROKER_VARIABLES } from "./domain/brokers.ts";
import { hint, PaylinkError } from "./domain/errors.ts";
import { hasCode, systemReason } from "./domain/system-reason.ts";
import { SYSTEM_TIMERS } from "./domain/timers.ts";
import type { Send } from "./http/exchange.ts";
import { createSender } from "./http/send.ts";
import { createTimeLimit, type Pause } from "./http/time-limit.ts";
import { threadOf } from "./own-files.ts";
import type { Opener, RunParts } from "./run.ts";
import { SANDBOX_PROFILE, withoutPassword } from "./domain/addresses.ts";
import { isDatabaseUrl, passwordsIn } from "./domain/event-store-place.ts";
import type { EventStore } from "./store/event-store.ts";
import type { ThreadProgram } from "./store/sqlite.ts";
import { forgettingPlace } from "./store/forgetting.ts";
import { eventsPath, folders, sandboxFolder } from "./store/folders.ts";
import { type ResolvedSettings, resolveSettings } from "./settings/resolved-settings.ts";
import { profileNamed } from "./settings/profile.ts";
import { requireProfile } from "./settings/profile-names.ts";
import { openSettingsFile, type SettingsFile } from "./settings/settings-file.ts";
import { openTokenFiles } from "./settings/token-files.ts";
import type { StandardChannels } from "./terminal/channel.ts";
import { createSecrets, type Secrets, traceSend, traceServe } from "./terminal/debug-trace.ts";
import { createReadFile, createStdin, type StandardInput } from "./terminal/files.ts";
import { createOutput, type Output } from "./terminal/output.ts";
import type { ShellEnd, ShellOptions } from "./terminal/programs.ts";
import { createAsk, mayAsk } from "./terminal/prompts.ts";
import type { Signals } from "./terminal/signals.ts";

/** How long one exchange with the service may take if no flag says otherwise, in milliseconds. */
const REQUEST_TIMEOUT = 30_000;

/** Milliseconds after an interruption in which the server of the event store may still answer. */
const LAST_STATEMENTS = 500;

/** Variables with secret values, which are never printed. */
const SECRET_VARIABLES = ["PAYLINK_TOKEN", "PAYLINK_CLIENT_SECRET", "PGPASSWORD", ...SECRET_BROKER_VARIABLES];

/** What a run finds around it: the process and its machine, or what a test has in their place. */
export interface Surroundings extends Pick<
  Context,
  "startProgram" | "now" | "timers" | "random" | "openBrowser" | "send" | "serve"
> {
  /** Runs a line in the user's shell. */
  readonly runShell: (line: string, options: ShellOptions) => Promise<ShellEnd>;
  /** Opens a file in the user's browser. */
  readonly openFile: (path: string) => Promise<void>;
  /** Fires at Ctrl-C or SIGTERM. */
  readonly interruption: AbortSignal;
  readonly pause: Pause;
  readonly channels: StandardChannels;
  readonly env: Context["env"];
  readonly openStdin: () => StandardInput;
  readonly askWith: (options: GlobalOptions, signal: AbortSignal) => Context["ask"];
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
    { out, eventStore, later }: RunParts,
  ): Promise<Context> => {
    const timeLimit = createTimeLimit(around.interruption, timers);
    const { signal } = timeLimit;
    const traced = { secrets, timers, show: options.debug === true ? out.debug : undefined };
    const stdin = createStdin({ open: around.openStdin, signal, note: (text) => out.note(text) });
    const { startProgram, pause, random, openBrowser, eventThread, mounts } = around;
    const ask = around.askWith(options, signal);
    const own = {
      out,
      signal,
      timeLimit,
      startProgram,
      runShell: (line, timeout) => around.runShell(line, { timeout, signal }),
      now,
      timers,
      random,
      openBrowser,
      openPrivately: (url) => openPrivately(url, around.openFile, later),
      pause: timeLimit.boundPause(pause),
      env,
      stdin,
      readFile: createReadFile(stdin, signal),
      get ask() {
        return stdin.wasRead ? undefined : ask;
      },
      yes: options.yes === true,
      newId: () => crypto.randomUUID(),
      later,
      send: timeLimit.bound(traceSend(around.send, traced)),
      serve: traceServe(around.serve, traced),
      profile: options.profile?.trim(),
      named: {
        profile: options.profile?.trim() ?? (env["PAYLINK_PROFILE"]?.trim() || undefined),
        // A password there is refused, and is not repeated.
        eventStore: eventStore && withoutPassword(eventStore),
      },
    } satisfies Partial<Context>;
    return Object.assign(own, await openServices({ ...own, eventThread, mounts }, secrets));
  };
  return { openOutput, openContext };
}

/** The process and its machine: the clock, the network, the terminal. */
export function surroundingsOf(process: NodeJS.Process, channels: StandardChannels, signals: Signals) {
  const network = createSender({
    httpsProxy: process.env["HTTPS_PROXY"] || process.env["https_proxy"],
    noProxy: process.env["NO_PROXY"] || process.env["no_proxy"],
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
      return startProgram(command, args, { env: process.env, exiting: signals.exiting });
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
 * Every user of the machine can read the arguments of programs, so the one that opens the page gets a file, which only this user can
 * read and which leads there.
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
  // An early end has its reason in the signal.
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
};

interface Own extends Pick<
  Context,
  | "out"
  | "send"
  | "signal"
  | "timeLimit"
  | "now"
  | "timers"
  | "newId"
  | "random"
  | "pause"
  | "env"
  | "profile"
  | "named"
  | "later"
> {
  readonly eventThread: ThreadProgram;
  readonly mounts: () => string;
}

async function openServices(own: Own, secrets: Pick<Secrets, "know">) {
  const { out, signal, timeLimit, now, timers, newId, random, pause, env, named, later, eventThread } = own;
  const { config, data } = await folders(env["PAYLINK_HOME"]);
  // Opened once, so that an unchanged file is parsed once.
  let stored: SettingsFile | undefined;
  const profiles = async (): Promise<SettingsFile> => {
    const settings = (stored ??= openSettingsFile(config));
    for (const { token, clientSecret } of Object.values(settings.profiles()))
      for (const secret of [token, clientSecret]) secrets.know(secret);
    return settings;
  };
  const tokens = openTokenFiles(config);
  const send: Send = async (request, options) => {
    try {
      return await own.send(request, options);
    } catch (error) {
      const { nameStoppedSandbox } = await import("./service/sandbox.ts");
      throw await nameStoppedSandbox(error, request, async () => {
        const sandbox = (await profiles()).profiles()[SANDBOX_PROFILE];
        return sandbox?.baseUrl;
      });
    }
  };
  let read: Promise<ResolvedSettings> | undefined;
  const readSettings = async (): Promise<ResolvedSettings> => {
    const file = await profiles();
    const stored = file.profiles();
    const name = named.profile ?? file.current() ?? "";
    const profile = named.profile === undefined ? profileNamed(stored, name) : requireProfile(name, stored);
    return resolveSettings({ name, profile, isNamed: own.profile !== undefined, env });
  };
  const settings = (): Promise<ResolvedSettings> => (read ??= readSettings());
  const api: Context["api"] = async (options = {}) => {
    const { openApi } = await import("./service/open-client.ts");
    for (const key of ["token", "clientSecret"] as const) secrets.know(options.settings?.get(key));
    return openApi({
      send,
      retries: options.retries ?? true,
      now,
      timers,
      random,
      pause,
      signal,
      settings: options.settings ?? (await settings()),
      timeout: options.exchangeTimeout ?? timeLimit.milliseconds() ?? REQUEST_TIMEOUT,
      timeLeft: timeLimit.left,
      waiting: ({ reason, milliseconds, retry, retries }) => {
        const wait = `${(milliseconds / 1000).toFixed(1)} s`;
        out.warn(`Nothing was done: ${reason}. Trying again in ${wait} (${retry} of ${retries}).`);
      },
      kept: (name, client) => {
        const kept = options.settings === undefined ? tokens.read(name, client) : undefined;
        secrets.know(kept?.token);
        return kept;
      },
      keep: (name, client, token) => {
        secrets.know(token.token);
        if (options.settings !== undefined) return;
        try {
          tokens.keep(name, client, token, newId());
        } catch (error) {
          out.warn(`The access token is not stored for the next command: ${systemReason(error)}.`);
        }
      },
    });
  };
  const openEvents = async (
    place?: string,
    { readTimeout, create = false }: EventsOptions = {},
  ): Promise<EventStore> => {
    const chosen = place ?? (await settings()).get("eventStore");
    if (chosen !== undefined && isDatabaseUrl(chosen)) {
      for (const password of passwordsIn(chosen)) secrets.know(password);
      const { openPostgresEventStore } = await import("./store/postgres.ts");
      const times = readTimeout === undefined ? {} : { read: readTimeout };
      return openPostgresEventStore(chosen, { env, user: await userName(), create, times });
    }
    if (chosen !== undefined) requireFolder(chosen);
    const { openEventStore } = await import("./store/sqlite.ts");
    return openEventStore(chosen ?? eventsPath(data, (await settings()).profile), {
      thread: eventThread,
      user: await userName(),
      create: create || chosen === undefined,
    });
  };
  return {
    dataFolder: data,
    send,
    profiles,
    forgetToken: (name) => tokens.forget(name),
    settings,
    api,
    events: async (place, options) => {
      const store = await openEvents(place, options);
      later(() => store.close());
      const hurry = (): void => store.hurry(LAST_STATEMENTS);
      if (options?.drains !== true) signal.addEventListener("abort", hurry, { once: true });
      return store;
    },
    forgetting: (place) =>
      isDatabaseUrl(place) || !existsSync(dirname(place))
        ? undefined
        : forgettingPlace(own.mounts(), realpathSync(dirname(place))),
    sentRows: async (options) => {
      const place = (await settings()).get("eventStore");
      if (place !== undefined && isDatabaseUrl(place)) {
        for (const password of passwordsIn(place)) secrets.know(password);
        const { openSharedMemory } = await import("./bulk/shared-memory.ts");
        return openSharedMemory(join(data, "bulk"), { url: place, env, ...options });
      }
      const { openLocalMemory } = await import("./bulk/local-memory.ts");
      return openLocalMemory(join(data, "bulk"), options);
    },
    sandbox: async () => {
      const { openIdentity, profileOf, renewKey } = await import("./sandbox/identity.ts");
      const { openLedger } = await import("./sandbox/store/ledger.ts");
      const folder = sandboxFolder(data);
      const identity = await openIdentity(folder, newId, (path, text) =>
        createFile(`${path}.${newId()}`, path, { text, place: "the sandbox's identity", mode: 0o600 }),
      );
      return {
        identity,
        renewKey: (at) => renewKey(folder, newId, at),
        ledger: (place) => {
          if (place !== undefined) requireFolder(place);
          return openLedger(place ?? join(folder, "sandbox.db"));
        },
        register: async (baseUrl, listener) =>
          (await profiles()).change(SANDBOX_PROFILE, (before) =>
            profileOf(identity, baseUrl, listener, before),
          ),
      };
    },
    temporaryHome: async (): Promise<TemporaryHome> => {
      const path = await temporaryFolder(later);
      const { sandbox, events } = await openServices(
        { ...own, env: { PAYLINK_HOME: path }, profile: undefined, named: {} },
        secrets,
      );
      return { path, sandbox, events };
    },
    writeFile,
    createFile: (path, text, place, mode) => createFile(`${path}.${newId()}`, path, { text, place, mode }),
  } satisfies Partial<Context>;
}

/** paylink creates its own folders only: another one that does not exist was probably mistyped. */
function requireFolder(place: string): void {
  const folder = dirname(place);
  if (!existsSync(folder))
    throw new PaylinkError("file_unwritable", `${place} cannot be opened: there is no folder ${folder}.`, {
      hints: [hint`Create that folder, or name a file in a folder that exists.`],
    });
}

async function writeFile(path: string, text: string, place: string): Promise<void> {
  const { writeFile: write } = await import("node:fs/promises");
  try {
    await write(path, text);
  } catch (error) {
    throw unwritable(path, place, error);
  }
}

interface NewFile {
  readonly text: string;
  readonly place: string;
  readonly mode: number;
}

/** Written under another name and linked, so that nobody reads the half of it, and two processes do not both create it. */
async function createFile(draft: string, path: string, { text, place, mode }: NewFile): Promise<boolean> {
  const { link, rm, writeFile: write } = await import("node:fs/promises");
  try {
    await write(draft, text, { mode, flag: "wx", flush: true });
    await link(draft, path);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw unwritable(path, place, error);
  } finally {
    await rm(draft, { force: true });
  }
}

function unwritable(path: string, place: string, cause: unknown): PaylinkError {
  const reason = hasCode(cause, "ENOENT") ? "its folder does not exist" : systemReason(cause);
  return new PaylinkError("file_unwritable", `Cannot write ${place} ${path}: ${reason}.`, { cause });
}

/** The user of the system. One that its files do not name has a number alone. */
async function userName(): Promise<string> {
  const { userInfo } = await import("node:os");
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}
