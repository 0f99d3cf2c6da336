/** Runs a command that serves, in this process, until the test is over. */
import { onTestFinished } from "vitest";
import type { PaylinkError } from "../../src/domain/errors.ts";
import { interrupted, runCommand, type CommandEnd, type CommandOptions } from "./context.ts";
import { giveMerchant } from "./merchant.ts";

export interface BackgroundCommand {
  readonly stdout: () => string;
  /** Resolves with the first match in stdout; rejects if the command ends without one. */
  readonly until: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Resolves when it ends by itself. */
  readonly ended: Promise<CommandEnd>;
  /** Ends it as Ctrl-C does, or for another reason. */
  readonly stop: (reason?: PaylinkError) => Promise<CommandEnd>;
}

export function startCommand(argv: readonly string[], options: CommandOptions = {}): BackgroundCommand {
  const interruption = new AbortController();
  const watchers = new Set<() => void>();
  let printed = "";
  const watch = (stdout: string): void => {
    printed = stdout;
    for (const watcher of watchers) watcher();
  };
  const ended = runCommand(argv, { ...options, signal: interruption.signal, watch });
  const stop = (reason = interrupted()): Promise<CommandEnd> => {
    interruption.abort(reason);
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  const until = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = pattern.exec(printed);
        if (match === null) return;
        watchers.delete(look);
        resolve(match);
      };
      watchers.add(look);
      void ended.then(({ stdout, stderr }) =>
        reject(new Error(`ended without ${pattern}: ${stdout}${stderr}`)),
      );
      look();
    });
  return { stdout: () => printed, until, ended, stop };
}

/** The address in the ready line that `listen --json` and `sandbox --json` begin with. */
async function readyAddress(command: BackgroundCommand): Promise<string> {
  const [, url = ""] = await command.until(/^\{"type":"ready","url":"([^"]+)".*\n/);
  return url;
}

export interface ServingCommand extends BackgroundCommand {
  readonly url: string;
}

/** A sandbox of the tests' merchant. */
export async function startSandboxCommand(home: string, ...flags: string[]): Promise<ServingCommand> {
  giveMerchant(home);
  const command = startCommand(["sandbox", "--port", "0", "--json", ...flags], { home });
  return { ...command, url: await readyAddress(command) };
}

/** A `listen` that stores what it receives in the home. */
export const startListenCommand = (home: string, ...flags: string[]): Promise<ServingCommand> =>
  startListenWith({ home }, ...flags);

export async function startListenWith(options: CommandOptions, ...flags: string[]): Promise<ServingCommand> {
  const command = startCommand(["listen", "--port", "0", "--json", ...flags], options);
  return { ...command, url: await readyAddress(command) };
}
