/** The composition root: the real clock, network, disk and terminal meet the program here, and failures end here. */
import { fstatSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command, CommanderError } from "commander";
import type { Context, GlobalOptions, Output } from "./context.ts";
import { PaylinkError } from "./domain/errors.ts";
import type { Sender } from "./http/send.ts";
import type { Settings } from "./store/settings.ts";
import { createSecrets, type Secrets } from "./terminal/secrets.ts";

/** Put in from package.json when the program is built: the version stands in one place. */
declare const PAYLINK_VERSION: string;

/** Runs one command line and resolves with the exit code. */
export async function run(world: NodeJS.Process): Promise<number> {
  const typed = world.argv.slice(2);
  const argv = typed.length === 0 ? ["--help"] : typed;
  const only = argv.length === 1 ? argv[0] : undefined;
  if (only === "--version" || only === "-V") return print(world, PAYLINK_VERSION);
  // The build has written the help down: the program that it describes takes ten times as long to load. A terminal
  // (which is a character device) gets lines of its own width.
  if ((only === "--help" || only === "-h") && !fstatSync(1).isCharacterDevice())
    return print(world, readFileSync(join(__dirname, "help.txt"), "utf8"));
  // Node's own warnings (22 calls its SQLite experimental) would stand where one JSON document is promised.
  world.removeAllListeners("warning");
  const { createProgram } = await import("./program.ts");
  const interruption = new AbortController();
  const network = lazySender(world);
  const secrets = createSecrets();
  let active: Command | undefined;
  let exit = 0;
  const endWith = (code: number): void => void (exit = code);
  const program = createProgram(PAYLINK_VERSION, (command) => {
    active = command;
    const run = { signal: interruption.signal, send: network.send, endWith, secrets };
    return createContext(world, command.optsWithGlobals(), run);
  });
  const forget = watchSignals(world, interruption);
  for (const stream of [world.stdout, world.stderr]) stream.on("error", ignoreClosedPipe);
  try {
    await program.parseAsync(argv, { from: "user" });
    interruption.signal.throwIfAborted();
    return exit;
  } catch (error) {
    return await report(world, program, active, error, secrets);
  } finally {
    forget();
    await network.close();
  }
}

/** Straight to the descriptor: `process.stdout` loads Node's network and terminals, which takes longer than the rest. */
function print(world: NodeJS.Process, text: string): number {
  const line = Buffer.from(`${text}\n`);
  try {
    const written = writeSync(1, line);
    if (written < line.length) world.stdout.write(line.subarray(written));
  } catch {
    // A pipe that is full and does not block, or one that nobody reads: the stream knows what to do.
    world.stdout.on("error", ignoreClosedPipe).write(line);
  }
  return 0;
}

async function createContext(
  world: NodeJS.Process,
  options: GlobalOptions,
  {
    signal,
    send,
    endWith,
    secrets,
  }: Pick<Context, "signal" | "send" | "endWith"> & { readonly secrets: Secrets },
): Promise<Context> {
  const [{ createOutput }, { createReadFile }, { folders }, prompts, trace] = await Promise.all([
    import("./terminal/output.ts"),
    import("./terminal/files.ts"),
    import("./store/folders.ts"),
    import("./terminal/prompts.ts"),
    import("./terminal/trace.ts"),
  ]);
  const { config, data } = folders(world.env["PAYLINK_HOME"]);
  for (const name of SECRET_VARIABLES) secrets.know(world.env[name]);
  const out = createOutput(world, options, secrets.hide);
  const now = (): Date => new Date();
  const watched = {
    secrets,
    now,
    show: options.debug === true ? (text: string) => out.note(text) : undefined,
  };
  return {
    out,
    readFile: createReadFile(world.stdin),
    stdin: world.stdin,
    ask: prompts.mayAsk(world, options) ? prompts.createAsk(world, signal) : undefined,
    openBrowser: async (url) => (await import("./terminal/browser.ts")).openBrowser(url),
    copyText: async (text) => (await import("./terminal/clipboard.ts")).copyText(text),
    now,
    // Few runs need an id, and node:crypto takes as long to load as everything before it.
    newId: () => world.getBuiltinModule("node:crypto").randomUUID(),
    random: Math.random,
    pause: (milliseconds) => pause(milliseconds, signal),
    signal,
    send: trace.traceSend(send, watched),
    serve: trace.traceServe(
      async (handler, serveOptions) => (await import("./http/serve.ts")).serve(handler, serveOptions),
      watched,
    ),
    env: world.env,
    processes: { own: world.pid, isRunning: (pid) => isRunning(world, pid) },
    profile: options.profile,
    settings: (home) => openSettings(home === undefined ? config : folders(home).config, out, secrets),
    dataFolder: data,
    eventThread: join(__dirname, "event-thread.js"),
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
async function openSettings(folder: string, out: Output, { know }: Secrets): Promise<Settings> {
  const settings = (await import("./store/settings.ts")).openSettings(folder, (warning) =>
    out.note(`${out.notePaint.yellow("!")} ${warning}`),
  );
  for (const { token, clientSecret, accessToken } of Object.values(settings.profiles()))
    for (const secret of [token, clientSecret, accessToken]) know(secret);
  return settings;
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** undici is the heaviest thing here: it loads with the first request, not before. */
function lazySender(world: NodeJS.Process): Sender {
  const { env, versions } = world;
  let sender: Promise<Sender> | undefined;
  const open = async (): Promise<Sender> => {
    // Node 20 optimises undici's parser, which is WebAssembly, at once, for longer than most runs last. Later ones
    // wait until it is worth it, and would lose by this.
    if (versions.node.startsWith("20."))
      world.getBuiltinModule("node:v8").setFlagsFromString("--liftoff-only");
    const { createSender } = await import("./http/send.ts");
    return createSender({
      httpsProxy: env["HTTPS_PROXY"] ?? env["https_proxy"],
      noProxy: env["NO_PROXY"] ?? env["no_proxy"],
    });
  };
  return {
    send: async (request, options) => (await (sender ??= open())).send(request, options),
    close: async () => (await sender)?.close(),
  };
}

/** Whoever reads may stop reading (`paylink … | head`): that is no fault, and the work goes on. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
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
  world: NodeJS.Process,
  program: Command,
  active: Command | undefined,
  error: unknown,
  { hide }: Secrets,
): Promise<number> {
  if (isAnswered(error)) return 0;
  const [{ createOutput }, { renderError }, { exampleOf }] = await Promise.all([
    import("./terminal/output.ts"),
    import("./render/error.ts"),
    import("./commands/declare.ts"),
  ]);
  const failure = error instanceof PaylinkError ? error : internal(error);
  const out = createOutput(world, program.opts<GlobalOptions>(), hide);
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
