/** Runs one command line: gives the command its context, reports a failure, and returns the exit code. */
import type { CommanderError } from "commander";
import type { CommandNode } from "./commands/command-tree.ts";
import type { Context, GlobalOptions, Later, Output } from "./context.ts";
import { FAILURES, PaylinkError } from "./domain/errors.ts";
import { hint } from "./domain/hint.ts";
import { hasCode, messageOf, systemReason } from "./values/system-reason.ts";
import { createProgram, type ProgramParts } from "./program.ts";
import type { Named } from "./render/hint.ts";

/** What the machine, or a test, gives a run. */
export interface Runtime {
  readonly version: string;
  /** Fires at Ctrl-C or SIGTERM, with the error that ends the run as its reason. */
  readonly signal: AbortSignal;
  /** Rejects with an error that was thrown where no code of the command could catch it. */
  readonly uncaught: Promise<never>;
  /** Where help and results go. */
  readonly print: (text: string) => void;
  /** Resolves when all of that is written, or with `output_unwritable`. */
  readonly unprinted: () => Promise<PaylinkError | undefined>;
  /** Called once, when the command line needs more than help. */
  readonly opener: () => Promise<Opener>;
}

/** Opens what a run needs besides its words. The output comes first: it also shows a failure before there is a context. */
export interface Opener {
  readonly openOutput: (options: GlobalOptions) => Promise<Output>;
  readonly openContext: (options: GlobalOptions, run: RunParts) => Promise<Context>;
}

/** Where the flags of the command say that it works. */
interface GivenPlaces {
  /** `--db`, where that is the event store. */
  readonly eventStore: string | undefined;
  /** `--terminal-id`. */
  readonly terminalId: string | undefined;
}

export interface RunParts extends GivenPlaces {
  readonly out: Output;
  /** What was typed after `paylink`. */
  readonly commandLine: readonly string[];
  readonly later: Later;
}

/** Resolves with the exit code. Never rejects. */
export async function runCommandLine(argv: readonly string[], runtime: Runtime): Promise<number> {
  const { version, print, uncaught, signal } = runtime;
  const chosen: Chosen[] = [];
  const execute: ProgramParts["execute"] = async (command, work) => void chosen.push({ command, work });
  const program = createProgram({ version, print, execute });
  const fail = async (error: unknown): Promise<number> => {
    const { openOutput } = await runtime.opener();
    return report(await openOutput(program.opts()), error);
  };
  try {
    const words = argv.length === 0 ? ["--help"] : argv;
    await Promise.race([program.parseAsync(words, { from: "user" }), uncaught]);
    signal.throwIfAborted();
  } catch (error) {
    // commander also throws after it has shown the help or the version.
    if (!isCommanderExit(error)) return fail(error);
  }
  const [first] = chosen;
  const exit =
    first === undefined ? 0 : await runChosen(first, { options: program.opts(), commandLine: argv }, runtime);
  if (exit !== 0) return exit;
  const unprinted = (await runtime.unprinted()) ?? (signal.aborted ? signal.reason : undefined);
  return unprinted === undefined ? 0 : fail(unprinted);
}

/** The command that the command line names, with what it does. */
interface Chosen {
  readonly command: CommandNode;
  readonly work: (context: Context) => Promise<number>;
}

async function runChosen(
  { command, work }: Chosen,
  { options, commandLine }: { readonly options: GlobalOptions; readonly commandLine: readonly string[] },
  runtime: Runtime,
): Promise<number> {
  const { openOutput, openContext } = await runtime.opener();
  const out = await openOutput(options);
  const closes: (() => unknown)[] = [];
  const later: Later = (close) => void closes.push(close);
  try {
    const context = await openContext(options, {
      out,
      ...givenPlaces(command),
      commandLine,
      later,
    });
    const workAndClose = async (): Promise<number> => {
      const [worked] = await Promise.allSettled([work(context)]);
      const [closed] = await Promise.allSettled([closeAll(closes)]);
      if (worked.status === "rejected") {
        if (closed.status === "rejected") out.warn(messageOf(closed.reason));
        throw worked.reason;
      }
      if (closed.status === "rejected") throw closed.reason;
      return worked.value;
    };
    return await runWith(context, workAndClose, runtime);
  } catch (error) {
    return report(out, error);
  }
}

/** Never rejects. */
async function runWith(
  context: Context,
  work: () => Promise<number>,
  { signal, uncaught }: Runtime,
): Promise<number> {
  const { out, named } = context;
  try {
    const exit = await Promise.race([untilTimedOut(context, work), uncaught]);
    const unwritable = await out.settled();
    // Whoever interrupts has not waited for a reader that stands still.
    signal.throwIfAborted();
    if (unwritable !== undefined) throw unwritable;
    if (out.json && out.warnings.length > 0) out.error(JSON.stringify({ warnings: out.warnings }));
    return exit;
  } catch (error) {
    return report(out, error, named);
  }
}

async function report(out: Output, error: unknown, named?: Named): Promise<number> {
  const unwritable = await out.settled();
  const cause = error instanceof PaylinkError ? error : (fileFailure(error) ?? internalError(error));
  // An interruption is no news to the person who interrupts, except what it means for the money.
  if (!out.json && cause.isInterruption && cause.effect === undefined && unwritable === undefined)
    return cause.exit;
  const failure = unwritable === undefined ? cause : withLostOutput(cause, unwritable, out);
  const { renderError } = await import("./render/error-message.ts");
  out.error(renderError(failure, out, named));
  return failure.exit;
}

/**
 * What was printed is incomplete, and a script must not take it for the whole: the exit code says so, unless something may have
 * happened to the money.
 */
function withLostOutput(failure: PaylinkError, lost: PaylinkError, out: Output): PaylinkError {
  if (failure === lost) return failure;
  if (failure.mayHaveHappened || failure.code === "internal") {
    out.warn(lost.message);
    return failure;
  }
  return failure.with({
    code: failure.isInterruption ? failure.code : lost.code,
    message: `${failure.message} ${lost.message}`,
    hints: [...failure.hints, ...lost.hints],
  });
}

function givenPlaces(command: CommandNode): GivenPlaces {
  const flag = command.options.find(({ isEventStore }) => isEventStore);
  const db: unknown = flag && command.getOptionValue(flag.attributeName());
  const { terminalId }: { terminalId?: unknown } = command.opts();
  return {
    eventStore: typeof db === "string" ? db : undefined,
    terminalId: typeof terminalId === "string" ? terminalId : undefined,
  };
}

async function closeAll(closes: (() => unknown)[]): Promise<void> {
  const close = closes.pop();
  if (close === undefined) return;
  try {
    await close();
  } finally {
    await closeAll(closes);
  }
}

/** An exchange that the time of `--timeout` cut short fails as if the other side were to blame. */
async function untilTimedOut({ signal, timeLimit }: Context, work: () => Promise<number>): Promise<number> {
  try {
    const exit = await work();
    if (exit === 0) signal.throwIfAborted();
    return exit;
  } catch (error) {
    if (!(error instanceof PaylinkError) || BLAMING.has(error.code)) signal.throwIfAborted();
    throw error;
  } finally {
    timeLimit.release();
  }
}

const BLAMING: ReadonlySet<string> = new Set([
  "not_reached",
  "not_accepted",
  "check_failed",
  "database_unreachable",
]);

const isCommanderExit = (error: unknown): error is CommanderError =>
  error instanceof Error && "exitCode" in error && error.exitCode === 0;

/** What the file system refuses is no bug of paylink: a folder that cannot be made, a disk that is full or read-only. */
function fileFailure(error: unknown): PaylinkError | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || "spawnargs" in error) return undefined;
  const path = "path" in error && typeof error.path === "string" ? error.path : undefined;
  if (path === undefined && !hasCode(error, "ENOSPC", "EDQUOT", "EIO")) return undefined;
  const message = `${path ?? "A file of paylink"} cannot be used: ${systemReason(error)}.`;
  return new PaylinkError("file_unwritable", message, { cause: error });
}

function internalError(error: unknown): PaylinkError {
  if (isUnloadable(error))
    return new PaylinkError("internal", `A file of paylink is missing or damaged: ${firstLine(error)}`, {
      cause: error,
      hints: [
        hint`Install paylink again: npm install --global paylink. Whether anything was sent before is not known.`,
      ],
    });
  const message = error instanceof Error ? (error.stack ?? String(error)) : String(error);
  const report =
    PAYLINK_ISSUES === ""
      ? FAILURES.internal.hints
      : [hint`Please report this bug of paylink, with the text above: ${PAYLINK_ISSUES}`];
  return new PaylinkError("internal", message, { cause: error, hints: report });
}

/** Of a script that cannot be compiled, the stack begins with its path. */
const isUnloadable = (error: unknown): boolean =>
  hasCode(error, "MODULE_NOT_FOUND", "ERR_MODULE_NOT_FOUND") ||
  (error instanceof SyntaxError && /^\S.*\.js:\d+\n/.test(error.stack ?? ""));

const firstLine = (error: unknown): string => messageOf(error).split("\n")[0] ?? "";
