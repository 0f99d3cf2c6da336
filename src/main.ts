/** The composition root: the real clock, network, disk and terminal meet the program here, and failures end here. */
import { join } from "node:path";
import type { Command, CommanderError } from "commander";
import { exampleOf } from "./commands/declare.ts";
import type { Context, GlobalOptions, Output } from "./context.ts";
import { PaylinkError } from "./domain/errors.ts";
import { createLazySender } from "./http/lazy-sender.ts";
import { createProgram } from "./program.ts";
import { renderError } from "./render/error-message.ts";
import { folders } from "./store/folders.ts";
import { openSettings, type Settings } from "./store/settings.ts";
import { createReadFile } from "./terminal/files.ts";
import { createOutput, standardStreams, type StandardStreams } from "./terminal/output.ts";
import { createAsk, mayAsk } from "./terminal/prompts.ts";
import { createSecrets, type Secrets } from "./terminal/secrets.ts";
import { traceSend, traceServe } from "./terminal/debug-trace.ts";

/** Put in from package.json when the program is built: the version stands in one place. */
declare const PAYLINK_VERSION: string;

/** Runs one command line and resolves with the exit code. */
export async function run(world: NodeJS.Process): Promise<number> {
  const typed = world.argv.slice(2);
  const argv = typed.length === 0 ? ["--help"] : typed;
  const streams = standardStreams(world);
  // Node's own warnings (22 calls its SQLite experimental) would stand where one JSON document is promised.
  world.removeAllListeners("warning");
  const interruption = new AbortController();
  const network = createLazySender(world);
  const secrets = createSecrets();
  let active: Command | undefined;
  let exit = 0;
  const endWith = (code: number): void => void (exit = code);
  const start = async (command: Command): Promise<Context> => {
    active = command;
    const run = { signal: interruption.signal, send: network.send, endWith, secrets };
    return await createContext(world, streams, command.optsWithGlobals(), run);
  };
  const program = createProgram({
    version: PAYLINK_VERSION,
    argv,
    start,
    print: (text) => streams.stdout.write(text),
  });
  const forget = watchSignals(world, interruption);
  try {
    await program.parseAsync(argv, { from: "user" });
    interruption.signal.throwIfAborted();
    return exit;
  } catch (error) {
    return await report(streams, world.env, program, active, error, secrets);
  } finally {
    forget();
    await network.close();
  }
}

async function createContext(
  world: NodeJS.Process,
  streams: StandardStreams,
  options: GlobalOptions,
  {
    signal,
    send,
    endWith,
    secrets,
  }: Pick<Context, "signal" | "send" | "endWith"> & { readonly secrets: Secrets },
): Promise<Context> {
  const { config, data } = folders(world.env["PAYLINK_HOME"]);
  for (const name of SECRET_VARIABLES) secrets.know(world.env[name]);
  const out = await createOutput(streams, world.env, options, secrets.hide);
  const now = (): Date => new Date();
  const watched = {
    secrets,
    now,
    show: options.debug === true ? (text: string) => out.note(text) : undefined,
  };
  return {
    out,
    readFile: createReadFile(() => world.stdin),
    get stdin() {
      return world.stdin;
    },
    ask: mayAsk(world, options) ? createAsk(world, signal) : undefined,
    openBrowser: async (url) => (await import("./terminal/desktop.ts")).openBrowser(url),
    copyText: async (text) => (await import("./terminal/desktop.ts")).copyText(text),
    now,
    // Few runs need an id, and node:crypto takes as long to load as everything before it.
    newId: () => world.getBuiltinModule("node:crypto").randomUUID(),
    random: Math.random,
    pause: (milliseconds) => pause(milliseconds, signal),
    signal,
    send: traceSend(send, watched),
    serve: traceServe(
      async (handler, serveOptions) => (await import("./http/serve.ts")).serve(handler, serveOptions),
      watched,
    ),
    env: world.env,
    processes: { own: world.pid, isRunning: (pid) => isRunning(world, pid) },
    profile: options.profile,
    settings: (home) => settingsIn(home === undefined ? config : folders(home).config, out, secrets),
    dataFolder: data,
    eventThread: join(__dirname, "../event-thread.js"),
    endWith,
  };
}

/** Signal 0 only asks; a process that belongs to somebody else is running all the same. */
function isRunning(world: NodeJS.Process, pid: number): boolean {
  try {
    return world.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

const SECRET_VARIABLES = ["PAYLINK_TOKEN", "PAYLINK_CLIENT_SECRET"];

/** Whatever the settings hold in secret stays so, whoever fails later. */
async function settingsIn(folder: string, out: Output, { know }: Secrets): Promise<Settings> {
  const settings = openSettings(folder, (warning) => out.note(`${out.notePaint.yellow("!")} ${warning}`));
  for (const { token, clientSecret, accessToken } of Object.values(settings.profiles()))
    for (const secret of [token, clientSecret, accessToken]) know(secret);
  return settings;
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { setTimeout: sleep } = await import("node:timers/promises");
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** The first signal asks the command to finish what it has in hand; the second one meets no handler and ends it. */
function watchSignals(world: NodeJS.Process, interruption: AbortController): () => void {
  const onInterrupt = (): void => interruption.abort(new PaylinkError("interrupted", "Interrupted."));
  const onTerminate = (): void => interruption.abort(new PaylinkError("terminated", "Terminated."));
  world.once("SIGINT", onInterrupt).once("SIGTERM", onTerminate);
  return () => void world.off("SIGINT", onInterrupt).off("SIGTERM", onTerminate);
}

/** The one catch: a failure becomes words on stderr and an exit code. */
async function report(
  streams: StandardStreams,
  env: NodeJS.ProcessEnv,
  program: Command,
  active: Command | undefined,
  error: unknown,
  { hide }: Secrets,
): Promise<number> {
  if (isAnswered(error)) return 0;
  const failure = error instanceof PaylinkError ? error : internal(error);
  const out = await createOutput(streams, env, program.opts<GlobalOptions>(), hide);
  if (failure.code === "interrupted" || failure.code === "terminated") {
    if (out.json) out.note(renderError(failure, out));
    return failure.exit;
  }
  const example = failure.code === "usage" && active !== undefined ? exampleOf(active) : undefined;
  out.note(renderError(failure, out, example));
  return failure.exit;
}

/** commander throws, too, where it has shown the help or the version. */
const isAnswered = (error: unknown): boolean => (error as Partial<CommanderError> | null)?.exitCode === 0;

function internal(error: unknown): PaylinkError {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new PaylinkError("internal", message, { cause: error });
}
