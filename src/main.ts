/** The composition root: the real clock, network, disk and terminal meet the program here. */
import { join } from "node:path";
import type { Context, GlobalOptions, Output } from "./context.ts";
import { PaylinkError } from "./domain/errors.ts";
import { createSender } from "./http/send.ts";
import { runCommandLine } from "./run.ts";
import { isReaderGone } from "./terminal/channel.ts";
import { createReadFile, createStdin } from "./terminal/files.ts";
import { createOutput, standardChannels } from "./terminal/output.ts";
import { createAsk, mayAsk } from "./terminal/prompts.ts";
import { createSecrets } from "./terminal/secrets.ts";
import { traceSend, traceServe } from "./terminal/debug-trace.ts";

/** Set from package.json by the build. */
declare const PAYLINK_VERSION: string;

/** Variables that hold a secret: their values are never printed. */
const SECRET_VARIABLES = ["PAYLINK_TOKEN", "PAYLINK_CLIENT_SECRET", "PGPASSWORD"];

/** Runs one command line and resolves with the exit code. */
export async function run(world: NodeJS.Process): Promise<number> {
  const channels = standardChannels(world);
  const interruption = new AbortController();
  const { signal } = interruption;
  const network = createSender({
    httpsProxy: world.env["HTTPS_PROXY"] ?? world.env["https_proxy"],
    noProxy: world.env["NO_PROXY"] ?? world.env["no_proxy"],
    nodeVersion: world.versions.node,
    userAgent: `paylink/${PAYLINK_VERSION}`,
  });
  const secrets = createSecrets();
  for (const name of SECRET_VARIABLES) secrets.know(world.env[name]);
  const openOutput = (options: GlobalOptions): Promise<Output> =>
    createOutput(channels, world.env, options, secrets.hide);
  const now = (): Date => new Date();
  const openContext = async (options: GlobalOptions): Promise<Context> => {
    // Help needs no settings: loading them takes an eighth of its time (startup bench).
    const { openServices } = await import("./services.ts");
    const out = await openOutput(options);
    const traced = { secrets, now, show: options.debug === true ? out.debug : undefined };
    const stdin = createStdin({ open: () => world.stdin, signal, note: (text) => out.note(text) });
    const machine = {
      out,
      signal,
      now,
      readFile: createReadFile(stdin, signal),
      stdin,
      ask: mayAsk(world, options) ? createAsk(world, signal) : undefined,
      yes: options.yes === true,
      openBrowser: async (url: string) => (await import("./terminal/desktop.ts")).openBrowser(url),
      copyText: async (text: string) => (await import("./terminal/desktop.ts")).copyText(text),
      newId: () => crypto.randomUUID(),
      random: Math.random,
      pause: (milliseconds: number) => pause(milliseconds, signal),
      send: traceSend(network.send, traced),
      serve: traceServe(async (handler, serveOptions) => {
        return (await import("./http/serve.ts")).serve(handler, serveOptions);
      }, traced),
      env: world.env,
      processes: { own: world.pid, isRunning: (pid: number) => isRunning(world, pid) },
      profile: options.profile,
    } satisfies Partial<Context>;
    const eventThread = join(__dirname, "event-thread.js");
    return Object.assign(machine, openServices({ ...machine, eventThread }, secrets));
  };
  const stopWatching = watchSignals(world, interruption);
  let exit: number;
  try {
    exit = await runCommandLine(world.argv.slice(2), {
      version: PAYLINK_VERSION,
      signal,
      print: (text) => channels.toStdout.write(text),
      openOutput,
      openContext,
    });
  } finally {
    stopWatching();
    await network.close();
  }
  const failure = await channels.toStdout.settled();
  if (exit === 0 && failure !== undefined && !isReaderGone(failure)) exit = 1;
  if (exit === 0) return exit;
  await channels.toStderr.settled();
  // undici cannot cancel a connection that is still being made, which would keep the process alive.
  world.exit(exit);
  return exit;
}

/** Signal 0 only asks. EPERM means that the process exists and belongs to another user. */
function isRunning(world: NodeJS.Process, pid: number): boolean {
  try {
    return world.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { setTimeout: sleep } = await import("node:timers/promises");
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** The first signal asks the command to finish what is in flight. The second finds no handler and ends the process. */
function watchSignals(world: NodeJS.Process, interruption: AbortController): () => void {
  const onInterrupt = (): void => interruption.abort(new PaylinkError("interrupted", "Interrupted."));
  const onTerminate = (): void => interruption.abort(new PaylinkError("terminated", "Terminated."));
  world.once("SIGINT", onInterrupt).once("SIGTERM", onTerminate);
  return () => void world.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate);
}
