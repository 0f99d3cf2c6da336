/** The context of a command on the real machine: its clock, network, disk and terminal. */
import type { Context, GlobalOptions, Output } from "./context.ts";
import { SECRET_BROKER_VARIABLES } from "./domain/brokers.ts";
import { hasCode } from "./domain/system-reason.ts";
import { createSender } from "./http/send.ts";
import { threadOf } from "./own-files.ts";
import { openServices } from "./services.ts";
import { createReadFile, createStdin } from "./terminal/files.ts";
import type { StandardChannels } from "./terminal/channel.ts";
import { createOutput } from "./terminal/output.ts";
import { createAsk, mayAsk } from "./terminal/prompts.ts";
import { createSecrets, traceSend, traceServe } from "./terminal/debug-trace.ts";
import type { Signals } from "./terminal/signals.ts";

/** Variables with secret values, which are never printed. */
const SECRET_VARIABLES = ["PAYLINK_TOKEN", "PAYLINK_CLIENT_SECRET", "PGPASSWORD", ...SECRET_BROKER_VARIABLES];

export interface MachineParts {
  readonly process: NodeJS.Process;
  readonly version: string;
  readonly channels: StandardChannels;
  readonly signals: Signals;
}

export interface Machine {
  readonly openOutput: (options: GlobalOptions) => Promise<Output>;
  readonly openContext: (options: GlobalOptions) => Promise<Context>;
  /** Closes every connection. */
  readonly close: () => Promise<void>;
}

export function openMachine({ process, version, channels, signals }: MachineParts): Machine {
  const signal = signals.interruption;
  const network = createSender({
    httpsProxy: process.env["HTTPS_PROXY"] ?? process.env["https_proxy"],
    noProxy: process.env["NO_PROXY"] ?? process.env["no_proxy"],
    nodeVersion: process.versions.node,
    userAgent: `paylink/${version}`,
  });
  const secrets = createSecrets();
  for (const name of SECRET_VARIABLES) secrets.know(process.env[name]);
  const now = (): Date => new Date();
  const openOutput = (options: GlobalOptions): Promise<Output> =>
    createOutput(channels, process.env, options, secrets.hide, now);
  const openContext = async (options: GlobalOptions): Promise<Context> => {
    const out = await openOutput(options);
    const traced = { secrets, now, show: options.debug === true ? out.debug : undefined };
    const stdin = createStdin({ open: () => process.stdin, signal, note: (text) => out.note(text) });
    const machine = {
      out,
      signal,
      startProgram: async (command: string, args: readonly string[]) => {
        const { startProgram } = await import("./terminal/programs.ts");
        return startProgram(command, args, { env: process.env, exiting: signals.exiting });
      },
      onReload: signals.onReload,
      now,
      readFile: createReadFile(stdin, signal),
      stdin,
      ask: mayAsk(process, options) ? createAsk(process, signal) : undefined,
      yes: options.yes === true,
      openBrowser: async (url: string) => (await import("./terminal/programs.ts")).openBrowser(url),
      copyText: async (text: string) => (await import("./terminal/programs.ts")).copyText(text),
      newId: () => crypto.randomUUID(),
      random: Math.random,
      pause: (milliseconds: number) => pause(milliseconds, signal),
      send: traceSend(network.send, traced),
      serve: traceServe(async (handler, serveOptions) => {
        return (await import("./http/serve.ts")).serve(handler, serveOptions);
      }, traced),
      env: process.env,
      processes: { own: process.pid, isRunning: (pid: number) => isRunning(process, pid) },
      profile: options.profile,
    } satisfies Partial<Context>;
    const eventThread = threadOf("event-thread.js");
    return Object.assign(machine, openServices({ ...machine, eventThread }, secrets));
  };
  return { openOutput, openContext, close: () => network.close() };
}

/** Signal 0 only asks. EPERM means that the process exists and belongs to another user. */
function isRunning(process: NodeJS.Process, pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { setTimeout: sleep } = await import("node:timers/promises");
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}
