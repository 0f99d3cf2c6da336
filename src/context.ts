/** The context of a command: everything besides its own arguments reaches it through this one object. */
import type { Timers } from "./values/timers.ts";
import type { Api } from "./service/client.ts";
import type { Send, Serve } from "./http/exchange.ts";
import type { TimeLimit } from "./http/time-limit.ts";
import type { Named } from "./render/hint.ts";
import type { Ledger } from "./sandbox/store/ledger.ts";
import type { EventStore } from "./store/event-store.ts";
import type { Memory } from "./store/sent-rows.ts";
import type { Environment } from "./values/typed-text.ts";
import type { ResolvedSettings } from "./settings/resolved-settings.ts";
import type { SandboxIdentity } from "./sandbox/identity.ts";
import type { SettingsFile } from "./settings/settings-file.ts";
import type { FilesContext } from "./terminal/files.ts";
import type { Output } from "./terminal/output.ts";
import type { BackgroundProgram, ProgramOptions, ShellEnd } from "./terminal/programs.ts";
import type { Ask } from "./terminal/prompts.ts";

export type { Ask, FilesContext, Output };

export interface ApiOptions {
  /** Milliseconds for each exchange; without it, those of `--timeout` or 30 s. */
  readonly exchangeTimeout?: number | undefined;
  /** An account that is not stored, in place of the settings in force. The tokens it obtains are not stored either. */
  readonly settings?: ResolvedSettings;
  /** With `false`, the command repeats its requests by itself. */
  readonly retries?: boolean;
}

/** What a home holds for the sandbox. */
export interface SandboxHome {
  readonly identity: SandboxIdentity;
  /** Replaces the signing key on disk; the old one is retired a day after `now`, the sandbox's time. */
  readonly renewKey: (now: Date) => SandboxIdentity;
  /**
   * Opens a file, or the one at the default location; `reset` deletes what it has. The caller closes it. Throws if another sandbox
   * uses the file.
   */
  readonly ledger: (place?: string, reset?: boolean) => Ledger;
  /** Stores the profile that points at a running sandbox; at its first start, webhooks go to `listener`. */
  readonly register: (baseUrl: string, listener: string) => Promise<void>;
}

/** A `PAYLINK_HOME` for one run, with nothing of the user's settings. */
export interface TemporaryHome extends Pick<Context, "sandbox" | "events"> {
  readonly path: string;
}

/** The person who runs the command. */
interface PeopleContext {
  readonly out: Output;
  /** Undefined if nobody can answer: no terminal, CI, a coding agent, `--no-input`, `--json`, stdin was read. */
  readonly ask: () => Ask | undefined;
  /** `--yes`: the user confirms what a command would ask. */
  readonly yes: boolean;
  /** `--debug`: the user wants to see everything. */
  readonly debug: boolean;
  /** Opens a web page in the user's browser. Rejects if it cannot. */
  readonly openBrowser: (url: string) => Promise<void>;
  /** The same for a URL that contains a key: no program gets it as an argument. */
  readonly openPrivately: (url: string) => Promise<void>;
}

/** The machine: its clock, its network and its other programs. */
interface MachineContext {
  readonly now: () => Date;
  /** The monotonic clock and its timers, which do not change when the clock of `now` is set. */
  readonly timers: Timers;
  readonly newId: () => string;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly env: Environment;
  readonly send: Send;
  readonly serve: Serve;
  /** Starts a program of PATH beside the command, and kills it if the command ends without stopping it. */
  readonly startProgram: (command: string, args: readonly string[]) => Promise<BackgroundProgram>;
  /** Runs a program in the place of paylink. Resolves with its exit code; rejects if it cannot be started. */
  readonly runProgram: (
    command: string,
    args: readonly string[],
    options: Omit<ProgramOptions, "signal">,
  ) => Promise<number>;
  /** Runs a line in the user's shell, for at most this many milliseconds. Rejects with an earlier interruption. */
  readonly runShell: (line: string, timeout: number) => Promise<ShellEnd>;
}

/** How long the run lasts, and how it ends. */
interface RunContext {
  /**
   * Fires at Ctrl-C or SIGTERM, and when `--timeout` is over. A command completes the exchange in flight and
   * returns; the runner sets the exit code.
   */
  readonly signal: AbortSignal;
  /** `--timeout`, which bounds `send` and `api`. */
  readonly timeLimit: TimeLimit;
  /** Resolves after this many milliseconds, or rejects with an earlier interruption. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** Registers what to close when the run ends, however it ends. */
  readonly later: Later;
  /** What was typed after `paylink`, for advice to run the command once more with another flag. */
  readonly commandLine: readonly string[];
}

/** Whose account the command uses. */
export interface AccountContext {
  /** The profile that `--profile` names. */
  readonly profile: string | undefined;
  /** The profile and the store that advised commands repeat. */
  readonly named: Named;
  /** The values in force for this run, read once. Throws `no_profile` if the profile asked for does not exist. */
  readonly settings: () => Promise<ResolvedSettings>;
  /** The settings file with its profiles. */
  readonly profiles: () => Promise<SettingsFile>;
  /** Deletes the access token that paylink obtained for a profile. */
  readonly forgetToken: (profile: string) => void;
  /** The client of the service. Throws `no_profile`, `no_token`. */
  readonly api: (options?: ApiOptions) => Promise<Api>;
}

/** What paylink keeps besides its settings. */
export interface StoresContext {
  /** The event store at a place, or the one of the settings. It is closed when the run ends. */
  readonly events: (place?: string, options?: EventsOptions) => Promise<EventStore>;
  /** Why a file at this place is lost with its container, in words; undefined for a database, and if nothing suggests it. */
  readonly forgetting: (place: string) => string | undefined;
  /**
   * What `bulk` has sent: in the event store's database if that is PostgreSQL, else in a file of this machine. A dry run leaves no
   * trace where nothing was sent. The caller closes it.
   */
  readonly sentRows: (options: { readonly isDryRun: boolean }) => Promise<Memory>;
  /** The sandbox's identity, ledger and profile. */
  readonly sandbox: () => Promise<SandboxHome>;
  /** It is deleted when the run ends. */
  readonly temporaryHome: () => Promise<TemporaryHome>;
  /** The folder for what paylink keeps besides its settings. */
  readonly dataFolder: string;
}

export interface Context
  extends FilesContext, PeopleContext, MachineContext, RunContext, AccountContext, StoresContext {}

/** The last is closed first. Each is awaited before the next one, and is also closed if another one fails. */
export type Later = (close: () => unknown) => void;

export interface EventsOptions {
  /** Milliseconds that a read may take at a database server. */
  readonly readTimeout?: number;
  /** Whether to make a named store that is missing. A command that only reads does not: the name is probably mistyped. */
  readonly create?: boolean;
  /** Whether to take an older store to the version of this program, as a command does that writes to it, or creates it. */
  readonly upgrade?: boolean;
  /** The command continues after an interruption, and calls `hurry` itself. Otherwise an interruption ends the wait for a silent server. */
  readonly drains?: boolean;
}

/** The options that every command takes, as commander gives them. */
export interface GlobalOptions {
  readonly profile?: string;
  readonly json?: boolean;
  readonly input: boolean;
  readonly color: boolean;
  readonly debug?: boolean;
  readonly yes?: boolean;
}
